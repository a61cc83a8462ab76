package explain

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A Document is a contract read back in words, for a reviewer who does not know the
// language and is to sign it. Its texts are Markdown of one line. What comes from the
// contract stands in them as code, or is escaped, so that no comment or message of a
// contract can pass for a part of the document.
type Document struct {
	Title    string
	Sections []Section
}

// A Section is a heading of some level, from 2, with paragraphs and then a list.
type Section struct {
	Level   int
	Heading string
	Text    []string
	Items   []Item
}

// An Item is an entry of a list: its text, then Code as it is written, then what belongs to it.
type Item struct {
	Text  string
	Code  string
	Items []Item
}

// Prose reads a compiled contract back in words: what the state holds, what each role and
// each step may see, change and copy, when and under which rules, who sees what, what is told
// by accepting and refusing, and what is proved. It says the same of equal contracts. The error
// is that of Contract. It costs what deciding the claims costs.
func Prose(c *ir.Contract) (Document, error) {
	env, err := expr.New(c, expr.Default())
	if err != nil {
		return Document{}, err
	}
	w := prose{explainer: explainer{env, footprint.Measured(c)}, c: c, described: map[string]ir.TypeID{}}
	w.head()
	w.state()
	w.phases()
	w.roles()
	w.steps()
	w.rules()
	w.authority()
	w.told()
	w.proofs()
	w.signature()
	return w.doc, nil
}

// Markdown writes a document.
func (d Document) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", d.Title)
	for _, s := range d.Sections {
		if s.Heading != "" {
			fmt.Fprintf(&b, "\n%s %s\n", strings.Repeat("#", s.Level), s.Heading)
		}
		for _, text := range s.Text {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
		if len(s.Items) > 0 {
			b.WriteString("\n")
		}
		writeItems(&b, "", s.Items)
	}
	return b.String()
}

func writeItems(b *strings.Builder, indent string, items []Item) {
	for _, i := range items {
		fmt.Fprintf(b, "%s- %s\n", indent, i.Text)
		if i.Code != "" {
			fence := strings.Repeat("`", max(3, longestRun(i.Code)+1))
			fmt.Fprintf(b, "\n%s  %s\n", indent, fence)
			for line := range strings.Lines(i.Code) {
				fmt.Fprintf(b, "%s  %s\n", indent, strings.TrimRight(line, "\r\n"))
			}
			fmt.Fprintf(b, "%s  %s\n\n", indent, fence)
		}
		writeItems(b, indent+"  ", i.Items)
	}
}

// A prose is a document in the making.
type prose struct {
	explainer
	c         *ir.Contract
	doc       Document
	described map[string]ir.TypeID // the types that have an entry of their own, by name
}

func (w *prose) section(level int, heading string, text ...string) *Section {
	w.doc.Sections = append(w.doc.Sections, Section{Level: level, Heading: heading, Text: text})
	return &w.doc.Sections[len(w.doc.Sections)-1]
}

func (s *Section) item(format string, args ...any) *Item {
	s.Items = append(s.Items, Item{Text: fmt.Sprintf(format, args...)})
	return &s.Items[len(s.Items)-1]
}

// ofList adds an entry with a list of its own, if that has any.
func (s *Section) ofList(title string, items []Item) {
	if len(items) > 0 {
		s.Items = append(s.Items, Item{Text: title, Items: items})
	}
}

func (w *prose) head() {
	w.doc.Title = "What the contract " + code(w.c.Name) + " allows"
	text := []string{"Digest: " + code(w.c.Digest())}
	if w.c.Doc != "" {
		text = append(text, quoted(w.c.Doc))
	}
	text = append(text, "This text was made from the compiled contract with this digest, and from nothing else. "+
		"A contract stands between actors (people, programs, language models) and a document, the state. An actor takes a step: it is shown a part of the state, "+
		"and proposes changes. All of a proposal is accepted, or nothing changes. What is not said here is not allowed.")
	if w.c.Sealed {
		text = append(text, "The contract is sealed: whatever an actor might learn from being accepted or refused is in its view, or declared below.")
	}
	s := w.section(2, "", text...)
	s.item("A path, such as %s, names a place of the state and everything below it.", code("/a/b"))
	s.item("%s stands for any one name, %s for any path, %s for one name or the other.", code("*"), code("**"), code("(a|b)"))
	s.item("%s is the entry that the step is about. %s at the end is the next entry of a log or set.", code("{p}"), code("-"))
	s.item("A condition stands in the words of its author, if it has any, and then as it is judged. "+
		"In it %s and %s are the state before and after the step, %s is the one value that a condition is about.", code("before"), code("after"), code("self"))
}

// state says what the document holds: its members, and the types that have names.
func (w *prose) state() {
	used := w.usedTypes()
	for _, id := range used {
		if t := w.c.Type(id); t.Name != "" && w.described[t.Name] == ir.NoType && id != w.c.State {
			w.described[t.Name] = id
		}
	}
	top := w.section(2, "What the state holds")
	root := w.c.Type(w.c.State)
	if root.Kind != ir.RecordType {
		top.item("The state is %s.", w.form(root))
	}
	top.Items = append(top.Items, w.inside(root)...)
	var named []Item
	for _, id := range used {
		t := w.c.Type(id)
		if w.described[t.Name] != id {
			continue
		}
		text := code(t.Name) + " is " + w.form(t) + "."
		if t.Doc != "" {
			text += " " + escaped(t.Doc)
		}
		named = append(named, Item{Text: text, Items: w.inside(t)})
	}
	top.ofList("The kinds of things in it:", named)
}

// usedTypes lists the types of the state and of what hosts give, each once and before what it
// is made of.
func (w *prose) usedTypes() (out []ir.TypeID) {
	seen := map[ir.TypeID]bool{ir.NoType: true}
	var add func(id ir.TypeID)
	add = func(id ir.TypeID) {
		if seen[id] {
			return
		}
		seen[id] = true
		out = append(out, id)
		t := w.c.Type(id)
		for _, m := range t.Members {
			add(m.Type)
		}
		for _, a := range t.Alternatives {
			add(a)
		}
		add(t.Rest)
		add(t.Elem)
	}
	add(w.c.State)
	for _, s := range w.c.Stages {
		for _, v := range s.Values {
			add(v.Type)
		}
	}
	return out
}

// members lists the members of a record.
func (w *prose) members(t *ir.Type) []Item {
	var out []Item
	for _, m := range t.Members {
		text := code(m.Name) + ": " + w.words(m.Type)
		if m.Optional {
			text += "; may be absent"
		}
		if m.Doc != "" {
			text += ". " + escaped(m.Doc)
		}
		out = append(out, Item{Text: text, Items: w.below(m.Type)})
	}
	if t.Rest != ir.NoType {
		out = append(out, Item{Text: "any others: " + w.words(t.Rest), Items: w.below(t.Rest)})
	}
	return out
}

// words names a type in a phrase: by its name, if it has an entry of its own, or by its form.
func (w *prose) words(id ir.TypeID) string {
	t := w.c.Type(id)
	if w.described[t.Name] == id {
		return code(t.Name)
	}
	return w.form(t)
}

func (w *prose) form(t *ir.Type) string {
	text := ""
	switch t.Kind {
	case ir.StringType:
		text = "text"
	case ir.NumberType:
		text = "a number"
	case ir.IntType:
		text = "a whole number"
	case ir.DecimalType:
		text = "an exact decimal number"
	case ir.BoolType:
		text = "true or false"
	case ir.NullType:
		text = "null"
	case ir.AnyType:
		text = "anything"
	case ir.LiteralType:
		text = code(t.Literal)
	case ir.UnionType:
		var all []string
		for _, a := range t.Alternatives {
			all = append(all, w.words(a))
		}
		text = strings.Join(all, " or ")
	case ir.MapType:
		text = "entries by name, each " + w.words(t.Elem)
	case ir.ListType:
		text = "a list, each entry " + w.words(t.Elem)
	case ir.SetType:
		text = "a set without repetitions, each entry " + w.words(t.Elem)
	case ir.LogType:
		text = "a log that only ever grows, each entry " + w.words(t.Elem)
	case ir.KeyedType:
		text = "entries found by their " + code(t.KeyField) + ", each " + w.words(t.Elem)
	case ir.RefType:
		text = "the name of an entry of " + path(t.Target.Source())
	case ir.RecordType:
		text = "a record"
		if len(t.Members) == 0 && t.Rest == ir.NoType {
			text = "an empty record"
		}
	}
	if t.Secret {
		return "**secret**, " + text
	}
	return text
}

// below lists what is in a value of a type that has no entry of its own.
func (w *prose) below(id ir.TypeID) []Item {
	t := w.c.Type(id)
	if w.described[t.Name] == id {
		return nil
	}
	return w.inside(t)
}

func (w *prose) inside(t *ir.Type) []Item {
	var out []Item
	switch t.Kind {
	case ir.RecordType:
		out = w.members(t)
	case ir.UnionType:
		for _, a := range t.Alternatives {
			alternative := w.c.Type(a)
			if inner := w.below(a); len(inner) > 0 || alternative.Doc != "" {
				text := w.words(a)
				if alternative.Doc != "" {
					text += ": " + escaped(alternative.Doc)
				}
				out = append(out, Item{Text: text, Items: inner})
			}
		}
	case ir.MapType, ir.ListType, ir.SetType, ir.LogType, ir.KeyedType:
		out = w.below(t.Elem)
	}
	return append(out, w.constraints(t.Where)...)
}

func (w *prose) constraints(where []ir.Expr) []Item {
	var out []Item
	for _, x := range where {
		out = append(out, condition("Must hold", x))
	}
	return out
}

func (w *prose) phases() {
	first := w.c.Phases[0]
	if len(w.c.Phases) == 1 && len(first.Arrows) == 0 {
		w.section(2, "The phases of the work", strings.TrimSpace("There is one, "+code(first.Name)+", which does not end. "+escaped(first.Doc)))
		return
	}
	s := w.section(2, "The phases of the work", "The work begins in "+code(first.Name)+".")
	for _, p := range w.c.Phases {
		text := code(p.Name)
		if len(p.Arrows) == 0 {
			text += " is the end"
		}
		if p.Doc != "" {
			text += ". " + escaped(p.Doc)
		}
		item := s.item("%s", text)
		for _, a := range p.Arrows {
			by := []string{}
			for _, stage := range w.c.Stages {
				by = appendIf(by, code(stage.Name), slices.Contains(stage.In, p.Name) && slices.Contains(stage.Next, a.To))
			}
			by = appendIf(by, "the program that runs the contract", a.ByHost)
			text := "From here to " + code(a.To) + ", by " + strings.Join(by, " or ")
			if a.Guard == nil {
				item.Items = append(item.Items, Item{Text: text})
				continue
			}
			item.Items = append(item.Items, condition(text+", but only if", *a.Guard))
		}
	}
}

// roles says of each role what it may do in all its steps together.
func (w *prose) roles() {
	w.section(2, "What each role may do", "The rules under which a step is accepted stand with the step, below.")
	for _, role := range w.roleNames() {
		heading := "Role " + code(role)
		if role == "" {
			heading = "Any other role"
		}
		s := w.section(3, heading)
		var steps []string
		var phases []string
		var reads, writes, copies, hands []Item
		unseen := w.places()
		for i := range w.c.Stages {
			stage := &w.c.Stages[i]
			if !runs(stage, role) {
				continue
			}
			steps = append(steps, stage.Name)
			phases = append(phases, stage.In...)
			e := w.stage(stage)
			reads = append(reads, grantItems(e.Reads)...)
			writes = append(writes, changeItems(e)...)
			copies = append(copies, grantItems(e.Sources)...)
			hands = append(hands, grantItems(grants(stage.Delegable))...)
			unseen = slices.DeleteFunc(unseen, func(p region.Pattern) bool { return w.knows(stage, p) })
		}
		s.item("May take %s, in %s.", several("the step", steps), several("the phase", w.inOrder(phases)))
		s.ofList("Sees in them:", distinct(reads))
		s.ofList("Changes in them:", distinct(writes))
		s.ofList("Copies from:", distinct(copies))
		s.ofList("May hand on:", distinct(hands))
		if unseen = outermost(unseen); len(unseen) > 0 {
			s.item("Is never shown %s.", paths(unseen))
		}
	}
}

// roleNames lists the roles by name; "" stands for those that no step names, and is there,
// the last, if some step is for every role.
func (w *prose) roleNames() []string {
	var out []string
	open := false
	for _, s := range w.c.Stages {
		out = append(out, s.By...)
		open = open || len(s.By) == 0
	}
	slices.Sort(out)
	out = slices.Compact(out)
	if open {
		out = append(out, "")
	}
	return out
}

// runs reports whether a role may take a step; one without roles is for all.
func runs(s *ir.Stage, role string) bool { return len(s.By) == 0 || slices.Contains(s.By, role) }

// inOrder lists phases once each, in the contract's order.
func (w *prose) inOrder(phases []string) []string {
	var out []string
	for _, p := range w.c.Phases {
		if slices.Contains(phases, p.Name) {
			out = append(out, p.Name)
		}
	}
	return out
}

func (w *prose) steps() {
	w.section(2, "The steps")
	for i := range w.c.Stages {
		w.step(&w.c.Stages[i])
	}
}

func (w *prose) step(stage *ir.Stage) {
	e := w.stage(stage)
	s := w.section(3, "Step "+code(stage.Name))
	if stage.Doc != "" {
		s.Text = append(s.Text, "The actor is told: "+quoted(stage.Doc))
	}
	who := "every role"
	if len(stage.By) > 0 {
		who = several("the role", stage.By)
	}
	s.item("Taken by %s, in %s.", who, several("the phase", stage.In))
	if stage.From != "" {
		s.item("What it may do comes from the step %s, which handed it on.", code(stage.From))
	}
	s.ofList("What it is about:", w.bindings(stage))
	switch {
	case len(e.Reads) == 0:
		s.item("Sees nothing of the state.")
	default:
		s.ofList("Sees:", grantItems(e.Reads))
	}
	if keys := footprint.Includes(w.model.KeysKnown(stage)); len(keys) > 0 {
		s.item("Knows by the names of entries: %s.", paths(keys))
	}
	changes := changeItems(e)
	if len(changes) == 0 {
		s.item("Changes nothing.")
	}
	s.ofList("Changes:", changes)
	s.ofList("May copy and move from:", grantItems(e.Sources))
	switch {
	case len(stage.Delegable) > 0:
		s.ofList("May hand on to others:", grantItems(grants(stage.Delegable)))
	case stage.HasDelegable:
		s.item("May hand on nothing to others.")
	}
	var handed []string
	for _, other := range w.c.Stages {
		handed = appendIf(handed, other.Name, other.From == stage.Name)
	}
	if len(handed) > 0 {
		s.item("Hands on a part of this to %s.", several("the step", handed))
	}
	if len(stage.Produce) > 0 {
		s.item("Afterwards there must be %s.", strings.Join(codesOf(authoredAll(stage.Produce)), ", "))
	}
	switch {
	case len(stage.Next) == 1:
		s.item("Once it is accepted, the phase is %s.", code(stage.Next[0]))
	case len(stage.Next) > 1:
		s.item("The actor chooses the phase that comes then: %s.", strings.Join(codesOf(stage.Next), " or "))
	}
	if len(stage.After) > 0 {
		s.item("Is planned after %s.", codes(stage.After))
	}
	s.item("An actor may try %d times.", stage.Tries())
	var conditions []Item
	for i, x := range stage.Require {
		conditions = append(conditions, condition("Before it"+named(x.Name, i, len(stage.Require)), x))
	}
	for i, x := range stage.Ensure {
		conditions = append(conditions, condition("After it"+named(x.Name, i, len(stage.Ensure)), x))
	}
	s.ofList("Refused, unless these hold:", conditions)
	var judged []Item
	for _, g := range stage.Gates {
		if g.Kind != ir.RequireGate && g.Kind != ir.EnsureGate && g.Kind != ir.ProduceGate && g.Kind != ir.BindGate {
			judged = append(judged, Item{Text: w.gate(g) + told(g)})
		}
	}
	s.ofList("Refused also, if it would break:", judged)
}

func named(name string, i, of int) string {
	switch {
	case name != "":
		return ", " + code(name)
	case of > 1:
		return fmt.Sprintf(", number %d", i+1)
	}
	return ""
}

// told says what the actor learns of a gate.
func told(g ir.Gate) string {
	switch g.Visibility {
	case ir.Disclosed:
		return " (the actor learns whether it is kept, not what it looks at)"
	case ir.Hidden:
		return " (the actor learns only that the step was refused)"
	}
	return ""
}

// bindings says what the parameters of a step stand for.
func (w *prose) bindings(stage *ir.Stage) []Item {
	var out []Item
	for _, p := range stage.Params {
		of := path(p.Of.Source())
		text := code(p.Name) + ": "
		switch p.Kind {
		case ir.ExistingParam:
			text += "an entry that there is in " + of
		case ir.NewParam:
			text += "a new name in " + of
		case ir.DependentParam:
			text += "what stands at " + of
		case ir.ElementParam:
			text += "one of those in the list " + of
		}
		if p.Where == nil {
			out = append(out, Item{Text: text})
			continue
		}
		out = append(out, condition(text+", but none unless", *p.Where))
	}
	for _, v := range stage.Values {
		text := code(v.Name) + ": given by the program that runs the contract, " + w.words(v.Type)
		if v.Secret {
			text += ". What is secret of it is not recorded"
		}
		out = append(out, Item{Text: text, Items: w.below(v.Type)})
	}
	return out
}

func (w *prose) rules() {
	s := w.section(2, "The rules", "A proposal that would break one of these is refused, whoever makes it.")
	for _, v := range w.c.Invariants {
		text := "Rule " + code(v.Name) + ", of the state at all times"
		if v.Change {
			text = "Rule " + code(v.Name) + ", of what changes"
		}
		if v.Each != nil {
			text += ", for each " + code(v.Each.Var) + " in " + path(v.Each.Over.Source())
			if v.Each.Key != "" {
				text += " with the name " + code(v.Each.Key)
			}
		}
		if v.Doc != "" {
			text += " (" + escaped(v.Doc) + ")"
		}
		if v.Unique == nil {
			x := *v.Expr
			x.Message = v.Message
			s.Items = append(s.Items, condition(text, x))
			continue
		}
		if v.Message != "" {
			text += ": " + quoted(v.Message)
		}
		if len(v.Together) == 0 {
			s.item("%s. No two of these are equal: %s.", text, path(v.Unique.Source()))
		} else {
			s.item("%s. No two entries are equal in all of these: %s.", text, paths(v.UniquePlaces()))
		}
	}
	if len(w.c.Invariants) == 0 {
		s.item("There are none but those that stand with the steps, the phases and what the state holds.")
	}
	var measures []Item
	for _, m := range w.c.Measures {
		text := code(m.Name) + " is " + map[ir.MeasureKind]string{
			ir.Sum: "the sum of", ir.Count: "the number of", ir.Min: "the least of", ir.Max: "the greatest of",
		}[m.Kind] + " " + path(m.Over.Source())
		if m.Doc != "" {
			text += " (" + escaped(m.Doc) + ")"
		}
		if m.Where == nil {
			measures = append(measures, Item{Text: text})
			continue
		}
		measures = append(measures, condition(text+", of those entries for which", *m.Where))
	}
	s.ofList("Numbers that rules use:", measures)
}

// authority says of each part of the state, and of each secret, which steps may touch it.
func (w *prose) authority() {
	s := w.section(2, "Who is shown and changes what")
	for _, m := range w.c.Type(w.c.State).Members {
		p := member(m)
		shown, changed, _ := w.touching(p)
		s.item("%s, or something below it: %s.", path(p.Source()), touched(shown, changed))
	}
	var secrets []Item
	for _, g := range w.c.Secrets {
		for _, p := range g.Include {
			shown, changed, hidden := w.touching(p)
			text := fmt.Sprintf("%s: %s.", path(p.Source()), touched(shown, changed))
			if len(hidden) > 0 {
				text += " Hidden from " + several("the role", hidden) + "."
			}
			secrets = append(secrets, Item{Text: text})
		}
	}
	s.ofList("The secrets:", secrets)
	if len(secrets) == 0 {
		s.item("Nothing is declared secret.")
	}
}

// touching lists the steps that know something at or below a place, those that may change
// it, and the roles that take none of the first.
func (w *prose) touching(p region.Pattern) (knowing, changing, hidden []string) {
	hidden = slices.DeleteFunc(w.roleNames(), func(role string) bool { return role == "" })
	for i := range w.c.Stages {
		stage := &w.c.Stages[i]
		if w.knows(stage, p) {
			knowing = append(knowing, stage.Name)
			hidden = slices.DeleteFunc(hidden, func(role string) bool { return runs(stage, role) })
		}
		changing = appendIf(changing, stage.Name, meets(stage.Write, part(p), region.Interior) || meets(stage.Blind, part(p), region.Interior))
	}
	return knowing, changing, hidden
}

// knows reports whether a step's view, what it copies, its arguments or the names that it
// sees hold something at or below a place.
func (w *prose) knows(stage *ir.Stage, p region.Pattern) bool {
	all := region.Union(region.Union(stage.Read, stage.Source), region.Union(w.model.Told(stage), w.model.KeysKnown(stage)))
	return meets(all, part(p), region.Plain)
}

// touched says which steps are shown something, and which change it.
func touched(shown, changed []string) string {
	text := "shown to no step"
	if len(shown) > 0 {
		text = "shown to " + codes(shown)
	}
	if len(changed) == 0 {
		return text + ", changed by none"
	}
	return text + ", changed by " + codes(changed)
}

// told lists what actors learn without seeing it.
func (w *prose) told() {
	s := w.section(2, "What is told without being shown", "Whether a proposal is accepted may tell one bit each time about something that the actor does not see. These are all such cases.")
	for i := range w.c.Stages {
		stage := &w.c.Stages[i]
		name := code(stage.Name)
		for _, g := range stage.Gates {
			switch g.Visibility {
			case ir.Disclosed:
				s.item("The step %s is told whether it keeps %s, which looks at %s. It is declared.", name, w.gate(g), path(g.Unseen))
			case ir.Hidden:
				s.item("The step %s is refused, without a reason, if it does not keep %s, which looks at %s. It is **not declared**.", name, w.gate(g), path(g.Unseen))
			}
		}
		for _, g := range grants(w.model.Granting(stage.Blind, region.Interior)) {
			s.item("The step %s is told whether something is there already at %s.", name, grantWords(g))
		}
		for _, p := range stage.Params {
			if p.Kind == ir.NewParam {
				s.item("The step %s is told that the name %s is free in %s.", name, code(p.Name), path(p.Of.Source()))
			}
		}
		if stage.DisclosesPhase {
			s.item("The step %s may tell something of what it sees by the phase that it chooses. It is declared.", name)
		}
	}
	if len(s.Items) == 0 {
		s.item("There are none.")
	}
}

// gate names a gate in a phrase.
func (w *prose) gate(g ir.Gate) string {
	switch g.Kind {
	case ir.InvariantGate, ir.ChangeGate:
		return "the rule " + code(g.Name)
	case ir.GuardGate:
		return "the condition of the phase " + code(g.Name)
	case ir.TypeGate:
		return "the type of " + path(g.At.Source())
	case ir.RefGate:
		return "the reference at " + path(g.At.Source())
	case ir.BindGate:
		return "the condition of " + code(g.Name)
	case ir.ProduceGate:
		return "what must be there afterwards"
	}
	return "its condition " + code(cmp.Or(g.Clause, g.Name)) + map[ir.GateKind]string{ir.RequireGate: " before", ir.EnsureGate: " after"}[g.Kind]
}

func (w *prose) proofs() {
	s := w.section(2, "What is proved", "These were decided from the contract alone, before anything runs: they hold for every state and every proposal.")
	results := decided(w.model)
	for i, a := range Answers(w.c, results) {
		item := s.item("%s: **%s**. %s", code(a.Claim), a.Answer, w.claim(w.c.Claims[i]))
		add := func(format string, args ...any) {
			item.Items = append(item.Items, Item{Text: fmt.Sprintf(format, args...)})
		}
		if a.Message != "" {
			add("%s.", escaped(a.Message))
		}
		if a.Vacuous != "" {
			add("It says nothing: %s.", escaped(a.Vacuous))
		}
		for _, x := range a.Assumes {
			add("Assumed: %s.", escaped(x))
		}
		for _, x := range a.Unmodelled {
			add("Not looked at closely: %s.", escaped(x))
		}
		for _, n := range a.Discloses {
			add("Not counted: %s.", escaped(n.Text()))
		}
	}
	for _, d := range delegates(w.model) {
		s.item("The step %s may do nothing that %s may not: **%s**.", code(d.Stage), code(d.Within), d.Answer)
	}
	if len(s.Items) == 0 {
		s.item("Nothing is claimed.")
	}
	for _, x := range w.c.Compositions {
		text := fmt.Sprintf("In claims %s stands for the steps %s together.", code(x.Name), codes(x.Stages))
		if x.Doc != "" {
			text += " " + escaped(x.Doc)
		}
		s.item("%s", text)
	}
}

// claim says a claim in words.
func (w *prose) claim(c ir.Claim) string {
	when := ""
	if c.When != nil {
		when = ", as long as " + hypothesis(*c.When)
	}
	region := func(r region.Region) string {
		var all []string
		for _, g := range grants(r) {
			all = append(all, grantWords(g))
		}
		return strings.Join(all, "; ")
	}
	switch c.Kind {
	case ir.Commutes:
		return fmt.Sprintf("Which of %s and %s comes first makes no difference%s.", code(c.Stages[0]), code(c.Stages[1]), when)
	case ir.Parallel:
		return fmt.Sprintf("%s may go on side by side: their order makes no difference%s.", codes(c.Stages), when)
	case ir.AllCommute:
		return fmt.Sprintf("In the phase %s the order of steps makes no difference.", code(c.Phases[0]))
	case ir.WithinClaim:
		return fmt.Sprintf("%s may do nothing that %s may not.", code(c.Stages[0]), code(c.Stages[1]))
	case ir.NoStage:
		except := ""
		if len(c.Except) > 0 {
			except = " but " + codes(c.Except) + " and what they delegate to"
		}
		return fmt.Sprintf("No step%s %s any of %s.", except, map[string]string{"reads": "sees", "writes": "changes", "copies": "copies from"}[c.Verb], region(c.From))
	case ir.NoFlow:
		memory := ""
		if c.Memory {
			memory = ", even if roles remember what they saw"
		}
		return fmt.Sprintf("Nothing known of %s gets to %s, by whatever steps%s.", region(c.From), region(c.To), memory)
	}
	return fmt.Sprintf("The phase %s is never entered without going through %s.", code(c.Phases[1]), code(c.Phases[0]))
}

// hypothesis says which parameters differ.
func hypothesis(h ir.Hypothesis) string {
	join := func(all []ir.Hypothesis, by string) string {
		var out []string
		for _, x := range all {
			out = append(out, hypothesis(x))
		}
		return "(" + strings.Join(out, by) + ")"
	}
	switch {
	case h.Differ == nil && len(h.All) > 0:
		return join(h.All, " and ")
	case h.Differ == nil:
		return join(h.Any, " or ")
	case h.Differ.First == h.Differ.Second:
		return code(h.Differ.First) + " is not the same in both"
	}
	return fmt.Sprintf("%s of the first is not %s of the second", code(h.Differ.First), code(h.Differ.Second))
}

func (w *prose) signature() {
	w.section(2, "Signature",
		"I have read what the contract "+code(w.c.Name)+" with the digest "+code(w.c.Digest())+" allows, and agree to it.",
		"Name: ______________________________  Date: ______________  Signature: ______________________________")
}

// places lists what an overview of the state is made of: its members, and its secrets.
func (w *prose) places() []region.Pattern {
	var out []region.Pattern
	for _, m := range w.c.Type(w.c.State).Members {
		out = append(out, member(m))
	}
	for _, g := range w.c.Secrets {
		out = append(out, g.Include...)
	}
	return out
}

// member is the place of a member of the state.
func member(m ir.Member) region.Pattern {
	return region.Pattern{Segments: []region.Segment{{Kind: region.KeyLiteral, Text: m.Name}}}
}

// outermost leaves out what lies below another one of the places.
func outermost(places []region.Pattern) []region.Pattern {
	var out []region.Pattern
	for _, p := range places {
		within := func(q region.Pattern) bool {
			return p.Source() == q.Source() || strings.HasPrefix(p.Source(), q.Source()+"/")
		}
		if !slices.ContainsFunc(out, within) {
			out = append(out, p)
		}
	}
	return out
}

func part(p region.Pattern) *region.Set {
	return region.Compile(region.Region{{Include: []region.Pattern{p}}})
}

// condition is an entry that ends in a condition: its message, if it has one, and what is judged.
func condition(text string, x ir.Expr) Item {
	if x.Message != "" {
		text += ": " + quoted(x.Message)
	}
	written := strings.TrimSpace(x.Source)
	if strings.ContainsAny(written, "\r\n") {
		return Item{Text: text + ":", Code: written}
	}
	return Item{Text: text + ": " + code(written)}
}

func grantItems(all []Grant) []Item {
	var out []Item
	for _, g := range all {
		out = append(out, Item{Text: grantWords(g)})
	}
	return out
}

func grantWords(g Grant) string {
	text := strings.Join(codesOf(g.Paths), ", ")
	if len(g.Except) > 0 {
		text += ", but not " + strings.Join(codesOf(g.Except), ", ")
	}
	return text
}

// changeItems says what a step may do to what it may change.
func changeItems(e Stage) []Item {
	var out []Item
	for _, g := range e.Writes {
		rights := "may create, change and delete "
		if len(g.Rights) > 0 {
			words := slices.Clone(g.Rights)
			for i, r := range words {
				if r == "update" {
					words[i] = "change"
				}
			}
			rights = "may only " + strings.Join(words, " and ") + " "
		}
		if !slices.ContainsFunc(g.Paths, func(p string) bool { return !strings.HasSuffix(p, "/-") }) {
			rights = "may only append to "
			g.Paths = slices.Clone(g.Paths)
			for i := range g.Paths {
				g.Paths[i] = cmp.Or(strings.TrimSuffix(g.Paths[i], "/-"), "/")
			}
		}
		out = append(out, Item{Text: rights + grantWords(g)})
	}
	for _, g := range e.Blind {
		out = append(out, Item{Text: "may only create, without seeing what is there, " + grantWords(g)})
	}
	return out
}

// distinct keeps the first of the entries that say the same.
func distinct(items []Item) []Item {
	seen := map[string]bool{}
	return slices.DeleteFunc(items, func(i Item) bool {
		again := seen[i.Text]
		seen[i.Text] = true
		return again
	})
}

// several names one thing, or many: the step `a`, the steps `a` and `b`.
func several(noun string, names []string) string {
	if len(names) != 1 {
		noun += "s"
	}
	return noun + " " + codes(names)
}

// codes joins names with commas and an "and".
func codes(names []string) string {
	all := codesOf(names)
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}

func codesOf(names []string) []string {
	var out []string
	for _, n := range names {
		out = append(out, code(n))
	}
	return out
}

// path writes a path; that of the whole state is empty.
func path(p string) string { return code(cmp.Or(p, "/**")) }

func paths(all []region.Pattern) string {
	var out []string
	for _, p := range all {
		out = append(out, path(p.Source()))
	}
	return strings.Join(out, ", ")
}

// code is a text of one line as a span of code.
func code(text string) string {
	ticks := strings.Repeat("`", longestRun(text)+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// longestRun is how many backquotes follow each other in a text at most.
func longestRun(text string) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}

// quoted is a text of the author's in quotation marks.
func quoted(text string) string { return "“" + escaped(text) + "”" }

// escaped is a text as one line, in which nothing means anything to Markdown.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(text), " ") {
		if strings.ContainsRune("\\`*_{}[]<>#|~&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
