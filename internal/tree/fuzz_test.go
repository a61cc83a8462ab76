package tree

import (
	"encoding/json"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, seed := range []string{``, `{"a":[1,-0.0e5,"\u00e9\ud83d\udca9",null,true]}`, `{"a":1,"a":2}`, `"\ud800"`, "\xff", `[[[[]]]]`, `1e400`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := Parse(data, DefaultLimits)
		if err != nil {
			if bad, ok := err.(*DecodeError); !ok || n != nil || bad.Offset < 0 || bad.Offset > len(data) {
				t.Fatalf("%v", err)
			}
			return
		}
		text := AppendJSON(nil, n)
		again, err := Parse(text, Limits{})
		switch {
		case !json.Valid(data) || err != nil:
			t.Fatal("accepted what is not JSON")
		case again.Digest() != n.Digest() || !Equal(again, n) || len(text) != n.Size():
			t.Fatal("the encoding is another value")
		}
	})
}

func FuzzParsePointer(f *testing.F) {
	for _, seed := range []string{"", "/", "/a~1b/~0", "/~2", "a", "//"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePointer(text)
		if err != nil {
			return
		}
		if p.String() != text {
			t.Fatalf("%q reads as %q", text, p)
		}
	})
}

func FuzzParsePatchAndApply(f *testing.F) {
	for _, seed := range []string{
		`[{"op":"add","path":"/o/x","value":{"y":[1]}},{"op":"move","from":"/o","path":"/l/-"}]`,
		`[{"op":"copy","from":"","path":"/s/-"},{"op":"remove","path":"/l/0"},{"op":"test","path":"/n","value":null}]`,
		`[{"op":"replace","path":"","value":[]},{"op":"add","path":"/0","value":1}]`,
	} {
		f.Add([]byte(seed))
	}
	list, err := Parse([]byte(`{"o":{"a":{"0":1}},"l":[1,[2]],"n":null}`), DefaultLimits)
	if err != nil {
		f.Fatal(err)
	}
	root := list.With("s", list.Get("l").WithOrder(SetOrder)).With("g", list.Get("l").WithOrder(LogOrder))
	before := root.String()
	f.Fuzz(func(t *testing.T, data []byte) {
		patch, problems := ParsePatch(data, DefaultPatchLimits)
		if (patch == nil) == (len(problems) == 0) {
			t.Fatal("neither a patch nor a problem, or both")
		}
		requireSameReading(t, data, DefaultPatchLimits)
		if n, err := Parse(data, DefaultPatchLimits.Limits); err == nil {
			same, again := PatchOf(n, DefaultPatchLimits)
			if len(again) != len(problems) || same.Node().Digest() != patch.Node().Digest() {
				t.Fatal("a patch read from text is not the one read from a value")
			}
		}
		next, effects, problem := ApplyAll(root, patch)
		switch {
		case root.String() != before:
			t.Fatal("the root changed")
		case problem != nil && (next != root || len(effects) != problem.Index+1):
			t.Fatal("a refused patch left something behind")
		case len(next.String()) != next.Size() || rebuilt(next).Digest() != next.Digest():
			t.Fatal("what is remembered of the result is wrong")
		}
		if slowly, same := oneByOne(root, patch); (same == nil) != (problem == nil) || slowly.String() != next.String() {
			t.Fatal("operation by operation the patch comes to something else")
		}
	})
}
