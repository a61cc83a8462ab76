package region

import (
	"maps"
	"slices"
	"strconv"
)

// A world is one way in which parameters are equal to each other and to literals,
// given as values: classes that are no literal have values of their own.
type world struct {
	args Binding
	met  bool // the sides meet in it
}

// maxWorlds bounds the worlds of one pair of patterns.
const maxWorlds = 4096

// search decides the pair in every world and adds terms that describe those in
// which it meets. If there are too many worlds, it adds what is needed at least.
func (w *weigher) search(a, b side, needed []Equality) {
	regions := Union(a.region(), b.region())
	params := regions.Params()
	worlds, ok := w.worlds(params, regions)
	if !ok {
		w.inexact = true
		w.add(needed, side{include: a.include}, side{include: b.include})
		return
	}
	for i := range worlds {
		worlds[i].met = w.meetIn(&worlds[i], a, b, params)
	}
	for _, x := range worlds {
		if w.options.Meter.IsSpent() {
			w.inexact = true
			w.add(needed, a, b)
			return
		}
		if x.met {
			w.add(w.describe(x, worlds, params, literals(w, regions)), a, b)
		}
	}
}

// meetIn runs the search in one world. Unknown counts as meeting.
func (w *weigher) meetIn(x *world, a, b side, params []string) bool {
	merge := merger(equalities(x.args, params, nil))
	bind := func(p Pattern) Pattern { return merge(p.Bind(x.literalsOnly())) }
	o := w.options.Options
	o.VerdictOnly = true
	answer := Overlap(Compile(a.region().each(bind)), Compile(b.region().each(bind)), w.modeA, w.modeB, o)
	w.inexact = w.inexact || answer.Verdict == Unknown
	return answer.Verdict != No
}

// ownValue is the value of the i-th class in a world. No key looks like it, since
// keys are valid UTF-8.
func ownValue(i int) string { return "\xff" + strconv.Itoa(i) }

func (x *world) literalsOnly() Binding {
	args := maps.Clone(x.args)
	maps.DeleteFunc(args, func(_, value string) bool { return value != "" && value[0] == '\xff' })
	return args
}

// worlds lists all worlds of params; ok is false if there are too many.
func (w *weigher) worlds(params []string, r Region) (all []world, ok bool) {
	if len(params) > maxPartition {
		return nil, false
	}
	keys := literals(w, r)
	all = []world{{args: Binding{}}}
	for _, p := range params {
		var next []world
		for _, x := range all {
			for _, value := range x.choices(keys) {
				args := maps.Clone(x.args)
				args[p] = value
				next = append(next, world{args: args})
			}
		}
		if all = next; len(all) > maxWorlds {
			return nil, false
		}
	}
	return all, true
}

// choices are the values the next parameter may have: a new one, one that is in
// use, or a literal.
func (x *world) choices(keys []string) []string {
	used := slices.Sorted(maps.Values(x.args))
	used = slices.Compact(used)
	own := slices.DeleteFunc(slices.Clone(used), func(v string) bool { return v == "" || v[0] != '\xff' })
	return slices.Concat([]string{ownValue(len(own))}, own, keys)
}

// literals are the keys that patterns of r name, if parameters may take them.
func literals(w *weigher, r Region) []string {
	if !w.options.OpenLiterals {
		return nil
	}
	return slices.Sorted(maps.Keys(Compile(r).keys))
}

// describe gives few equalities that hold in x and in no world that does not
// meet. Inequalities are dropped first, since most conditions need none. Once the meter
// is spent the rest stays, which tells more than is needed of x.
func (w *weigher) describe(x world, worlds []world, params, keys []string) []Equality {
	all := equalities(x.args, params, keys)
	for i := len(all) - 1; i >= 0; i-- {
		if w.options.Meter.Spend(len(worlds) + len(all)); w.options.Meter.IsSpent() {
			break
		}
		shorter := slices.Delete(slices.Clone(all), i, i+1)
		if onlyMeeting(shorter, worlds) {
			all = shorter
		}
	}
	return all
}

func onlyMeeting(all []Equality, worlds []world) bool {
	for _, x := range worlds {
		if !x.met && allHold(all, x.args) {
			return false
		}
	}
	return true
}

// equalities lists what holds at args: first the equalities, then what differs.
func equalities(args Binding, params, keys []string) []Equality {
	var equal, differ []Equality
	note := func(e Equality) {
		if e.Not = !e.holds(args); e.Not {
			differ = append(differ, e)
		} else {
			equal = append(equal, e)
		}
	}
	for i, p := range params {
		for _, q := range params[i+1:] {
			note(Equality{Left: p, Right: q})
		}
		for _, k := range keys {
			note(Equality{Left: p, Right: k, Literal: true})
		}
	}
	return append(equal, differ...)
}
