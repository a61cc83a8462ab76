package footprint

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// What stands for what is not shown of a run: values at places of secret types, and
// those that have nothing to do with it.
const (
	secretMark = "(secret)"
	leftOut    = "(left out)"
)

// maxShown is how long the text of a state may be that is shown as it is; of a longer
// one only what the two stages touch is shown, and of that no longer texts than maxText.
const (
	maxShown = 1000
	maxText  = 80
)

// Shown is a run as it may be told to people: values at places of secret types are
// replaced, and a long state is cut to what the pair touches. A place that nothing
// types counts as secret where anything is.
func (m *Model) Shown(p Pair, run Counterexample) Counterexample {
	k := mask{Model: m, secrets: region.Compile(m.Contract.Secrets)}
	if len(run.State) > maxShown {
		k.touched = region.Compile(m.touchedBy(p))
	}
	run.State = k.document(run.State)
	k.touched = nil
	place := "the root"
	if run.Place != nil {
		place, _ = k.pointer(*run.Place)
	}
	run.Detail, run.Place = strings.Replace(run.Detail, PlaceMark, place, 1), nil
	for _, side := range []*Proposal{&run.A, &run.B} {
		side.Patch, side.Args = k.patch(side.Patch), k.args(side)
	}
	return run
}

// touchedBy is all that two stages and their rules see or change, parameters standing
// for any key.
func (m *Model) touchedBy(p Pair) region.Region {
	var out region.Region
	for _, s := range []*ir.Stage{p.A, p.B} {
		all := region.Union(s.Write, s.Blind, s.Source, m.local(s))
		for _, g := range m.gates() {
			for _, reads := range m.Touched(g, s) {
				all = append(all, region.Grant{Include: reads.Reads})
			}
		}
		for _, q := range Includes(all) {
			out = append(out, region.Grant{Include: []region.Pattern{anyKeys(q)}})
		}
	}
	return out
}

func anyKeys(p region.Pattern) region.Pattern {
	out := region.Pattern{Shallow: p.Shallow}
	for _, s := range p.Segments {
		if s.Kind == region.ParamSegment || s.Kind == region.FreshSegment {
			s = region.Segment{Kind: region.AnySegment}
		}
		out.Segments = append(out.Segments, s)
	}
	return out
}

type mask struct {
	*Model
	secrets *region.Set
	touched *region.Set // nil if everything is shown
}

// A spot is a place of the state: what may be there, and where it is in the two sets.
type spot struct {
	at      TypeSet
	secret  region.Cursor
	touched *region.Cursor
	nothing bool // no type says what is here
}

func (k *mask) root() spot {
	s := spot{at: k.Shape.Root(), secret: k.secrets.Start(region.Binding{})}
	if k.touched != nil {
		c := k.touched.Start(region.Binding{})
		s.touched = &c
	}
	return s
}

func (k *mask) step(s spot, l region.Letter) spot {
	out := spot{at: k.Shape.Letter(s.at, l), secret: s.secret.Step(l)}
	out.nothing = s.nothing || len(out.at) == 0
	if s.touched != nil {
		c := s.touched.Step(l)
		out.touched = &c
	}
	return out
}

// hidden reports whether what is at s may not be shown.
func (k *mask) hidden(s spot) bool {
	return s.secret.In() || s.nothing && len(k.Contract.Secrets) > 0
}

func (k *mask) document(text string) string {
	v, ok := decoded(text)
	if !ok {
		return secretMark
	}
	return encoded(k.value(k.root(), v))
}

func (k *mask) value(s spot, v any) any {
	switch {
	case k.hidden(s):
		return secretMark
	case s.touched != nil && !s.touched.Live():
		return leftOut
	}
	switch v := v.(type) {
	case map[string]any:
		for name, child := range v {
			v[name] = k.value(k.step(s, region.Key(name)), child)
		}
		return v
	case []any:
		return k.elements(s, v)
	case string:
		if s.touched != nil && len(v) > maxText {
			return strings.ToValidUTF8(v[:maxText], "") + "..."
		}
	}
	return v
}

// elements shows an array, of which a keyed list is one in files.
func (k *mask) elements(s spot, v []any) []any {
	out := make([]any, 0, len(v))
	dropped := false
	for i, child := range v {
		below := k.step(s, region.Index(i))
		if key, keyed := k.keyOf(s, child); keyed {
			below = k.step(s, region.Key(key))
		}
		shown := k.value(below, child)
		if shown == leftOut {
			dropped = true
			continue
		}
		out = append(out, shown)
	}
	if dropped {
		out = append(out, leftOut)
	}
	return out
}

func (k *mask) keyOf(s spot, element any) (string, bool) {
	members, _ := element.(map[string]any)
	for _, id := range s.at {
		if t := k.Contract.Type(id); t.Kind == ir.KeyedType {
			key, ok := members[t.KeyField].(string)
			return key, ok
		}
	}
	return "", false
}

func (k *mask) patch(text string) string {
	v, ok := decoded(text)
	ops, list := v.([]any)
	if !ok || !list {
		return secretMark
	}
	for _, op := range ops {
		members, ok := op.(map[string]any)
		if !ok {
			return secretMark
		}
		path, at := k.pointer(members["path"])
		if from, has := members["from"]; has {
			members["from"], _ = k.pointer(from)
		}
		if value, has := members["value"]; has {
			members["value"] = k.value(at, value)
		}
		members["path"] = path
	}
	return encoded(ops)
}

// pointer shows a pointer up to a place that may not be shown, and finds where it
// leads.
func (k *mask) pointer(v any) (string, spot) {
	at := k.root()
	text, _ := v.(string)
	var shown strings.Builder
	for _, token := range strings.Split(text, "/")[min(1, strings.Count(text, "/")):] {
		if text == "" {
			break
		}
		if k.hidden(at) {
			shown.WriteString("/" + secretMark)
			continue
		}
		shown.WriteString("/" + token)
		at = k.step(at, k.letter(at, strings.NewReplacer("~1", "/", "~0", "~").Replace(token)))
	}
	return shown.String(), at
}

// letter is what a token means at s: a position in arrays, a key elsewhere.
func (k *mask) letter(s spot, token string) region.Letter {
	if object, array := k.Shape.Kinds(s.at); array && !object {
		i, _ := strconv.Atoi(token)
		return region.Index(i)
	}
	return region.Key(token)
}

// args shows arguments, but for those that are taken from something secret.
func (k *mask) args(p *Proposal) map[string]string {
	s := k.Contract.Stage(p.Stage)
	if s == nil || len(p.Args) == 0 {
		return p.Args
	}
	out := map[string]string{}
	for _, q := range s.Params {
		value, given := p.Args[q.Name]
		if !given {
			continue
		}
		origin := region.Region{{Include: []region.Pattern{{Segments: anyKeys(q.Of).Segments, Shallow: true}}}}
		a := region.Overlap(k.secrets, region.Compile(origin), region.Plain, region.Plain, region.Options{VerdictOnly: true})
		if out[q.Name] = value; a.Verdict != region.No {
			out[q.Name] = secretMark
		}
	}
	return out
}

func decoded(text string) (any, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err == nil
}

func encoded(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil {
		return secretMark
	}
	return strings.TrimSuffix(b.String(), "\n")
}
