package lint

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/check"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// What the tests of a contract leave open. They stand beside it, in NAME_test.poptic, and
// are read, not run: which stages they propose to, what they expect to be refused by which
// invariant, and where the patches that they expect to be accepted write. Where there are
// no tests, nothing is said.

// tests is what the tests of a contract say.
type tests struct {
	words    map[string]bool // of the file
	stages   map[string]bool
	violated map[string]bool // invariants that refuse something
	patches  []testPatch
}

// A testPatch is a patch of a test, as far as it can be read.
type testPatch struct {
	stage    string
	accepted bool
	ops      []operation
	at       source.Span
}

type operation struct{ Op, Path, From string }

// readTests reads them; nil if there are none, or some that are wrong.
func (p *program) readTests(ctx context.Context) *tests {
	if p.in.FS == nil {
		return nil
	}
	shown := strings.TrimSuffix(p.tree.Source.Name, ".poptic") + compiler.TestSuffix
	all, text, ok := p.in.Output.TestsBeside(ctx, compiler.Input{FS: p.in.FS, Path: p.in.Path, Show: func(string) string { return shown }})
	if !ok {
		return nil
	}
	t := &tests{words: map[string]bool{}, stages: map[string]bool{}, violated: map[string]bool{}}
	for _, w := range word.FindAllString(text, -1) {
		t.words[w] = true
	}
	for i := range all {
		for _, step := range all[i].Steps {
			t.step(step)
		}
	}
	if len(t.stages) == 0 {
		return nil
	}
	return t
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// step notes what one step of a test says.
func (t *tests) step(s check.Step) {
	if s.Stage == "" {
		return
	}
	t.stages[s.Stage] = true
	accepted := false
	for _, e := range s.Expects {
		accepted = accepted || e.Kind == check.Commit
		if e.Kind == check.Reject || e.Kind == check.Reply {
			t.violated[e.Reason.Name] = true
		}
	}
	if s.Proposes {
		t.patches = append(t.patches, testPatch{stage: s.Stage, accepted: accepted, ops: operations(s.Patch.Text), at: s.Patch.At})
	}
}

// operations reads a patch, or a proposal with one.
func operations(data []byte) (ops []operation) {
	if json.Unmarshal(data, &ops) == nil {
		return ops
	}
	var whole struct{ Patch []operation }
	if json.Unmarshal(data, &whole) != nil {
		return nil
	}
	return whole.Patch
}

func untestedStages(p *program) (out []source.Diagnostic) {
	if p.tests == nil {
		return nil
	}
	p.eachStage(func(s *ir.Stage, d *syntax.StageDecl) {
		if !p.tests.stages[s.Name] {
			out = append(out, diagnostic.UntestedStage.Diagnostic(d.Name.Span, "add a test that has it accept a patch, and one that has it refuse one", "no test runs stage "+s.Name))
		}
	})
	return out
}

func unviolatedInvariants(p *program) (out []source.Diagnostic) {
	if p.tests == nil {
		return nil
	}
	for i := range p.contract.Invariants {
		v := &p.contract.Invariants[i]
		if d := p.rules[v.Name]; d != nil && !p.tests.violated[v.Name] {
			out = append(out, diagnostic.UnviolatedInvariant.Diagnostic(d.Name.Span, "add a test whose patch it refuses: `expect reject "+string(v.Gate())+" "+v.Name+"`", "no test sees "+v.Title()+" refuse anything"))
		}
	}
	return out
}

// wideGrants finds writes that no accepted patch of a stage's tests needs, or of which all,
// and there are several, need one and the same member.
func wideGrants(p *program) (out []source.Diagnostic) {
	if p.tests == nil {
		return nil
	}
	p.eachStage(func(s *ir.Stage, _ *syntax.StageDecl) {
		var all [][]string
		tested := 0
		for _, t := range p.tests.patches {
			if t.stage == s.Name && t.accepted && len(t.ops) > 0 {
				tested++
				for _, op := range t.ops {
					all = append(all, written(op)...)
				}
			}
		}
		if tested == 0 {
			return
		}
		for _, g := range p.in.Output.Grants(s.Name, "write") {
			if f, ok := p.wideGrant(s, g.Syntax, footprint.Includes(slices.Concat(g.Plain, g.Blind)), all, tested > 1); ok {
				out = append(out, f)
			}
		}
	})
	return out
}

// written is where an operation writes, as the tokens of pointers.
func written(op operation) [][]string {
	split := func(pointer string) []string {
		return strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	}
	switch op.Op {
	case "add", "replace", "remove", "copy":
		return [][]string{split(op.Path)}
	case "move":
		return [][]string{split(op.Path), split(op.From)}
	}
	return nil
}

func (p *program) wideGrant(s *ir.Stage, g *syntax.GrantExpr, includes []region.Pattern, written [][]string, several bool) (source.Diagnostic, bool) {
	members := map[string]bool{}
	used, whole := 0, false
	for _, q := range includes {
		hit := false
		for _, tokens := range written {
			if !matches(q, tokens) {
				continue
			}
			hit = true
			if n := len(q.Segments); len(tokens) > n {
				members[tokens[n]] = true
			} else {
				whole = true
			}
		}
		if hit {
			used++
		}
	}
	text := g.Span.Text()
	switch {
	case len(includes) == 0:
	case used == 0:
		return diagnostic.WideGrant.Diagnostic(g.Span, "leave it out, or add the test that needs it", fmt.Sprintf("no accepted patch in the tests of stage %s writes %s", s.Name, text)), true
	case several && len(includes) == 1 && !whole && len(members) == 1 && p.model.Shape.Only(p.model.Shape.At(includes[0]), ir.RecordType):
		for member := range members {
			return diagnostic.WideGrant.Diagnostic(g.Span, "write "+text+"/"+member+", or add the test that needs the rest", fmt.Sprintf("the accepted patches in the tests of stage %s write only %s/%s", s.Name, text, member)), true
		}
	}
	return source.Diagnostic{}, false
}

// matches reports whether a pointer leads to a place of a pattern, or below one.
func matches(q region.Pattern, tokens []string) bool {
	for i, s := range q.Segments {
		switch {
		case s.Kind == region.AnyDepth:
			return true
		case i >= len(tokens):
			return false
		case s.Kind == region.IndexLiteral && tokens[i] != fmt.Sprint(s.Index):
			return false
		case footprint.IsLiteral(s) && unescaped(tokens[i]) != s.Text:
			return false
		}
	}
	return true
}
