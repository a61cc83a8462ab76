package starter

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// A sample says what is there, not what may be. An object is read as a record, or as a map
// where its entries are alike and their names look like keys; elements with a text of their own
// below "id", "key", "sku" or "code" make a keyed list. What some entries lack is optional.

// FromSample drafts the types of a state of which the text is one. With careful, nothing is
// guessed that the sample shows only by its look, such as dates.
func FromSample(text []byte, careful bool) (*Draft, error) {
	root, err := read(text)
	if err != nil {
		return nil, err
	}
	d := &Draft{}
	s := &sampler{d, careful}
	d.state = s.typeOf("state", []*value{root}, true)
	return d, nil
}

type sampler struct {
	*Draft
	careful bool
}

// typeOf is the type of values that stand at places that are alike.
func (s *sampler) typeOf(name string, values []*value, top bool) *typ {
	var objects, arrays []*value
	scalars := map[string][]*value{}
	for _, v := range values {
		switch v.kind {
		case "object":
			objects = append(objects, v)
		case "array":
			arrays = append(arrays, v)
		case "number":
			kind := "int"
			if strings.ContainsAny(v.text, ".eE") || len(v.text) > 15 {
				kind = "number"
			}
			scalars[kind] = append(scalars[kind], v)
		default:
			scalars[v.kind] = append(scalars[v.kind], v)
		}
	}
	var all []*typ
	if len(objects) > 0 {
		all = append(all, s.object(name, objects, top))
	}
	if len(arrays) > 0 {
		all = append(all, s.array(name, arrays))
	}
	if len(scalars["int"]) > 0 && len(scalars["number"]) > 0 {
		delete(scalars, "int")
	}
	for _, kind := range []string{"string", "int", "number", "bool"} {
		if values := scalars[kind]; len(values) > 0 {
			t := simple(kind)
			if kind == "string" && !s.careful {
				t = s.textual(values)
			}
			all = append(all, t)
		}
	}
	if len(scalars["null"]) > 0 {
		if len(all) == 0 {
			return &typ{text: "any", notes: []string{"the sample has null here"}}
		}
		all = append(all, simple("null"))
	}
	if len(all) == 1 {
		return all[0]
	}
	return &typ{kind: union, either: all}
}

var mailbox = regexp.MustCompile(`^[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}$`)

// textual is the type of texts that all look like dates or addresses, or string.
func (s *sampler) textual(values []*value) *typ {
	look := func(fits func(text string) bool) bool {
		return !slices.ContainsFunc(values, func(v *value) bool { return !fits(v.text) })
	}
	switch {
	case look(func(text string) bool { _, err := time.Parse(time.RFC3339, text); return err == nil }):
		s.uses("time")
		return simple("time.Instant")
	case look(func(text string) bool { _, err := time.Parse(time.DateOnly, text); return err == nil }):
		s.uses("time")
		return simple("time.Date")
	case look(mailbox.MatchString):
		s.uses("pii")
		return simple("pii.Email")
	}
	return simple("string")
}

// object is the type of some objects.
func (s *sampler) object(name string, objects []*value, top bool) *typ {
	var names []string
	values := map[string][]*value{}
	for _, o := range objects {
		for _, key := range o.names {
			if values[key] == nil {
				names = append(names, key)
			}
			values[key] = append(values[key], o.members[key])
		}
	}
	if len(names) == 0 && !top {
		return &typ{kind: mapOf, of: simple("any"), notes: []string{"the sample has nothing here"}}
	}
	if !top && isMap(names, values) {
		var entries []*value
		for _, key := range names {
			entries = append(entries, values[key]...)
		}
		return &typ{kind: mapOf, of: s.typeOf(singular(name), entries, false)}
	}
	t := &typ{kind: record}
	if !top {
		s.name(t, name)
	}
	for _, key := range names {
		t.members = append(t.members, member{name: key, optional: len(values[key]) < len(objects), typ: s.typeOf(key, values[key], false)})
	}
	return t
}

var keyLike = regexp.MustCompile(`[0-9]|^[^A-Za-z_]|[^A-Za-z0-9_]`)

// isMap reports whether objects with these members are maps: their names look like keys, or all
// their entries are objects that have the same members.
func isMap(names []string, values map[string][]*value) bool {
	likeKeys := !slices.ContainsFunc(names, func(name string) bool { return !keyLike.MatchString(name) })
	shapes := map[string]bool{}
	for _, name := range names {
		for _, v := range values[name] {
			shape := v.kind
			if v.kind == "object" && !likeKeys {
				keys := slices.Sorted(slices.Values(v.names))
				shape = strings.Join(keys, "\x00")
			} else if !likeKeys {
				return false
			}
			shapes[shape] = true
		}
	}
	return len(shapes) == 1 && (likeKeys || len(names) > 1)
}

// array is the type of some arrays.
func (s *sampler) array(name string, arrays []*value) *typ {
	var elements []*value
	for _, a := range arrays {
		elements = append(elements, a.elements...)
	}
	if len(elements) == 0 {
		return &typ{kind: listOf, of: simple("any"), notes: []string{"the sample has nothing here"}}
	}
	t := &typ{kind: listOf, of: s.typeOf(singular(name), elements, false)}
	if t.of.kind == record {
		t.key = keyOf(arrays)
	}
	return t
}

// keyOf is the member by which the elements of arrays can be told apart, "" if there is none.
func keyOf(arrays []*value) string {
	for _, key := range []string{"id", "key", "sku", "code", "uuid"} {
		unique := true
		for _, a := range arrays {
			seen := map[string]bool{}
			for _, e := range a.elements {
				v := e.get(key)
				if v == nil || v.kind != "string" || v.text == "" || seen[v.text] {
					unique = false
					break
				}
				seen[v.text] = true
			}
		}
		if unique {
			return key
		}
	}
	return ""
}
