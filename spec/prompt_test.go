package spec_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/guide"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// What a prompt is made of must suffice to write a patch: that is tried on all cases.

// A told is what the actor of a case is told, on the state of the case.
type told struct {
	guide.Guide
	program *verify.Program
	before  verify.Snapshot
	c       verifyCase
}

// toldOf is what the actor of a case is told; false where it sees nothing.
func toldOf(t *testing.T, c verifyCase) (told, bool) {
	t.Helper()
	p := program(t, c)
	_, file := contents(t, c.State)
	state, err := p.Import(file)
	require.NoError(t, err)
	out := told{program: p, c: c, before: verify.Snapshot{State: state, Phase: c.Phase, Version: 5}}
	if c.Phase == "" {
		out.before.Phase = p.Contract().Phases[0].Name
	}
	view, refused, err := p.View(t.Context(), out.before, verify.ViewRequest{Stage: c.Stage, Args: c.Args, Role: c.Role, Actor: c.Actor, Now: c.Now})
	require.NoError(t, err)
	if refused != nil {
		return out, false
	}
	sent, err := tree.Parse(tree.AppendJSON(nil, view.Value), tree.DefaultLimits)
	require.NoError(t, err)
	out.Guide = guide.Of(p, guide.Request{Stage: c.Stage, Phase: out.before.Phase, Args: c.Args}, sent)
	return out, true
}

// everyCase calls try with all cases of the conformance files and of the chapters.
func everyCase(t *testing.T, try func(t *testing.T, g told)) {
	t.Helper()
	all := map[string]verifyCase{}
	for _, s := range suites(t) {
		for _, c := range s.Cases {
			all[c.ID] = c
		}
	}
	for _, b := range blocksOf(t, "json") {
		if b.Has("case") {
			c := decodeSuite(t, b.File, []byte(`{"cases":[`+b.Text+`]}`)).Cases[0]
			all["shown "+c.ID] = c
		}
	}
	for id, c := range all {
		t.Run(id, func(t *testing.T) {
			if g, seen := toldOf(t, c); seen {
				try(t, g)
			}
		})
	}
}

// requireFits checks that a patch passes format, scope and schema as far as the actor is told.
func (g *told) requireFits(t *testing.T, patch string) {
	t.Helper()
	next := ""
	if len(g.Next) > 1 {
		next = g.Next[0]
	}
	out, err := g.program.Verify(context.Background(), g.before, verify.Proposal{
		Stage: g.c.Stage, Args: g.c.Args, Role: g.c.Role, Actor: g.c.Actor, Now: g.c.Now, Patch: []byte(patch), Next: next,
	})
	require.NoError(t, err)
	for _, v := range out.Actor().Violations {
		switch v.Gate {
		case verify.GateFormat, verify.GateScope, verify.GateSchema:
			if v.Code != verify.ProduceViolation && !strings.Contains(v.Message, "would be gone") && !strings.HasSuffix(v.Rule, "write blind") &&
				!strings.Contains(v.Message, "read as another alternative") && !strings.HasPrefix(v.Rule, "type of /") {
				t.Errorf("%s: %+v", patch, v)
			}
		}
	}
}

func TestEveryPlaceOfAGuideCanBeWrittenByWhatItSaysOfIt(t *testing.T) {
	everyCase(t, func(t *testing.T, g told) {
		if !g.Guesses {
			g.requireFits(t, string(g.Example))
		}
		for i := range g.Places {
			p := &g.Places[i]
			if p.Example == nil {
				t.Errorf("no example at %s: %+v", p.Path, p.Shape)
			}
			for _, op := range p.Ops {
				if p.Guesses {
					continue
				}
				path := guide.ExamplePath(p)
				if op == "remove" {
					g.requireFits(t, fmt.Sprintf(`[{"op": "remove", "path": %q}]`, path))
				} else {
					g.requireFits(t, fmt.Sprintf(`[{"op": %q, "path": %q, "value": %s}]`, op, path, p.Example))
				}
			}
		}
	})
}

// roundabout are cases of patches that only work as a whole, or write more than a guide says
// is to be written.
var roundabout = []string{"rights-document", "rights-union-step", "rights-remove-and-add", "rights-log-whole"}

func TestAGuideTellsOfEveryPatchThatIsCommitted(t *testing.T) {
	checked := 0
	everyCase(t, func(t *testing.T, g told) {
		if g.c.Expect.Verdict != string(verify.Commit) || slices.Contains(roundabout, g.c.ID) {
			return
		}
		text := g.c.proposalBytes(t)
		var ops []struct {
			Op, Path, From string
			Value          json.RawMessage
		}
		if json.Unmarshal(text, &ops) != nil {
			return
		}
		for _, op := range ops {
			if op.Op == "test" {
				continue
			}
			paths := []string{op.Path}
			if op.Op == "move" {
				paths = append(paths, op.From)
			}
			for _, path := range paths {
				checked++
				place := g.placeOver(path)
				if slices.ContainsFunc(g.Places, func(p guide.Place) bool { return p.Path == path+"/-" }) {
					continue // a log as a whole, of which a guide tells how to append
				}
				if place == nil {
					t.Errorf("%s stands in no place of %+v", path, g.Places)
					continue
				}
				if op.Value != nil && pattern(place).FindString(path) == path {
					require.Empty(t, g.misfit(&place.Shape, op.Value), "%s at %s", op.Value, path)
				}
			}
		}
	})
	require.Greater(t, checked, 30)
}

// pattern matches the pointers to a place.
func pattern(p *guide.Place) *regexp.Regexp {
	text := regexp.QuoteMeta(p.Path)
	for _, k := range p.Keys {
		text = strings.Replace(text, regexp.QuoteMeta(k.Token), "[^/]*", 1)
	}
	return regexp.MustCompile("^" + text)
}

// placeOver is the nearest place at or above a path.
func (g *told) placeOver(path string) *guide.Place {
	var best *guide.Place
	for i := range g.Places {
		p := &g.Places[i]
		at := pattern(p).FindString(path)
		if (at != "" || p.Path == "") && (at == path || strings.HasPrefix(path[len(at):], "/")) && (best == nil || len(p.Path) > len(best.Path)) {
			best = p
		}
	}
	return best
}

// misfit says why a value is not of a shape, "" if it is.
func (g *told) misfit(s *guide.Shape, value json.RawMessage) string {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err.Error()
	}
	return g.differs(s, v)
}

func (g *told) differs(s *guide.Shape, v any) string {
	object, isObject := v.(map[string]any)
	array, isArray := v.([]any)
	each := func(of *guide.Shape) string {
		for _, below := range object {
			if why := g.differs(of, below); why != "" {
				return why
			}
		}
		for _, below := range array {
			if why := g.differs(of, below); why != "" {
				return why
			}
		}
		return ""
	}
	ok := true
	switch s.Kind {
	case guide.NamedKind:
		for i := range g.Types {
			if g.Types[i].Name == s.Name {
				return g.differs(&g.Types[i].Shape, v)
			}
		}
		return "nothing is named " + s.Name
	case guide.AnyShape:
	case guide.StringShape, guide.KeyShape:
		_, ok = v.(string)
	case guide.BoolShape:
		_, ok = v.(bool)
	case guide.NullShape:
		ok = v == nil
	case guide.LiteralShape:
		var literal any
		ok = json.Unmarshal(s.Literal, &literal) == nil && literal == v
	case guide.UnionShape:
		ok = slices.ContainsFunc(s.Alternatives, func(a guide.Shape) bool { return g.differs(&a, v) == "" })
	case guide.MapShape, guide.KeyedShape:
		if ok = isObject; ok {
			return each(s.Of)
		}
	case guide.ListShape, guide.SetShape, guide.LogShape:
		if ok = isArray; ok {
			return each(s.Of)
		}
	case guide.RecordShape:
		if !isObject {
			return fmt.Sprintf("%v is no object", v)
		}
		known := map[string]bool{}
		for _, m := range s.Members {
			below, there := object[m.Name]
			if known[m.Name] = true; there {
				if why := g.differs(&m.Shape, below); why != "" {
					return why
				}
			} else if !m.Optional {
				return m.Name + " is missing"
			}
		}
		for name := range object {
			if !known[name] && s.Rest == nil {
				return name + " is unknown"
			}
		}
	default:
		_, ok = v.(float64)
	}
	if !ok {
		return fmt.Sprintf("%v is no %s", v, s.Kind)
	}
	return ""
}
