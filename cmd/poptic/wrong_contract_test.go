package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/ir"
)

// Whatever is read as a compiled contract is safe for every verb: what is whole but
// wrong inside, its digest made anew, is refused or answered, and never a panic.
func TestNoVerbPanicsOnACompiledContractThatIsWrongInside(t *testing.T) {
	t.Chdir(t.TempDir())
	seeds := compileSeeds(t)
	rounds := 15
	if n, err := strconv.Atoi(os.Getenv("POPTIC_SOUNDNESS")); err == nil && n > 0 {
		rounds = n
	}
	seed := uint64(1)
	if n, err := strconv.ParseUint(os.Getenv("POPTIC_SEED"), 10, 64); err == nil {
		seed = n
	}
	rng, tried := rand.New(rand.NewPCG(seed, 1)), 0
	for taken := 0; taken < rounds; tried++ {
		for name, body := range seeds {
			wrong, what := mutated(rng, body)
			if _, err := ir.Decode(wrong); err != nil {
				continue
			}
			taken++
			require.NoError(t, os.WriteFile("wrong.popticc", wrong, 0o644))
			everyVerb(t, name, what)
		}
	}
	t.Logf("%d of %d were taken", rounds, tried)
}

// everyVerb runs all verbs on wrong.popticc.
func everyVerb(t *testing.T, name, what string) {
	old, state := name+".popticc", name+".json"
	_ = os.Remove("wrong.db")
	for _, words := range []string{
		"check wrong.popticc", "build wrong.popticc -o built.popticc", "explain wrong.popticc", "prove wrong.popticc --state " + state,
		"prove wrong.popticc --cert wrong.cert --force", "prove wrong.popticc --check wrong.cert", "prove wrong.popticc --check " + name + ".cert",
		"plan wrong.popticc", "plan wrong.popticc --format json", "plan wrong.popticc --format mermaid",
		"graph wrong.popticc", "graph wrong.popticc --format svg", "graph wrong.popticc --format json", "graph wrong.popticc --format mermaid",
		"diff wrong.popticc " + old, "diff " + old + " wrong.popticc --format json",
		"view wrong.popticc --state " + state + " --stage first --arg k=a",
		"view wrong.popticc --state " + state + " --stage first --arg k=a --format prompt",
		"verify wrong.popticc --state " + state + " --stage first --arg k=a --patch " + name + ".patch",
		"verify wrong.popticc --state " + state + " --stage first --arg k=a --actor --patch " + name + ".patch",
		"apply wrong.popticc --state " + state + " --advance end",
		"create wrong.popticc --store sqlite:wrong.db --instance a --state " + state,
		"view wrong.popticc --store sqlite:wrong.db --instance a --stage first --arg k=a",
		"apply wrong.popticc --store sqlite:wrong.db --instance a --stage first --arg k=a --patch " + name + ".patch",
		"replay --store sqlite:wrong.db wrong.popticc",
	} {
		answers(t, name, what, words)
	}
}

// answers runs one command line, which may give any answer.
func answers(t *testing.T, name, what, words string) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s, %s: %s: panic: %v\n%s", name, what, words, p, panicking(debug.Stack()))
		}
	}()
	began := time.Now()
	var out, errOut bytes.Buffer
	run(context.Background(), strings.Fields(words), strings.NewReader(""), &out, &errOut)
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("%s, %s: %s took %s", name, what, words, took)
	}
}

// panicking is the part of a stack that tells where the panic was.
func panicking(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "panic(") })
	return strings.Join(lines[max(at, 0):min(max(at, 0)+12, len(lines))], "\n")
}

// compileSeeds writes contracts that use all of the language, with states and patches,
// and gives their compiled bodies.
func compileSeeds(t *testing.T) map[string][]byte {
	bodies := map[string][]byte{}
	for name, s := range wrongSeeds {
		for suffix, text := range map[string]string{".poptic": s.contract, ".json": s.state, ".patch": s.patch} {
			require.NoError(t, os.WriteFile(name+suffix, []byte(text), 0o644))
		}
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: os.DirFS("."), Path: name + ".poptic"})
		require.NoError(t, err)
		require.NotNil(t, out.Lowered, "%v", out.Diagnostics)
		data := ir.Encode(out.Lowered) // refuted claims too
		require.NoError(t, os.WriteFile(name+".popticc", data, 0o644))
		code, _, errText := execute(t, "", "prove "+name+".popticc --cert "+name+".cert")
		require.NotEqual(t, exitBroken, code, errText)
		_, bodies[name], _ = bytes.Cut(data, []byte("\n"))
	}
	return bodies
}

// mutated changes some places of a body and makes its digest anew.
func mutated(rng *rand.Rand, body []byte) (file []byte, what string) {
	var root any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	_ = dec.Decode(&root)
	for range 1 + rng.IntN(3)/2 {
		places := placesOf(root, nil)
		p := places[1+rng.IntN(len(places)-1)]
		what += fmt.Sprintf("%v %s; ", p.path, p.change(rng, places))
	}
	return signed(root), what
}

// signed is the compiled form of a body.
func signed(root any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(root)
	return append(fmt.Appendf(nil, "poptic-contract %d sha256:%x\n", ir.Version, sha256.Sum256(b.Bytes())), b.Bytes()...)
}

// A bodyPlace is one value of a body, and where it stands.
type bodyPlace struct {
	path []any
	in   any // a map[string]any or a []any
	at   any // the name or the index
}

func placesOf(n any, path []any) []bodyPlace {
	out := []bodyPlace{{path: path}}
	add := func(in, at, child any) {
		below := placesOf(child, append(path[:len(path):len(path)], at))
		below[0].in, below[0].at = in, at
		out = append(out, below...)
	}
	switch n := n.(type) {
	case map[string]any:
		names := make([]string, 0, len(n))
		for name := range n {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			add(n, name, n[name])
		}
	case []any:
		for i := range n {
			add(n, i, n[i])
		}
	}
	return out
}

func (p bodyPlace) get() any {
	if m, ok := p.in.(map[string]any); ok {
		return m[p.at.(string)]
	}
	return p.in.([]any)[p.at.(int)]
}

func (p bodyPlace) set(v any) {
	if m, ok := p.in.(map[string]any); ok {
		m[p.at.(string)] = v
		return
	}
	p.in.([]any)[p.at.(int)] = v
}

// alike lists the values of a body that are of one shape with v.
func alike(v any, places []bodyPlace) []any {
	var out []any
	for _, p := range places[1:] {
		if other := p.get(); shapeOf(other) == shapeOf(v) {
			out = append(out, other)
		}
	}
	return out
}

// shapeOf tells values apart by their kinds, and patterns from names.
func shapeOf(v any) string {
	switch v := v.(type) {
	case string:
		return fmt.Sprint("string", strings.HasPrefix(v, "/"))
	case map[string]any:
		_, isExpr := v["source"]
		_, isType := v["kind"]
		return fmt.Sprint("object", isExpr, isType)
	case []any:
		if len(v) > 0 {
			return "array " + shapeOf(v[0])
		}
	}
	return fmt.Sprintf("%T", v)
}

// copied is a value of its own, so that none comes to hold itself.
func copied(v any) any {
	data, _ := json.Marshal(v)
	var out any
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	_ = dec.Decode(&out)
	return out
}

var wrongValues = []any{
	nil, 0, 1, 2, 5, 40, -1, 99999999, "", "/**", "/", "zz", []any{}, map[string]any{}, true, false, []any{[]any{}}, []any{0}, []any{""},
	"{p}", "/{p}", "/{@1}", "/{@a}", "/-", "/kl/*", "/m/*/**/*", "/m/{k}", "string", "any", "map", "record", "union", "keyed", "literal", "log", "set", "key",
	"from", "in", "new", "all commute", "before", "commutes", "within", "no flow", "no stage", "parallel", "reads", "writes", "copies",
	"type", "key", "invariant", "produce", "next", "hidden", "seen", "first", "second", "start", "end", "1", `"a"`, "1e999", "true && ", "phase == 'x'",
}

// change puts something else at a place, takes it away, or doubles it.
func (p bodyPlace) change(rng *rand.Rand, places []bodyPlace) string {
	m, isMember := p.in.(map[string]any)
	switch k := rng.IntN(12); {
	case k < 2 && isMember:
		delete(m, p.at.(string))
		return "deleted"
	case k < 5:
		other := copied(places[1+rng.IntN(len(places)-1)].get())
		p.set(other)
		return fmt.Sprintf("<- %.60v", other)
	case k < 9:
		if like := alike(p.get(), places); len(like) > 1 {
			other := copied(like[rng.IntN(len(like))])
			p.set(other)
			return fmt.Sprintf("<- %.60v", other)
		}
	case k < 10:
		if list, ok := p.get().([]any); ok && len(list) > 0 {
			p.set(append(slices.Clone(list), list[rng.IntN(len(list))]))
			return "doubled"
		}
	}
	v := wrongValues[rng.IntN(len(wrongValues))]
	p.set(v)
	return fmt.Sprintf("<- %v", v)
}

// wrongSeeds are contracts that use all of the language: their stage "first" has the
// parameter k at most, and "end" is a phase.
var wrongSeeds = map[string]struct{ contract, state, patch string }{
	"notes": {`contract notes
state { m: map of Note  log: log of string  x: any  kl: list of It by id  s: set of number  pick: Pick }
type It { id: string v: int }
type Pick = { kind: "a" v: int } | { kind: "b" v: list of string }
type Note { title: string where { size(self) <= 40 } text: string status: "draft" | "published" owner: secret string twin?: key of /m }
phases {
  start -> mid by host
  mid -> end when { state.m.all(k, state.m[k].status != "draft") }
  end
}
measure total = sum /kl/*/v
invariant published_has_title each n in /m/* "a published note has a title" { n.status != "published" || n.title != "" }
invariant few { total <= 100 }
invariant apart unique /m/*/text
stage first(k in /m) {
  in start  by bot  read /m/{k} except secrets  write /m/{k}/(title|status), /log/-  source /m/{k}/title
  delegable /m/{k}/(title|text)  attempts 2  ensure { after.m[k].title != "x" }
}
stage second(n new in /m, r = /pick/kind) {
  in mid  read /m/{n}  write blind /m/{n}  require { before.x != r }  produce /m/{n}/title  next end  discloses phase
}
stage third { in start, mid  read /kl  write /kl/*/v }
stage adm { in start, mid, end  after first  read /**  write /**  source /** }
delegate helper from first { read /m/{k}/title  write /m/{k}/title  source /m/{k}/title }
compose both = first + third
parallel pair = first | third
prove first commutes with first when k differs
prove first commutes with third
prove first commutes with adm
prove all commute in start
prove helper within first
prove both within adm
prove no flow from /m/*/owner to /log
prove no flow from secrets to /m with memory
prove no stage except adm writes /x
prove start before end
`, `{"m":{"a":{"title":"t","text":"x","status":"draft","owner":"o"}},"log":[],"x":1,"kl":[{"id":"i","v":2}],"s":[1],"pick":{"kind":"a","v":1}}`,
		`[{"op":"replace","path":"/m/a/title","value":"u"}]`},
}
