package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// The rights of write grants, spec/semantics.md section 2.1: every kind of operation on
// what is there and what is not, and random patches against the plain definition.

// cellar is a contract with one stage, which writes everywhere with some rights, and with
// others where more says: patterns, each with its rights before it.
func cellar(t *testing.T, rights ir.Rights, more ...string) *verify.Program {
	b := newBuilder(t)
	text := b.kind(ir.StringType)
	item := b.record("Item", "id", text, "name?", text, "tags?", b.of(ir.MapType, text))
	keyed := b.of(ir.KeyedType, item)
	b.c.Types[keyed].KeyField = "id"
	b.c.State = b.record("State", "m", b.of(ir.MapType, item), "k", keyed, "l", b.of(ir.ListType, item),
		"s", b.of(ir.SetType, text), "g", b.of(ir.LogType, text), "o?", text, "any", b.kind(ir.AnyType))
	s := ir.Stage{Name: "act", In: []string{"main"}, Read: region.Of(""), Source: region.Of("")}
	if rights != 0 {
		s.Write, s.Rights = region.Of(""), []ir.Rights{rights}
	}
	for _, text := range more {
		words, path, _ := strings.Cut(text, " ")
		var r ir.Rights
		for _, word := range strings.Split(words, ",") {
			r |= ir.RightOf(word)
		}
		path, except, limited := strings.Cut(path, " except ")
		grants := region.Of(path)
		if limited {
			grants[0].Except = region.Of(except)[0].Include
		}
		s.Write, s.Rights = append(s.Write, grants...), append(s.Rights, r)
	}
	if rights == ir.AllRights && len(more) == 0 {
		s.Rights = nil
	}
	b.c.Stages = []ir.Stage{s}
	p, err := verify.Load(b.c, verify.DefaultLimits())
	require.NoError(t, err)
	return p
}

const stocked = `{"m":{"A":{"id":"A","name":"x","tags":{"t":"1"}}},"k":[{"id":"A","name":"x"}],` +
	`"l":[{"id":"p","name":"x"}],"s":["a"],"g":["a"],"any":{"x":{"y":1},"list":[1]}}`

func operate(t *testing.T, p *verify.Program, patch string) verify.Outcome {
	t.Helper()
	state, err := p.Import([]byte(stocked))
	require.NoError(t, err)
	out, err := p.Verify(context.Background(), verify.Snapshot{State: state, Phase: "main"}, verify.Proposal{Stage: "act", Patch: []byte(patch)})
	require.NoError(t, err)
	return out
}

func TestAnOperationNeedsTheRightsToWhatItDoes(t *testing.T) {
	const item = `{"id":"A","name":"y","tags":{"t":"1"}}`
	for _, test := range []struct {
		name, patch string
		needs       ir.Rights
	}{
		{"a test", `[{"op":"test","path":"/m/A/name","value":"x"}]`, 0},
		{"add of a member that is not there", `[{"op":"add","path":"/o","value":"x"}]`, ir.Create},
		{"add of an entry", `[{"op":"add","path":"/m/B","value":` + item + `}]`, ir.Create},
		{"add over a member", `[{"op":"add","path":"/m/A/name","value":"y"}]`, ir.Update},
		{"add over a member of what it is", `[{"op":"add","path":"/m/A/name","value":"x"}]`, ir.Update},
		{"replacement", `[{"op":"replace","path":"/m/A/name","value":"y"}]`, ir.Update},
		{"removal", `[{"op":"remove","path":"/m/A/name"}]`, ir.Delete},
		{"removal of an entry with all below", `[{"op":"remove","path":"/m/A"}]`, ir.Delete},
		{"replacement of a container by one with the same members", `[{"op":"replace","path":"/m/A","value":` + item + `}]`, ir.Update},
		{"replacement of a container without a member", `[{"op":"replace","path":"/m/A","value":{"id":"A","tags":{"t":"1"}}}]`, ir.Update | ir.Delete},
		{"replacement of a container with a new member", `[{"op":"replace","path":"/m/A","value":{"id":"A","name":"x","tags":{"t":"1","u":"2"}}}]`, ir.Update | ir.Create},
		{"replacement of a container by another one", `[{"op":"replace","path":"/m","value":{"B":` + item + `}}]`, ir.AllRights},
		{"emptying a container", `[{"op":"replace","path":"/m","value":{}}]`, ir.Update | ir.Delete},
		{"add over a container without a member", `[{"op":"add","path":"/m/A/tags","value":{}}]`, ir.Update | ir.Delete},
		{"copy to where nothing is", `[{"op":"copy","from":"/m/A/name","path":"/o"}]`, ir.Create},
		{"copy over a value", `[{"op":"copy","from":"/m/A/id","path":"/m/A/name"}]`, ir.Update},
		{"copy over a container of one with other members", `[{"op":"copy","from":"/any/x","path":"/any"}]`, ir.AllRights},
		{"move to where nothing is", `[{"op":"move","from":"/m/A/name","path":"/o"}]`, ir.Create | ir.Delete},
		{"move over a value", `[{"op":"move","from":"/m/A/tags/t","path":"/m/A/name"}]`, ir.Update | ir.Delete},
		{"move to its own place", `[{"op":"move","from":"/m/A/name","path":"/m/A/name"}]`, ir.Create | ir.Delete},
		{"removal and add of one place", `[{"op":"remove","path":"/m/A/name"},{"op":"add","path":"/m/A/name","value":"y"}]`, ir.Create | ir.Delete},
		{"add and replacement of one place", `[{"op":"add","path":"/o","value":"x"},{"op":"replace","path":"/o","value":"y"}]`, ir.Create | ir.Update},
		{"add and removal of one place", `[{"op":"add","path":"/o","value":"x"},{"op":"remove","path":"/o"}]`, ir.Create | ir.Delete},
		{"add of a keyed element", `[{"op":"add","path":"/k/B","value":{"id":"B"}}]`, ir.Create},
		{"replacement of a keyed list without an element", `[{"op":"replace","path":"/k","value":{}}]`, ir.Update | ir.Delete},
		{"insertion into a list", `[{"op":"add","path":"/l/0","value":` + item + `}]`, ir.Update},
		{"append to a list", `[{"op":"add","path":"/l/-","value":` + item + `}]`, ir.Update},
		{"removal from a list", `[{"op":"remove","path":"/l/0"}]`, ir.Update},
		{"replacement of an element of a list", `[{"op":"replace","path":"/l/0","value":{"id":"p","name":"y"}}]`, ir.Update},
		{"replacement of an element without a member", `[{"op":"replace","path":"/l/0","value":{"id":"p"}}]`, ir.Update | ir.Delete},
		{"removal below an element of a list", `[{"op":"remove","path":"/l/0/name"}]`, ir.Delete},
		{"replacement of a list without its elements", `[{"op":"replace","path":"/l","value":[]}]`, ir.Update},
		{"addition to a set", `[{"op":"add","path":"/s/-","value":"b"}]`, ir.Create},
		{"replacement of a set", `[{"op":"replace","path":"/s","value":["b"]}]`, ir.Update},
		{"append to a log", `[{"op":"add","path":"/g/-","value":"b"}]`, ir.Create},
		{"copy to a log", `[{"op":"copy","from":"/m/A/name","path":"/g/-"}]`, ir.Create},
		{"replacement of a log by a longer one", `[{"op":"replace","path":"/g","value":["a","b"]}]`, ir.Update},
		{"add below what has no type", `[{"op":"add","path":"/any/z","value":1}]`, ir.Create},
		{"replacement below what has no type", `[{"op":"replace","path":"/any/x/y","value":2}]`, ir.Update},
		{"removal below what has no type", `[{"op":"remove","path":"/any/x"}]`, ir.Delete},
		{"insertion into a list without a type", `[{"op":"add","path":"/any/list/0","value":2}]`, ir.Update},
		{"a scalar in place of a container", `[{"op":"replace","path":"/any/x","value":2}]`, ir.Update | ir.Delete},
		{"a container in place of a scalar", `[{"op":"replace","path":"/any/x/y","value":{"z":1}}]`, ir.Update | ir.Create},
		{"a list in place of a container", `[{"op":"replace","path":"/any/x","value":[{"y":1}]}]`, ir.Update | ir.Delete},
		{"the root", `[{"op":"replace","path":"","value":{"m":{},"k":{},"l":[],"s":[],"g":["a"],"any":1}}]`, ir.Update | ir.Delete},
		{"the root, with more", `[{"op":"add","path":"","value":{"m":{},"k":{},"l":[],"s":[],"g":["a"],"any":1,"o":"x"}}]`, ir.AllRights},
	} {
		t.Run(test.name, func(t *testing.T) {
			for rights := ir.Rights(1); rights <= ir.AllRights; rights++ {
				out := operate(t, cellar(t, rights), test.patch)
				if rights.Has(test.needs) {
					require.Empty(t, out.Verdict.Violations, "with %v", rights.Words())
					continue
				}
				require.NotEmpty(t, out.Verdict.Violations, "with %v", rights.Words())
				v := out.Verdict.Violations[0]
				require.Equal(t, verify.WriteScopeViolation, v.Code, "with %v", rights.Words())
				require.Regexp(t, "^the stage may (not (create|update|delete)|neither create nor update) what is", v.Message)
				require.Equal(t, `allowed: the whole document ("") (only to `+strings.Join(rights.Words(), " and ")+")", v.Hint)
				require.Equal(t, out.Verdict.Violations, out.Actor().Violations, "the stage sees all")
			}
		})
	}
}

func TestAHintTellsToAddAContainerOnlyToWhomMayCreateIt(t *testing.T) {
	for _, test := range []struct {
		grants []string
		hint   string
	}{
		{[]string{"update /:m"}, "/m/B is not there, and the stage may not add it"},
		{[]string{"update /:m", "create /:m/:*/:name"}, "/m/B is not there, and the stage may not add it"},
		{[]string{"update /:m", "create /:m/:*"}, "add an object first, as a whole at /m/B"},
	} {
		out := operate(t, cellar(t, 0, test.grants...), `[{"op":"add","path":"/m/B/name","value":"x"}]`)
		require.Len(t, out.Verdict.Violations, 1)
		require.Equal(t, verify.PathMissing, out.Verdict.Violations[0].Code)
		require.Contains(t, out.Verdict.Violations[0].Hint, test.hint, "%q", test.grants)
	}
}

func TestRightsOfSeveralGrantsAreNotPooledAtOnePlace(t *testing.T) {
	for _, test := range []struct {
		name   string
		grants []string
		patch  string
		at     string // of the violation, "" for none
	}{
		{"update above, delete of one member", []string{"update /:m", "delete /:m/:*/:name"}, `[{"op":"replace","path":"/m/A","value":{"id":"A","tags":{"t":"1"}}}]`, ""},
		{"update above, delete of another member", []string{"update /:m", "delete /:m/:*/:name"}, `[{"op":"replace","path":"/m/A","value":{"id":"A","name":"x"}}]`, "/m/A/tags"},
		{"update above, create of a member", []string{"update /:m", "create /:m/:*/:tags/:*"}, `[{"op":"replace","path":"/m/A","value":{"id":"A","name":"x","tags":{"t":"1","u":"1"}}}]`, ""},
		{"update above, create of an entry", []string{"update /:m", "create /:m/:*/:tags/:*"}, `[{"op":"replace","path":"/m","value":{"A":{"id":"A","name":"x","tags":{"t":"1"}},"B":{"id":"B"}}}]`, "/m/B"},
		{"update of entries is none of the container", []string{"update /:m/:*", "create,delete /:m"}, `[{"op":"replace","path":"/m","value":{}}]`, "/m"},
		{"delete of members is none of the entry", []string{"create,update /:m", "delete /:m/:*/:*"}, `[{"op":"remove","path":"/m/A"}]`, "/m/A"},
		{"delete of members one by one", []string{"create,update /:m", "delete /:m/:*/:*"}, `[{"op":"remove","path":"/m/A/name"},{"op":"remove","path":"/m/A/tags"}]`, ""},
		{"append only", []string{"create /:s/-", "create /:g/-"}, `[{"op":"add","path":"/s/-","value":"b"},{"op":"add","path":"/g/-","value":"b"}]`, ""},
		{"update is no append", []string{"update /:s"}, `[{"op":"add","path":"/s/-","value":"b"}]`, "/s/-"},
		{"move between places with one right each", []string{"delete /:m/:*/:name", "create /:o"}, `[{"op":"move","from":"/m/A/name","path":"/o"}]`, ""},
		{"move back", []string{"delete /:o", "create /:m/:*/:name"}, `[{"op":"move","from":"/m/A/name","path":"/o"}]`, "/m/A/name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := operate(t, cellar(t, 0, test.grants...), test.patch)
			if test.at == "" {
				require.Empty(t, out.Verdict.Violations)
				return
			}
			require.NotEmpty(t, out.Verdict.Violations)
			require.Equal(t, test.at, *out.Verdict.Violations[0].Path)
			require.Equal(t, verify.WriteScopeViolation, out.Verdict.Violations[0].Code)
		})
	}
}

// The plain definition: of every word at or below a target, whether something is there
// before and after an operation. What is inside of an array has no words of its own.

// plainRights lists what an operation did that some rights must allow, as words with rights.
func plainRights(before *tree.Node, op tree.Op) (after *tree.Node, done map[string]ir.Rights, words map[string]region.Word) {
	effect, problem := tree.Resolve(before, op)
	if problem != nil {
		return nil, nil, nil
	}
	done, words = map[string]ir.Rights{}, map[string]region.Word{}
	note := func(w region.Word, r ir.Rights) {
		key := fmt.Sprint(w)
		done[key], words[key] = done[key]|r, w
	}
	step := func(was, is *tree.Node, target region.Word, pointer tree.Pointer) {
		switch {
		case len(target) < len(pointer): // a list
			note(target, ir.Update)
			return
		case len(target) > 0 && target[len(target)-1].Kind == region.FreshLetter:
			note(target, ir.Create)
			return
		}
		old, now := places(tree.NodeAt(was, target), target), places(tree.NodeAt(is, target), target)
		for key, w := range now {
			if _, there := old[key]; !there {
				note(w, ir.Create)
			}
		}
		for key, w := range old {
			if _, there := now[key]; !there {
				note(w, ir.Delete)
			}
		}
		if key := fmt.Sprint(target); len(old) > 0 && len(now) > 0 {
			note(old[key], ir.Update)
		}
	}
	if op.Kind == tree.OpMove {
		value := tree.NodeAt(before, effect.Sources[0])
		removal, add := tree.Op{Kind: tree.OpRemove, Path: op.From}, tree.Op{Kind: tree.OpAdd, Path: op.Path, Value: value}
		between, _, problem := tree.ApplyAll(before, tree.Patch{removal})
		if problem != nil { // of the root, which goes nowhere else
			note(region.Word{}, ir.Delete|ir.Create)
			return before, done, words
		}
		after, _, _ = tree.ApplyAll(between, tree.Patch{add})
		step(before, between, effect.Targets[0], op.From)
		step(between, after, effect.Targets[1], op.Path)
		return after, done, words
	}
	after, _, problem = tree.ApplyAll(before, tree.Patch{op})
	if problem != nil {
		return nil, nil, nil
	}
	for _, target := range effect.Targets {
		step(before, after, target, op.Path)
	}
	return after, done, words
}

// places lists the words at and below w, by their text.
func places(n *tree.Node, w region.Word) map[string]region.Word {
	out := map[string]region.Word{}
	if n == nil {
		return out
	}
	out[fmt.Sprint(w)] = w
	for name, child := range n.Members() {
		for key, below := range places(child, longer(w, region.Key(name))) {
			out[key] = below
		}
	}
	return out
}

func TestRightsAreJudgedAsThePlainDefinitionSays(t *testing.T) {
	t.Parallel()
	const seed = 31
	m := newMaker(seed)
	lacking, accepted := 0, 0
	for accepted < rounds(20_000) || lacking < rounds(20_000) {
		w := m.untypedWorld(t, m.chance(50))
		if w.stage.Rights == nil {
			continue
		}
		free := *w.stage
		free.Rights = nil
		c := untyped()
		c.Stages = []ir.Stage{free}
		all := m.world(t, c, nil)
		var has []region.Cursor
		for _, r := range ir.EachRight() {
			has = append(has, region.Compile(w.stage.Writing(r)).Start(nil))
		}
		for range 12 {
			n := m.state()
			ops := w.operations(5, n, n)
			for range ops.tries() {
				patch := ops.patch()
				with, without := w.verify(n, patch), all.verify(n, patch)
				if without.Verdict.Verdict == verify.Reject {
					require.Equal(t, verify.Reject, with.Verdict.Verdict, "rights only restrict: %s on %s", patch, n)
					continue
				}
				granted, state := true, n
				for _, op := range without.Patch {
					after, done, words := plainRights(state, op)
					require.NotNil(t, after)
					for key, rights := range done {
						for i, r := range ir.EachRight() {
							granted = granted && (!rights.Has(r) || has[i].Walk(words[key]).Interior())
						}
					}
					state = after
				}
				if granted != (with.Verdict.Verdict != verify.Reject) {
					w.counterexample(fmt.Sprintf("granted by definition: %v", granted), patch, n)
					t.Fatalf("seed %d: %s", seed, w.found)
				}
				if granted {
					accepted++
				} else {
					lacking++
				}
			}
		}
	}
	t.Logf("%d accepted, %d lack a right", accepted, lacking)
}
