package region

import "slices"

// A Grant is the union of its includes minus the union of its excepts.
// Authority is judged per grant, never pooled (semantics 3.3).
type Grant struct {
	Include []Pattern `json:"include"`
	Except  []Pattern `json:"except,omitempty"`
}

// A Region is a list of grants; the empty region holds nothing. It is plain
// data: Compile turns it into the automaton that answers questions.
type Region []Grant

// A Binding gives parameters their values: the key that each stands for.
type Binding map[string]string

// Of builds a region of one grant from pattern texts: an entry with a leading
// "!" is an exception to the includes. It panics on malformed patterns, and
// gives the empty region for no entries.
func Of(patterns ...string) Region {
	var g Grant
	for _, text := range patterns {
		if text != "" && text[0] == '!' {
			g.Except = append(g.Except, MustParse(text[1:]))
		} else {
			g.Include = append(g.Include, MustParse(text))
		}
	}
	if len(g.Include) == 0 {
		return nil
	}
	return Region{g}
}

// Bind replaces every parameter that args names by its key. Others stay. What it changes
// nothing of, pattern or list of patterns, is shared with the result; so it is by Rename
// and Own.
func (p Pattern) Bind(args Binding) Pattern {
	return p.replace(func(s Segment) Segment { return s.bound(args) })
}

func (s Segment) bound(args Binding) Segment {
	if s.Kind == ParamSegment {
		if value, ok := args[s.Text]; ok {
			return Segment{Kind: KeyLiteral, Text: value}
		}
	}
	return s
}

// Rename gives every parameter the name that f makes of its own.
func (p Pattern) Rename(f func(string) string) Pattern {
	return p.replace(func(s Segment) Segment {
		if s.Kind == ParamSegment {
			s.Text = f(s.Text)
		}
		return s
	})
}

// Own marks every fresh segment as owner's: it then meets no other owner's.
func (p Pattern) Own(owner string) Pattern {
	return p.replace(func(s Segment) Segment {
		if s.Kind == FreshSegment {
			s.Text = owner
		}
		return s
	})
}

// replace maps every segment. A pattern that this changes nothing of is returned itself.
func (p Pattern) replace(f func(Segment) Segment) Pattern {
	first := slices.IndexFunc(p.Segments, func(s Segment) bool { return f(s) != s })
	if first < 0 {
		return p
	}
	out := Pattern{Shallow: p.Shallow, Segments: slices.Clone(p.Segments)}
	for i := first; i < len(out.Segments); i++ {
		out.Segments[i] = f(out.Segments[i])
	}
	return out
}

// Params lists the parameters of p in order of appearance, each once.
func (p Pattern) Params() []string {
	var names []string
	for _, s := range p.Segments {
		if s.Kind == ParamSegment && !slices.Contains(names, s.Text) {
			names = append(names, s.Text)
		}
	}
	return names
}

// Bind is Pattern.Bind on every pattern of r. r is left alone.
func (r Region) Bind(args Binding) Region {
	return r.each(func(p Pattern) Pattern { return p.Bind(args) })
}

// Rename is Pattern.Rename on every pattern of r. r is left alone.
func (r Region) Rename(f func(string) string) Region {
	return r.each(func(p Pattern) Pattern { return p.Rename(f) })
}

// Own is Pattern.Own on every pattern of r. r is left alone.
func (r Region) Own(owner string) Region {
	return r.each(func(p Pattern) Pattern { return p.Own(owner) })
}

func (r Region) each(f func(Pattern) Pattern) Region {
	var out Region
	for _, g := range r {
		out = append(out, Grant{Include: mapPatterns(g.Include, f), Except: mapPatterns(g.Except, f)})
	}
	return out
}

// mapPatterns maps every pattern. A list that this changes nothing of is returned itself.
func mapPatterns(ps []Pattern, f func(Pattern) Pattern) []Pattern {
	for i, p := range ps {
		q := f(p)
		if q.isOf(p) {
			continue
		}
		out := slices.Clone(ps)
		out[i] = q
		for k := i + 1; k < len(ps); k++ {
			out[k] = f(ps[k])
		}
		return out
	}
	return ps[:len(ps):len(ps)]
}

// isOf reports whether a pattern has the very segments of another one.
func (p Pattern) isOf(q Pattern) bool {
	return p.Shallow == q.Shallow && len(p.Segments) == len(q.Segments) && (len(p.Segments) == 0 || &p.Segments[0] == &q.Segments[0])
}

// Params lists the parameters of r in alphabetical order, each once.
func (r Region) Params() []string {
	var names []string
	for _, g := range r {
		for _, ps := range [][]Pattern{g.Include, g.Except} {
			for _, p := range ps {
				names = append(names, p.Params()...)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
