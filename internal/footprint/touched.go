package footprint

import (
	"maps"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Which gates a stage's commit can change the value of, and what it then depends on,
// is told more exactly than by the patterns that the gate reads (spec/semantics.md
// section 12.1):
//
//   - a rule is evaluated in the phases that the stage may leave the instance in;
//   - the key of a family may be fixed by what the stage writes;
//   - a key that is looked up at a place is a parameter's where the parameter is taken
//     from that place, or a condition of the stage says that it is there;
//   - no reference names a key yet that is new.

// A Use is what a commit can make a gate depend on, where what conditions of the stage
// say of some places is so. Given is what they say; the places are among the Reads.
type Use struct {
	Reads []region.Pattern
	Given []ir.Pin
}

// Touched reports what a commit of the stage can make the gate depend on: the
// footprints of those members of the family that it can trigger. Together they stand
// for every member, those included that some pattern of the stage singles out by its
// key: what is true of a key that nothing names need not be true of them. What a blind
// grant adds takes no key away that something may refer to.
func (m *Model) Touched(g Gate, s *ir.Stage) []Use {
	var out []Use
	family, moves := g.FamilyOf(s), g.isMoved(s)
	takes := g.Kind == ir.RefGate && m.meets(g.Removals, m.WithoutExempt(s, s.Write))
	for i, keys := range instances(g.Over, s.Write, s.Blind) {
		blindly := m.meets(withoutFamily(widenedAll(g.trigger(family, keys)), i == 0), s.Blind)
		for _, member := range m.membersOf(g, s, keys) {
			u := m.use(g, s, family, member)
			switch touched, given := m.triggers(g, s, u); {
			case moves || takes || blindly || touched || m.usesContested(g, s, member):
				out = append(out, m.resolved(g, u))
			case len(given) > 0:
				out = append(out, Use{placesOf(given), given})
			}
		}
	}
	return out
}

// trigger is what a member of the family is judged again for: of a reference, that it
// is written. Entries of logs that have no key yet were there before.
func (g Gate) trigger(family []region.Pattern, keys map[string]region.Segment) []region.Pattern {
	if g.Kind == ir.RefGate {
		family = family[:1]
	}
	return substituteAll(family, g.withEntries(keys, region.Segment{Kind: region.FreshSegment, Text: entryBefore}))
}

// Depends is what a gate of the stage's own depends on.
func (m *Model) Depends(g Gate, s *ir.Stage) Use {
	if g.Expr == nil || g.Kind != ir.RequireGate && g.Kind != ir.BindGate {
		return Use{Reads: g.Reads}
	}
	return m.resolved(g, m.use(g, s, g.Expr.Patterns(), map[string]region.Segment{}))
}

// isMoved reports whether a move of the stage can change the value of the gate.
func (g Gate) isMoved(s *ir.Stage) bool {
	return slices.ContainsFunc(s.Next, func(to string) bool {
		return slices.ContainsFunc(s.In, func(from string) bool { return g.movesWith(from, to) })
	})
}

// movesWith reports whether a move can change the value of the gate.
func (g Gate) movesWith(from, to string) bool {
	return g.Expr != nil && !g.Expr.SameIn(from, to) && (g.Whole == nil || !g.Whole.SameIn(from, to))
}

// An instance is the members of a family that agree on some keys.
type instance struct {
	family  []region.Pattern
	keys    map[string]region.Segment
	lookups []ir.Lookup       // with those keys
	known   map[string]string // by look-up, the parameter that it is
	given   []ir.Pin          // what conditions say, for it to be so
}

// use is the instance of a gate's family that has some of its keys fixed.
func (m *Model) use(g Gate, s *ir.Stage, family []region.Pattern, keys map[string]region.Segment) instance {
	u := instance{family: family, keys: keys, known: map[string]string{}}
	fixed := map[string]region.Segment{}
	maps.Copy(fixed, keys)
	for _, l := range g.lookups() {
		at := substitute(l.At, fixed)
		u.lookups = append(u.lookups, ir.Lookup{Key: l.Key, At: at})
		if !mentions(family, l.Key) { // it is of another phase
			continue
		}
		if param, given := m.holder(g, s, at); param != "" {
			fixed[l.Key] = region.Segment{Kind: region.ParamSegment, Text: param}
			u.known[l.Key], u.given = param, append(u.given, given...)
		}
	}
	return u
}

// isOfBefore reports whether a gate of a stage is judged on the state before the patch.
func isOfBefore(g Gate) bool { return g.Kind == ir.RequireGate || g.Kind == ir.BindGate }

// holder finds the parameter whose value is the text at a place when the gate is judged,
// "" if there is none, and what a condition of the stage says that makes it so. Parameters
// are bound before any gate is judged; conditions may not hold where it is.
func (m *Model) holder(g Gate, s *ir.Stage, at region.Pattern) (param string, given []ir.Pin) {
	if isOfBefore(g) || !m.mayWrite(s, at) {
		for i := range s.Params {
			if p := &s.Params[i]; p.Kind == ir.DependentParam && samePattern(&p.Of, &at) {
				return p.Name, nil
			}
		}
	}
	if isOfBefore(g) {
		return "", nil
	}
	for _, p := range m.pins(s, at) {
		if p.Param != "" {
			return p.Param, []ir.Pin{p}
		}
	}
	return "", nil
}

// pins lists what the conditions of a stage say of a place after a commit: of the state
// before only where a commit keeps what is there.
func (m *Model) pins(s *ir.Stage, at region.Pattern) (out []ir.Pin) {
	kept := !m.mayWrite(s, at)
	for _, x := range slices.Concat(s.Bindings(), s.Require) {
		for _, p := range x.Pins {
			if p.Before = true; kept && samePattern(&p.At, &at) {
				out = append(out, p)
			}
		}
	}
	for i := range s.Ensure {
		for _, p := range s.Ensure[i].Pins {
			if (kept || !p.Before) && samePattern(&p.At, &at) {
				out = append(out, p)
			}
		}
	}
	return out
}

func placesOf(pins []ir.Pin) (out []region.Pattern) {
	for _, p := range pins {
		out = append(out, p.At)
	}
	return out
}

// mayWrite reports whether a commit of the stage may change what is at a place.
func (m *Model) mayWrite(s *ir.Stage, at region.Pattern) bool {
	return m.meets([]region.Pattern{widened(at)}, region.Union(s.Write, s.Blind))
}

// triggers reports whether what a stage writes, blind grants aside, can change what
// members of an instance read. If it cannot because of what the stage's conditions say,
// given is that.
func (m *Model) triggers(g Gate, s *ir.Stage, u instance) (touched bool, given []ir.Pin) {
	for i, r := range g.trigger(u.family, u.keys) {
		wide, write := widened(r), s.Write
		if i, l, ok := u.lookup(r); ok && m.refersTo(l.At, Prefix(wide, i)) && !m.mayWrite(s, l.At) {
			write = withoutNew(s, write, Prefix(wide, i))
		}
		for _, grant := range write {
			for _, w := range grant.Include {
				one := region.Region{{Include: []region.Pattern{w}, Except: grant.Except}}
				if !m.meets([]region.Pattern{wide}, one) {
					continue
				}
				pins, ok := m.holds(g, s, u.family, u.family[i], w)
				if !ok {
					return true, nil
				}
				given = append(given, pins...)
			}
		}
	}
	return false, given
}

// holds reports whether a rule certainly holds where what it reads as r is written as w,
// because of the texts that the stage's conditions say to stand in places that the rule
// reads; given is what they say.
func (m *Model) holds(g Gate, s *ir.Stage, family []region.Pattern, r, w region.Pattern) (given []ir.Pin, ok bool) {
	if m.Holds == nil || g.Expr == nil {
		return nil, false
	}
	keys := keysWritten(r, w)
	var known []ir.Pin
	for _, f := range family {
		if f.Shallow {
			continue
		}
		for _, p := range m.pins(s, substitute(f, keys)) {
			if p.Texts != nil {
				known, given = append(known, ir.Pin{At: f, Texts: p.Texts}), append(given, p)
			}
		}
	}
	return given, len(known) > 0 && m.Holds(g, s.PhasesAfter(), known)
}

// keysWritten is what the keys of a family are where what it reads as r is written as w.
func keysWritten(r, w region.Pattern) map[string]region.Segment {
	keys := map[string]region.Segment{}
	for i, s := range w.Segments[:min(len(w.Segments), len(r.Segments))] {
		if s.Kind == region.AnyDepth {
			break
		}
		if r.Segments[i].Kind == region.ParamSegment && (IsLiteral(s) || s.Kind == region.ParamSegment) {
			keys[r.Segments[i].Text] = s
		}
	}
	return keys
}

// lookup is the first segment of a pattern that is looked up.
func (u instance) lookup(p region.Pattern) (at int, l ir.Lookup, ok bool) {
	for i, s := range p.Segments {
		for _, l := range u.lookups {
			if s.Kind == region.ParamSegment && s.Text == l.Key {
				return i, l, true
			}
		}
	}
	return 0, l, false
}

// refersTo reports whether what is at a place is always a reference to a container.
func (m *Model) refersTo(at, container region.Pattern) bool {
	set := m.Shape.At(at)
	return len(set) == 1 && m.Shape.Only(set, ir.RefType) && samePattern(m.Contract.Type(set[0]).Target, &container)
}

// withoutNew leaves out what a stage writes below keys that are new in a container.
func withoutNew(s *ir.Stage, w region.Region, container region.Pattern) region.Region {
	var out region.Region
	n := len(container.Segments)
	for _, g := range w {
		include := slices.DeleteFunc(slices.Clone(g.Include), func(p region.Pattern) bool {
			return len(p.Segments) > n && p.Segments[n].Kind == region.ParamSegment && slices.ContainsFunc(s.Params, func(q ir.Param) bool {
				return q.Name == p.Segments[n].Text && q.Kind == ir.NewParam && samePattern(&q.Of, &container)
			})
		})
		if len(include) > 0 {
			out = append(out, region.Grant{Include: include, Except: g.Except})
		}
	}
	return out
}

// resolved is what an instance reads: for a key that is looked up the parameter that it
// is, or any key. Entries of logs that have no key yet are any.
func (m *Model) resolved(g Gate, u instance) Use {
	keys := g.withEntries(u.keys, region.Segment{Kind: region.AnyIndex})
	if g.Kind == ir.RefGate && u.known[referenceKey] == "" {
		return Use{Reads: substituteAll(g.Reads, keys)}
	}
	for key, param := range u.known {
		keys[key] = region.Segment{Kind: region.ParamSegment, Text: param}
	}
	reads := substituteAll(u.family, keys)
	slices.SortStableFunc(reads, func(p, q region.Pattern) int { return count(p) - count(q) }) // the plain ones say more
	return Use{widenedAll(reads), u.given}
}

// count is how many keys of a pattern are looked up.
func count(p region.Pattern) (n int) {
	for _, s := range p.Segments {
		if s.Kind == region.ParamSegment && isLookup(s.Text) {
			n++
		}
	}
	return n
}

func widenedAll(patterns []region.Pattern) []region.Pattern {
	out := make([]region.Pattern, len(patterns))
	for i, p := range patterns {
		out[i] = widened(p)
	}
	return out
}

// widened replaces keys that are looked up by wildcards.
func widened(p region.Pattern) region.Pattern {
	out := region.Pattern{Segments: slices.Clone(p.Segments), Shallow: p.Shallow}
	for i, s := range out.Segments {
		if s.Kind == region.ParamSegment && isLookup(s.Text) {
			out.Segments[i] = region.Segment{Kind: region.AnyKey}
		}
	}
	return out
}

// isLookup reports whether a key of a family is looked up: "@0", "@a", "@b", ...
func isLookup(key string) bool {
	return len(key) == 2 && key[0] == '@' && (key[1] == '0' || key[1] >= 'a')
}
