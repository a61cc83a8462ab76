package trace

import (
	"fmt"
	"math/rand"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// The property: whatever a patch says, a value shows in its redacted form exactly
// if some type can be at its place, the value has a kind that such a type has, and
// no type that can be there, or above, is secret. The judge below says so by
// descending the types themselves; it knows neither regions nor places.

// A judge follows every alternative of the types along a path.
type judge struct {
	c      *ir.Contract
	types  []ir.TypeID
	secret bool // met on the way
}

func newJudge(c *ir.Contract) judge { return judge{c: c}.enter(c.State) }

func (j judge) enter(ids ...ir.TypeID) judge {
	for _, id := range ids {
		t := j.c.Type(id)
		j.secret = j.secret || t.Secret
		if t.Kind == ir.UnionType {
			j = j.enter(t.Alternatives...)
		} else {
			j.types = append(j.types, id)
		}
	}
	return j
}

func (j judge) step(token string, inArray, inObject bool) judge {
	next := judge{c: j.c, secret: j.secret || len(j.types) == 0}
	_, err := strconv.ParseUint(token, 10, 16)
	inArray = inArray && (err == nil || token == "-")
	for _, id := range j.types {
		t := j.c.Type(id)
		member, known := t.Member(token)
		switch {
		case t.Kind == ir.AnyType && (inObject || inArray):
			next = next.enter(id)
		case t.Kind == ir.RecordType && known && inObject:
			next = next.enter(member.Type)
		case t.Kind == ir.RecordType && inObject && t.Rest != ir.NoType, t.Kind == ir.MapType && inObject:
			next = next.enter(max(t.Rest, t.Elem))
		case (t.Kind == ir.ListType || t.Kind == ir.SetType) && inArray:
			next = next.enter(t.Elem)
		}
	}
	return next
}

// shows reports whether a value of a kind may be seen.
func (j judge) shows(kind ir.Kind) bool {
	for _, id := range j.types {
		if !j.secret && admits(j.c.Type(id), kind) {
			return true
		}
	}
	return false
}

// A scribe makes random patches in which every scalar is a canary of its own, and
// notes of each whether it may be seen.
type scribe struct {
	*rand.Rand
	shown, hidden []string
	count         int
}

func (s *scribe) pick(of ...string) string { return of[s.Intn(len(of))] }

func (s *scribe) token() string {
	return s.pick("customers", "A", "name", "card", "pins", "pick", "open", "tags", "0", "1", "-", "x")
}

func (s *scribe) value(j judge, above bool, depth int) string {
	kind := ir.Kind(2 + s.Intn(4)) // number, string, array or object
	if depth == 0 {
		kind = ir.String
	}
	above = above && j.shows(kind)
	switch kind {
	case ir.Object:
		var parts []string
		for _, name := range []string{"A", "card", "name", "pins", "0"}[:s.Intn(5)] {
			parts = append(parts, fmt.Sprintf("%q:%s", name, s.value(j.step(name, false, true), above, depth-1)))
		}
		return "{" + strings.Join(parts, ",") + "}"
	case ir.Array:
		var parts []string
		for i := range s.Intn(3) {
			parts = append(parts, s.value(j.step(strconv.Itoa(i), true, false), above, depth-1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	s.count++
	canary := fmt.Sprintf("7%06d7", s.count)
	if above {
		s.shown = append(s.shown, canary)
	} else {
		s.hidden = append(s.hidden, canary)
	}
	if kind == ir.Number {
		return canary
	}
	return `"` + canary + `"`
}

func (s *scribe) op(c *ir.Contract) string {
	j, path := newJudge(c), ""
	for range s.Intn(5) {
		token := s.token()
		j, path = j.step(token, true, true), path+"/"+token
	}
	return fmt.Sprintf(`{"op":%q,"path":%q,"value":%s}`, s.pick("add", "replace", "test"), path, s.value(j, true, 3))
}

func TestAValueIsShownExactlyIfItsPlaceIsTypedAndNotSecret(t *testing.T) {
	cases := 100_000
	if testing.Short() || underRace {
		cases = 5_000
	}
	r, random := sampleRedactor(t), rand.New(rand.NewSource(1))
	seenShown, seenHidden := 0, 0
	for range cases {
		s := scribe{Rand: random}
		text := "[" + s.op(r.contract) + "]"
		got, _ := r.Patch(patchOf(t, text))
		for _, canary := range s.shown {
			if !strings.Contains(string(got), canary) {
				require.Fail(t, "a value is not shown", "%s\n%s\n%s", canary, text, got)
			}
		}
		for _, canary := range s.hidden {
			if strings.Contains(string(got), canary) {
				require.Fail(t, "a value is shown", "%s\n%s\n%s", canary, text, got)
			}
		}
		seenShown, seenHidden = seenShown+len(s.shown), seenHidden+len(s.hidden)
	}
	require.Greater(t, seenShown, cases/50)
	require.Greater(t, seenHidden, cases/2)
}

func TestTheHashCoversTheLineUpToItself(t *testing.T) {
	lines, _ := sampleLines(2)
	text := string(lines[1])
	at := strings.LastIndex(text, `,"hash":"`)
	require.Equal(t, text[at:], `,"hash":"`+hashOf([]byte(text[:at]+"}"))+`"}`)
	require.Contains(t, text[:at], `,"prev":"`+string(lines[0][len(lines[0])-2-hashLength:len(lines[0])-2])+`"`)
}

// Only the tree package knows how a value's digest is made; here it is enough that
// equal values have equal ones, however they are spelled.
func TestSpellingsOfOneSecretNumberHaveOneDigest(t *testing.T) {
	one, err := tree.NewNumber("1.0")
	require.NoError(t, err)
	r := sampleRedactor(t)
	a, _ := r.Patch(tree.Patch{{Kind: tree.OpAdd, Path: tree.Pointer{"pick"}, RawPath: "/pick", Value: one}})
	b, _ := r.Patch(tree.Patch{{Kind: tree.OpAdd, Path: tree.Pointer{"pick"}, RawPath: "/pick", Value: tree.NewInt(1)}})
	require.Equal(t, string(a), string(b))
}

// The digest of a patch tells patches apart exactly as reading them does.
func TestPatchesHaveOneDigestExactlyIfTheyReadTheSame(t *testing.T) {
	key, random := testKey(t, 1), rand.New(rand.NewSource(2))
	pick := func(of ...string) string { return of[random.Intn(len(of))] }
	var value func(depth int) string
	value = func(depth int) string {
		switch {
		case depth > 0 && random.Intn(4) == 0:
			return `[` + value(depth-1) + pick("", " ,"+value(depth-1)) + `]`
		case depth > 0 && random.Intn(3) == 0:
			a, b := `"a":`+value(depth-1), ` "b" : `+value(depth-1)
			return `{` + pick(a, b, a+","+b, b+","+a) + `}`
		}
		return pick("1", "1.0", "10e-1", `"1"`, `"\u0031"`, "true", "null", "-0", "0.0", "{}", "[]", `""`)
	}
	op := func() string {
		path, from := `"path":"`+pick("", "/", "/a", "/a/b", "/a~1b", "/a~0b", "/ab", `\/a`)+`"`, `"from":"`+pick("/a", "/a/b", "/b")+`"`
		switch kind := `"op":"` + pick("add", "remove", "replace", "move", "copy", "test") + `"`; kind {
		case `"op":"remove"`:
			return `{` + kind + `,"path":"/` + pick("a", "b", "a/b") + `"}`
		case `"op":"move"`, `"op":"copy"`:
			return `{` + pick(kind+","+path+","+from, from+","+kind+`,`+path) + `}`
		default:
			v := `"value":` + value(2)
			return `{` + pick(kind+","+path+","+v, v+" ,"+path+","+kind) + `}`
		}
	}
	same := func(a, b tree.Patch) bool {
		for i := range a {
			a[i].RawPath, a[i].RawFrom = a[i].Path.String(), a[i].From.String()
		}
		return tree.Equal(a.Node(), b.Node())
	}
	met, count := map[bool]int{}, 100_000
	if testing.Short() || underRace {
		count = 20_000
	}
	for range count {
		texts, phases := [2]string{}, [2]string{pick("", "", "p"), pick("", "", "p", "q")}
		var patches [2]tree.Patch
		for i := range texts {
			texts[i] = `[` + op() + pick("", "", ","+op()) + `]`
			patches[i] = patchOf(t, texts[i])
		}
		if random.Intn(4) == 0 {
			patches[1] = patches[0]
		}
		want := phases[0] == phases[1] && same(patches[0], patches[1]) && same(patches[1], patches[0])
		met[want]++
		require.Equal(t, want, key.Patch(patches[0], phases[0]) == key.Patch(patches[1], phases[1]), "%s %s", texts, phases)
		require.NotEqual(t, key.Unread([]byte(texts[0])), key.Patch(patches[0], phases[0]))
	}
	require.Greater(t, met[true], count/100)
	require.NotEqual(t, testKey(t, 2).Patch(nil, ""), key.Patch(nil, ""), "nobody tries guesses on it")
}
