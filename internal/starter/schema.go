package starter

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// A JSON Schema is read as those write it that pydantic and zod make, and people. What the
// language has no words for stands behind the place as a comment. An object is closed, unless its schema
// says something of other members.

// FromSchema drafts the types of a state that a JSON Schema describes.
func FromSchema(text []byte) (*Draft, error) {
	root, err := read(text)
	if err != nil {
		return nil, err
	}
	s := &schemaReader{Draft: &Draft{}, root: root, known: map[string]*typ{}, open: map[string]bool{}}
	at := root
	for ref := at.get("$ref"); ref != nil && s.at(ref.text) != nil && !s.open[ref.text]; ref = at.get("$ref") {
		s.open[ref.text] = true
		at = s.at(ref.text)
	}
	s.state = s.typeOf("state", at, true)
	return s.Draft, nil
}

type schemaReader struct {
	*Draft
	root  *value
	known map[string]*typ // by the pointers of references
	open  map[string]bool // references that are being read
	depth int             // of schemas in schemas
}

// deepest bounds how deep schemas are read in each other; "allOf" may lead back without end.
const deepest = 60

// at is what a local reference points to, nil if it is none.
func (s *schemaReader) at(ref string) *value {
	pointer, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	v := s.root
	if pointer == "" {
		return v
	}
	for _, token := range strings.Split(strings.TrimPrefix(pointer, "/"), "/") {
		token = strings.ReplaceAll(strings.ReplaceAll(token, "~1", "/"), "~0", "~")
		if v = v.get(token); v == nil {
			return nil
		}
	}
	return v
}

// unknown is a type of which nothing is said but why.
func unknown(why string) *typ { return &typ{text: "any", notes: []string{why}} }

// typeOf is the type that a schema describes. Records at the top of the state, and those that are to stand where they are, get no name.
func (s *schemaReader) typeOf(name string, v *value, bare bool) *typ {
	s.depth++
	defer func() { s.depth-- }()
	switch {
	case s.depth > deepest:
		return unknown("what is nested deeper")
	case v == nil, v.is("true"), v.kind == "object" && len(v.names) == 0:
		return simple("any")
	case v.is("false"):
		return unknown("that nothing may stand here")
	case v.kind != "object":
		return unknown("what is no schema")
	}
	if ref := v.get("$ref"); ref != nil {
		return s.referred(ref.text, v)
	}
	t := s.described(name, v, bare)
	s.remarks(t, v)
	return t
}

// referred is the type behind a reference.
func (s *schemaReader) referred(ref string, v *value) *typ {
	if t := s.known[ref]; t != nil {
		return t
	}
	at := s.at(ref)
	switch {
	case at == nil:
		return unknown("what is at " + ref)
	case s.open[ref]:
		return unknown("a type within itself, " + ref)
	}
	s.open[ref] = true
	defer delete(s.open, ref)
	name := ref[strings.LastIndex(ref, "/")+1:]
	count := len(s.types)
	t := s.typeOf(name, at, false)
	if t.name == "" && (t.kind != plain || len(t.where) > 0 || at.get("description") != nil) && !t.secret {
		s.name(t, name)
		t.doc = docOf(at)
		s.types = append(append(slices.Clone(s.types[:count]), t), s.types[count:len(s.types)-1]...) // before what it uses
	}
	s.known[ref] = t
	return t
}

func docOf(v *value) string {
	if d := v.get("description"); d != nil && d.kind == "string" {
		return d.text
	}
	return ""
}

// described is the type without what is said of any.
func (s *schemaReader) described(name string, v *value, bare bool) *typ {
	if c := v.get("const"); c != nil {
		return literal(c)
	}
	if e := v.get("enum"); e != nil && len(e.elements) > 0 {
		return s.either(literals(e.elements))
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if all := v.get(word); all != nil && len(all.elements) > 0 {
			var types []*typ
			for i, a := range all.elements {
				types = append(types, s.typeOf(alternativeName(name, a, i), a, false))
			}
			return s.either(types)
		}
	}
	if all := v.get("allOf"); all != nil && len(all.elements) > 0 {
		return s.typeOf(name, s.merged(v, all.elements), bare)
	}
	if types := v.get("type"); types != nil && types.kind == "array" {
		var all []*typ
		for _, one := range types.elements {
			all = append(all, s.ofType(name, one.text, v, bare))
		}
		return s.either(all)
	}
	word := ""
	switch t := v.get("type"); {
	case t != nil:
		word = t.text
	case v.get("properties") != nil || v.get("additionalProperties") != nil:
		word = "object"
	case v.get("items") != nil || v.get("prefixItems") != nil:
		word = "array"
	}
	return s.ofType(name, word, v, bare)
}

// alternativeName is what an alternative without a name is called: by the text that tells it from the others, if there is one.
func alternativeName(name string, v *value, i int) string {
	properties := v.get("properties")
	if properties != nil {
		for _, key := range properties.names {
			if c := properties.members[key].get("const"); c != nil && c.kind == "string" {
				return name + " " + c.text
			}
		}
	}
	if t := v.get("title"); t != nil && t.text != "" {
		return t.text
	}
	if i == 0 {
		return name
	}
	return name + " " + string(rune('A'+i%26))
}

// merged is one schema of all of several.
func (s *schemaReader) merged(v *value, all []*value) *value {
	out := &value{kind: "object", members: map[string]*value{}}
	set := func(name string, v *value) {
		if out.members[name] == nil {
			out.names = append(out.names, name)
		}
		out.members[name] = v
	}
	own := &value{kind: "object", members: map[string]*value{}}
	for _, name := range v.names {
		if name != "allOf" {
			own.names = append(own.names, name)
			own.members[name] = v.members[name]
		}
	}
	for _, part := range append(slices.Clone(all), own) {
		for depth := 0; depth < 64 && part.get("$ref") != nil; depth++ {
			if at := s.at(part.get("$ref").text); len(all) > 1 && at != nil {
				part = at
			} else {
				break
			}
		}
		if part.kind != "object" {
			continue
		}
		for _, name := range part.names {
			child := part.members[name]
			switch before := out.members[name]; {
			case before != nil && name == "properties":
				both := &value{kind: "object", names: slices.Clone(before.names), members: map[string]*value{}}
				for _, key := range before.names {
					both.members[key] = before.members[key]
				}
				for _, key := range child.names {
					if both.members[key] == nil {
						both.names = append(both.names, key)
					}
					both.members[key] = child.members[key]
				}
				child = both
			case before != nil && name == "required":
				child = &value{kind: "array", elements: append(slices.Clone(before.elements), child.elements...)}
			}
			set(name, child)
		}
	}
	if out.get("$ref") != nil && len(out.names) > 1 { // what stands beside a reference describes it
		return &value{kind: "object", names: []string{"$ref"}, members: map[string]*value{"$ref": out.get("$ref")}}
	}
	return out
}

func literal(v *value) *typ {
	switch {
	case !v.isScalar():
		return unknown("the one value that may stand here")
	case v.kind == "null":
		return simple("null")
	}
	return simple(v.literal())
}

func literals(values []*value) []*typ {
	var out []*typ
	for _, v := range values {
		out = append(out, literal(v))
	}
	return out
}

// either is one of some types; each is said once.
func (s *schemaReader) either(types []*typ) *typ {
	var all []*typ
	seen := map[string]bool{}
	for _, t := range types {
		for _, one := range flat(t) {
			if text := s.text(one); !seen[text] {
				seen[text] = true
				all = append(all, one)
			}
		}
	}
	if len(all) == 1 {
		return all[0]
	}
	if i := slices.IndexFunc(all, func(t *typ) bool { return t.text == "any" }); i >= 0 {
		return all[i]
	}
	return &typ{kind: union, either: all}
}

func flat(t *typ) []*typ {
	if t.kind != union || t.name != "" || len(t.where) > 0 || t.secret {
		return []*typ{t}
	}
	return t.either
}

// ofType is the type of what a schema with a "type" describes.
func (s *schemaReader) ofType(name, word string, v *value, bare bool) *typ {
	switch word {
	case "object":
		return s.object(name, v, bare)
	case "array":
		return s.array(name, v)
	case "string":
		return s.string(v)
	case "integer", "number":
		return number(word, v)
	case "boolean":
		return simple("bool")
	case "null":
		return simple("null")
	case "":
		return simple("any")
	}
	return unknown("the type " + word)
}

func (s *schemaReader) object(name string, v *value, bare bool) *typ {
	properties, more := v.get("properties"), v.get("additionalProperties")
	if properties == nil || len(properties.names) == 0 {
		if bare || more.is("false") {
			t := &typ{kind: record}
			if more != nil && !more.is("false") {
				t.rest = s.typeOf(singular(name), more, false)
			}
			return t
		}
		return sized(&typ{kind: mapOf, of: s.typeOf(singular(name), more, false)}, v, "minProperties", "maxProperties")
	}
	t := &typ{kind: record}
	if !bare {
		s.name(t, name)
		t.doc = docOf(v)
	}
	for _, key := range properties.names {
		child := properties.members[key]
		required := slices.ContainsFunc(v.get("required").list(), func(r *value) bool { return r.text == key })
		m := member{name: key, optional: !required, typ: s.typeOf(key, child, false)}
		if child.get("$ref") == nil && m.typ.name == "" || child.get("allOf") != nil || child.get("$ref") != nil {
			m.doc = docOf(child)
		}
		t.members = append(t.members, m)
	}
	if more != nil && !more.is("false") {
		t.rest = s.typeOf(singular(name)+" more", more, false)
	}
	return t
}

func (v *value) list() []*value {
	if v == nil {
		return nil
	}
	return v.elements
}

func (s *schemaReader) array(name string, v *value) *typ {
	t := &typ{kind: listOf}
	if v.get("uniqueItems").is("true") {
		t.kind = setOf
	}
	switch items := v.get("items"); {
	case len(v.get("prefixItems").list()) > 0 || items != nil && items.kind == "array":
		var all []*typ
		for _, one := range append(slices.Clone(v.get("prefixItems").list()), items.list()...) {
			all = append(all, s.typeOf(singular(name), one, false))
		}
		t.of = s.either(all)
		t.notes = append(t.notes, "which element is of which type")
	default:
		t.of = s.typeOf(singular(name), items, false)
	}
	if t.kind == setOf && (t.of.kind != plain || t.of.text == "any") && t.of.name == "" {
		t.notes = append(t.notes, "that no two elements are equal")
		t.kind = listOf
	}
	return sized(t, v, "minItems", "maxItems")
}

var whole = regexp.MustCompile(`^\d{1,9}$`)

// sized adds how much something may hold.
func sized(t *typ, v *value, least, most string) *typ {
	for _, b := range []struct{ word, sign string }{{least, ">="}, {most, "<="}} {
		if n := v.get(b.word); n != nil && whole.MatchString(n.text) && !(b.sign == ">=" && n.text == "0") {
			t.where = append(t.where, "size(self) "+b.sign+" "+n.text)
		}
	}
	return t
}

func (s *schemaReader) string(v *value) *typ {
	t := simple("string")
	if f := v.get("format"); f != nil {
		switch f.text {
		case "date-time":
			s.uses("time")
			t.text = "time.Instant"
		case "date":
			s.uses("time")
			t.text = "time.Date"
		case "email":
			s.uses("pii")
			t.text = "pii.Email"
		case "password":
			t.secret = true
		default:
			t.notes = append(t.notes, "format "+f.text)
		}
	}
	if p := v.get("pattern"); p != nil {
		if _, err := regexp.Compile(p.text); err != nil || strings.Contains(p.text, `\p`) || len(p.text) > 500 {
			t.notes = append(t.notes, "pattern "+p.text)
		} else {
			t.where = append(t.where, "self.matches("+quoted(p.text)+")")
		}
	}
	return sized(t, v, "minLength", "maxLength")
}

// safeInteger is the bound that zod writes for whole numbers.
const safeInteger = "9007199254740991"

var numeral = regexp.MustCompile(`^-?\d{1,15}(\.\d{1,15})?$`)

func number(word string, v *value) *typ {
	t := simple(map[string]string{"integer": "int", "number": "number"}[word])
	for _, b := range []struct{ word, sign string }{{"minimum", ">="}, {"exclusiveMinimum", ">"}, {"maximum", "<="}, {"exclusiveMaximum", "<"}} {
		n := v.get(b.word)
		switch {
		case n == nil, strings.TrimPrefix(n.text, "-") == safeInteger: // which every whole number here keeps
		case !numeral.MatchString(n.text):
			t.notes = append(t.notes, b.word+" "+n.text)
		case word == "number" && !strings.Contains(n.text, "."):
			t.where = append(t.where, "self "+b.sign+" "+n.text+".0")
		case word == "integer" && strings.Contains(n.text, "."):
			t.notes = append(t.notes, b.word+" "+n.text)
		default:
			t.where = append(t.where, "self "+b.sign+" "+n.text)
		}
	}
	if n := v.get("multipleOf"); n != nil && !(word == "integer" && n.text == "1") {
		t.notes = append(t.notes, "multiples of "+n.text)
	}
	return t
}

// unsaid are the keywords that nothing is made of, though they say something.
var unsaid = []string{
	"not", "if", "then", "else", "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies",
	"contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems", "contentEncoding", "contentMediaType", "contentSchema", "$dynamicRef", "$recursiveRef",
}

// remarks adds what is said of any type, and names what was not said.
func (s *schemaReader) remarks(t *typ, v *value) {
	if v.get("writeOnly").is("true") && t.name == "" {
		t.secret = true
	}
	for _, word := range unsaid {
		trivial := word == "propertyNames" && v.get(word) != nil && len(v.get(word).names) == 1 && v.get(word).get("type").is("string")
		if v.get(word) != nil && !trivial && !slices.Contains(t.notes, word) {
			t.notes = append(t.notes, word)
		}
	}
	if t.name == "" {
		t.doc = cmp.Or(t.doc, docOf(v))
	}
}
