// Package starter drafts a contract from what somebody has: a sample of the state, or a JSON
// Schema of it. In the draft everything has a type and nothing is granted; a stage stands in
// it as a comment, to begin from.
//
// FromSample (sample.go) and FromSchema (schema.go) make the types; Contract, Test and
// Workflow write the files of a project from them.
package starter

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/format"
)

// A Draft is what a state may be.
type Draft struct {
	state     *typ
	types     []*typ // the named ones, in the order in which they are met
	libraries []string
}

// A typ is a type to be written.
type typ struct {
	name    string // of a named one
	kind    kind
	text    string // of a plain one: how it is written
	members []member
	rest    *typ   // of a record that may have other members
	of      *typ   // of a container
	key     string // of a keyed list
	either  []*typ
	where   []string // CEL over self
	secret  bool
	doc     string
	notes   []string // what cannot be said
}

type kind uint8

const (
	plain kind = iota // written as its text
	record
	mapOf
	listOf
	setOf
	union
)

type member struct {
	name     string
	optional bool
	typ      *typ
	doc      string
}

func simple(text string) *typ { return &typ{text: text} }

// name gives a type that has none a name that no other has.
func (d *Draft) name(t *typ, wish string) {
	wish = typeName(wish)
	name := wish
	for n := 2; slices.ContainsFunc(d.types, func(o *typ) bool { return o.name == name }) || slices.Contains(builtIn, name) || syntax.IsReserved(name); n++ {
		name = wish + strconv.Itoa(n)
	}
	t.name = name
	d.types = append(d.types, t)
}

var builtIn = []string{"string", "number", "int", "decimal", "bool", "null", "any", "map", "list", "set", "log", "key", "secret", "true", "false"}

// uses notes a standard library.
func (d *Draft) uses(library string) {
	if !slices.Contains(d.libraries, library) {
		d.libraries = append(d.libraries, library)
	}
}

var wordParts = regexp.MustCompile(`[A-Za-z0-9]+`)

// typeName makes a name of a type of any text: in one word, with a capital.
func typeName(text string) string {
	out := ""
	for _, part := range wordParts.FindAllString(text, -1) {
		out += strings.ToUpper(part[:1]) + part[1:]
	}
	if out == "" || out[0] >= '0' && out[0] <= '9' {
		out = "T" + out
	}
	return out
}

// singular is what one of several is called.
func singular(text string) string {
	switch {
	case text == "people":
		return "person"
	case text == "children":
		return "child"
	case strings.HasSuffix(text, "ies") && len(text) > 4:
		return text[:len(text)-3] + "y"
	case strings.HasSuffix(text, "sses"), strings.HasSuffix(text, "xes"), strings.HasSuffix(text, "ches"), strings.HasSuffix(text, "shes"):
		return text[:len(text)-2]
	case strings.HasSuffix(text, "s") && !strings.HasSuffix(text, "ss") && len(text) > 2:
		return text[:len(text)-1]
	}
	return text
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// memberName is the name of a member as it is written.
func memberName(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quoted(name)
}

func quoted(text string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}

// ContractName makes a name of a contract of the name of a folder, say.
func ContractName(text string) string {
	name := strings.ToLower(strings.Join(wordParts.FindAllString(text, -1), "_"))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		name = "c_" + name
	}
	if syntax.IsReserved(name) || name == "c_" {
		name = "my_" + strings.TrimPrefix(name, "c_")
	}
	return strings.TrimSuffix(name, "_")
}

// Contract writes the contract, in canonical form. from says where the types come from.
func (d *Draft) Contract(name, from string) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "# Drafted from %s: everything has a type, and nothing is granted yet.\ncontract %s\n\n", oneLine(from), name)
	for _, library := range d.libraries {
		fmt.Fprintf(&b, "import %q as %s\n", "std/"+library, library)
	}
	b.WriteString("\nstate ")
	if d.state.kind == record {
		d.record(&b, d.state)
	} else {
		b.WriteString(d.text(d.state) + note(d.state.notes))
	}
	b.WriteString("\n\n")
	for _, t := range d.types {
		b.WriteString(comment(t.doc))
		if t.kind == record && len(t.where) == 0 && !t.secret {
			fmt.Fprintf(&b, "type %s ", t.name)
			d.record(&b, t)
		} else {
			unnamed := *t
			unnamed.name = ""
			fmt.Fprintf(&b, "type %s = %s%s", t.name, d.text(&unnamed), note(t.notes))
		}
		b.WriteString("\n\n")
	}
	b.WriteString("# The steps of the work. Guards and roles say who may go on, and when.\nphases {\n  open -> closed by host\n  closed\n}\n\n")
	head := b.String()
	stage := d.stage()
	text := head + "# A stage is what one actor may do in one step: what it sees, and what it may change. Its comment is the\n" +
		"# task that its actor is given. Take the first \"# \" of these lines away to begin with it.\n#\n" + commented(stage)
	if _, err := format.Source("contract.poptic", []byte(head+stage)); err != nil {
		return nil, err
	}
	return format.Source("contract.poptic", []byte(text))
}

// Uncommented is the text of a draft with its stage.
func Uncommented(contract string) string {
	at := strings.Index(contract, "#\n# #")
	if at < 0 {
		return contract
	}
	var b strings.Builder
	b.WriteString(contract[:at])
	for line := range strings.Lines(contract[at+2:]) {
		if rest, more := strings.CutPrefix(line, "# "); more {
			b.WriteString(rest)
			continue
		}
		b.WriteString(strings.TrimPrefix(line, "#"))
	}
	return b.String()
}

func commented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("# " + line)
	}
	return b.String()
}

// stage is one that edits an entry of the first map of the state, or its first member.
func (d *Draft) stage() string {
	var target *member
	for i := range d.state.members {
		m := &d.state.members[i]
		if target == nil || m.typ.kind == mapOf && target.typ.kind != mapOf {
			target = m
		}
	}
	if d.state.kind != record || target == nil {
		return "# Look at all of it.\nstage look {\n  in   open\n  by   reader\n  read /**\n}\n"
	}
	path, params := "/"+segment(target.name), ""
	read, write := path, path
	if target.typ.kind == mapOf {
		key := ContractName(singular(target.name))
		if !identifier.MatchString(key) || slices.Contains(builtIn, key) {
			key = "entry"
		}
		params = fmt.Sprintf("(%s in %s)", key, path)
		read, write = path+"/{"+key+"}", path+"/{"+key+"}"
		if of := target.typ.of; of.kind == record {
			for _, m := range of.members {
				if m.typ.text != "" && !m.typ.secret {
					write += "/" + segment(m.name)
					break
				}
			}
		}
		if write == read && target.typ.of.kind == record && len(target.typ.of.members) > 0 {
			write += "/" + segment(target.typ.of.members[0].name)
		}
	}
	return fmt.Sprintf("# Say here what its actor is to do.\nstage edit%s {\n  in    open\n  by    editor\n  read  %s\n  write %s\n}\n", params, read, write)
}

// segment is a member's name in a path.
func segment(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quoted(name)
}

// record writes the braces of a record.
func (d *Draft) record(b *strings.Builder, t *typ) {
	if len(t.members) == 0 && t.rest == nil && len(t.notes) == 0 {
		b.WriteString("{}")
		return
	}
	b.WriteString("{" + note(t.notes) + "\n")
	for _, m := range t.members {
		mark := ":"
		if m.optional {
			mark = "?:"
		}
		doc, notes := m.doc, []string(nil)
		if m.typ.name == "" {
			notes = allNotes(m.typ)
			if doc == "" {
				doc = m.typ.doc
			}
		}
		b.WriteString(comment(doc))
		fmt.Fprintf(b, "  %s%s %s%s\n", memberName(m.name), mark, d.text(m.typ), note(notes))
	}
	if t.rest != nil {
		fmt.Fprintf(b, "  *: %s%s\n", d.text(t.rest), note(allNotes(t.rest)))
	}
	b.WriteString("}")
}

// allNotes are those of a type and of what is written with it.
func allNotes(t *typ) []string {
	if t == nil || t.name != "" {
		return nil
	}
	out := slices.Clone(t.notes)
	out = append(out, allNotes(t.of)...)
	out = append(out, allNotes(t.rest)...)
	for _, a := range t.either {
		out = append(out, allNotes(a)...)
	}
	for _, m := range t.members {
		out = append(out, allNotes(m.typ)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// text writes a type where it is used.
func (d *Draft) text(t *typ) string {
	if t.name != "" {
		if t.secret {
			return "secret " + t.name
		}
		return t.name
	}
	out := ""
	switch t.kind {
	case plain:
		out = t.text
	case record:
		var parts []string
		for _, m := range t.members {
			mark := ": "
			if m.optional {
				mark = "?: "
			}
			parts = append(parts, memberName(m.name)+mark+d.text(m.typ))
		}
		if t.rest != nil {
			parts = append(parts, "*: "+d.text(t.rest))
		}
		out = "{ " + strings.Join(parts, "  ") + " }"
	case mapOf:
		out = "map of " + d.operand(t.of)
	case listOf:
		out = "list of " + d.operand(t.of)
		if t.key != "" {
			out += " by " + t.key
		}
	case setOf:
		out = "set of " + d.operand(t.of)
	case union:
		var parts []string
		for _, a := range t.either {
			part := d.text(a)
			if a.name == "" && (a.kind == mapOf || a.kind == listOf || a.kind == setOf || a.kind == union) {
				part = "(" + part + ")"
			}
			parts = append(parts, part)
		}
		out = strings.Join(parts, " | ")
	}
	if len(t.where) > 0 {
		if t.kind != plain && t.kind != record {
			out = "(" + out + ")"
		}
		for _, x := range t.where {
			out += " where { " + x + " }"
		}
	}
	if t.secret {
		if t.kind == union {
			out = "(" + out + ")"
		}
		out = "secret " + out
	}
	return out
}

// operand writes what a container is of.
func (d *Draft) operand(t *typ) string {
	text := d.text(t)
	if t.name == "" && (t.kind == union || len(t.where) > 0) {
		return "(" + text + ")"
	}
	return text
}

// comment writes documentation above something.
func comment(doc string) string {
	var b strings.Builder
	for line := range strings.Lines(doc) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString("# " + clean(line) + "\n")
		}
	}
	return b.String()
}

// note says behind something what could not be said in it.
func note(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	if len(notes) == 1 && strings.HasPrefix(notes[0], "the sample ") {
		return "  # " + notes[0]
	}
	return "  # not said here: " + clean(strings.Join(notes, "; "))
}

// clean is a text that a comment may hold.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

func oneLine(text string) string { return strings.Join(strings.Fields(clean(text)), " ") }

// Test writes a contract test that holds the sample to the contract. stateFile is its name.
func Test(stateFile string) ([]byte, error) {
	return format.Source("contract_test.poptic", []byte(fmt.Sprintf(`# Tests of the contract beside this file: poptic test.

test "what it was drafted from is a state, and the host ends the work" {
  state %s

  advance closed
  expect commit
  expect phase closed
}
`, quoted(stateFile))))
}

// Workflow is what checks and tests a folder of contracts on GitHub.
const Workflow = `# Checks and tests the contracts of this folder. Put it below .github/workflows.
name: contracts
on: [push, pull_request]
jobs:
  poptic:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-go@v5
        with: { go-version: stable }
      - run: go install github.com/patchoptic/poptic/cmd/poptic@latest
      - run: poptic fmt --check .
      - run: poptic check --format github .
      - run: poptic test .
`
