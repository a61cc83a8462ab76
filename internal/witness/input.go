package witness

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// What a side is asked with beside its keys and its patch: the values that are its
// arguments, its role, who proposes, and the clock. They are no part of the state, so what a
// condition makes of them is tried as the options of one more variation.

// A setting is what a proposal is decided by beside its keys and its patch.
type setting func(p *footprint.Proposal)

// maxSettings bounds the settings of one side.
const maxSettings = 48

// settings lists what a side may be asked with; in the first one values are the least of
// their types, and nobody in particular asks at no time in particular.
func (s *scenario) settings(d side) []setting {
	var choices [][]setting
	for _, v := range d.stage.Values {
		var of []setting
		for _, x := range s.arguments(v.Type) {
			text := encode(s.reform(copyOf(x), v.Type, asFile))
			of = append(of, func(p *footprint.Proposal) { p.Args[v.Name] = text })
		}
		choices = append(choices, of)
	}
	choices = append(choices, s.roles(d), s.actors(d), s.clocks(d))
	var dims []int
	for _, of := range choices {
		dims = append(dims, len(of))
	}
	var out []setting
	for at := range graded(dims) {
		at := slices.Clone(at)
		out = append(out, func(p *footprint.Proposal) {
			for i, of := range choices {
				of[at[i]](p)
			}
		})
		if len(out) == maxSettings {
			break
		}
	}
	return out
}

// maxMixed bounds the values that are put together at random.
const maxMixed = 16

// arguments lists values of a type, and such whose members go together at random.
func (g *generator) arguments(id ir.TypeID) []any {
	out := slices.Clone(g.values(id))
	draw := rand.New(rand.NewPCG(1, 2))
	for range maxMixed {
		if v := g.mixed(id, draw); g.holds(id, v) && !containsEqual(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// mixed is a value of a type with any values of its members.
func (g *generator) mixed(id ir.TypeID, draw *rand.Rand) any {
	t := g.contract.Type(id)
	switch t.Kind {
	case ir.UnionType:
		return g.mixed(t.Alternatives[draw.IntN(len(t.Alternatives))], draw)
	case ir.RecordType:
		v := object{}
		for _, m := range t.Members {
			if !m.Optional || draw.IntN(2) == 0 {
				v[m.Name] = g.mixed(m.Type, draw)
			}
		}
		return v
	}
	of := g.values(id)
	return copyOf(of[draw.IntN(len(of))])
}

// asks reports whether a condition of a side, or a rule about its changes, reads an input.
func (s *scenario) asks(d side, input string) bool {
	rules := slices.Concat(d.stage.Require, d.stage.Ensure)
	for i := range s.contract.Invariants {
		if v := &s.contract.Invariants[i]; v.Expr != nil {
			rules = append(rules, *v.Expr)
		}
	}
	return ir.Asks(input, rules...)
}

func (s *scenario) roles(d side) []setting {
	roles := d.stage.By
	if len(roles) == 0 {
		roles = append([]string{""}, s.hints.texts...)
	}
	if !s.asks(d, ir.RoleInput) {
		roles = roles[:1]
	}
	var out []setting
	for _, role := range roles {
		out = append(out, func(p *footprint.Proposal) { p.Role = role })
	}
	return out
}

func (s *scenario) actors(d side) []setting {
	actors := []string{""}
	if s.asks(d, ir.ActorInput) {
		actors = slices.Concat(actors, plainTexts, s.hints.texts)
	}
	var out []setting
	for _, actor := range actors {
		out = append(out, func(p *footprint.Proposal) { p.Actor = actor })
	}
	return out
}

// clocks are around the instants and years that the rules speak of, and long after.
func (s *scenario) clocks(d side) []setting {
	clocks := []time.Time{{}}
	if s.asks(d, ir.NowInput) {
		for _, text := range s.hints.texts {
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
				clocks = append(clocks, at, at.Add(-time.Hour), at.Add(time.Hour))
			}
		}
		for _, n := range s.hints.numbers {
			if year, err := strconv.Atoi(string(n)); err == nil && 1 < year && year <= 9999 {
				clocks = append(clocks, time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
			}
		}
		clocks = append(clocks, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))
	}
	var out []setting
	for _, at := range clocks {
		out = append(out, func(p *footprint.Proposal) { p.Now = at })
	}
	return out
}
