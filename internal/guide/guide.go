// Package guide works out what an actor must know to write a proposal that is accepted: where
// it may write and what fits there, what it has to bring, what judges it, and a small proposal
// to begin from.
//
// It is made of the contract, the request and the view, and of nothing else: not of the state.
// So whoever may see the view may see it, and two states with equal views have equal guides
// (spec/semantics.md section 11.4). In what cannot be told from the view, which keys a
// container has that is not shown, it says so.
//
// Four files: the places (places.go), the shape of what may stand there (shape.go), values
// that fit (sample.go), and the proposal (example.go).
package guide

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
	"github.com/patchoptic/poptic/internal/verify"
)

// A Guide is all that an actor has to be told beside the view.
type Guide struct {
	Task       string          `json:"task"` // what the contract says, or one sentence made from what the stage may do
	Arguments  []Argument      `json:"arguments,omitempty"`
	Places     []Place         `json:"places"`
	Omitted    int             `json:"omitted,omitempty"` // places that are not listed, for there are too many
	Takes      []string        `json:"takes,omitempty"`   // places that may be copied and moved from, as those of Places
	Types      []NamedShape    `json:"types,omitempty"`   // the shapes that others name, each once
	Produce    []string        `json:"produce,omitempty"` // places that must be there afterwards
	Conditions []string        `json:"conditions,omitempty"`
	Next       []string        `json:"next,omitempty"` // phases to go on to; of several, the answer names one
	Example    json.RawMessage `json:"example"`        // a patch that passes format, scope and schema on this view, where Guesses is false
	Guesses    bool            `json:"guesses,omitempty"`
	Attempts   int             `json:"attempts,omitempty"` // the tries of a step, where the stage says
}

// An Argument is what a parameter is bound to, and what the contract says of that: of a value
// its literals and members, of a key the condition under which it is bound.
type Argument struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Meaning []string        `json:"meaning,omitempty"` // at most MaxMeanings
}

// A Place is somewhere a patch may write: there and, if something stands there, below.
type Place struct {
	Path    string          `json:"path"`           // a JSON Pointer, with the tokens of Keys to be replaced
	Keys    []Keys          `json:"keys,omitempty"` // for each token that stands for many, in their order
	Ops     []string        `json:"ops"`            // of add, replace and remove
	Exists  bool            `json:"exists"`         // the view shows something there, or its type has it
	Shape   Shape           `json:"shape"`
	Except  []string        `json:"except,omitempty"` // places among these that may not be written
	Doc     string          `json:"doc,omitempty"`    // what the contract says of it
	Example json.RawMessage `json:"example,omitempty"`
	Guesses bool            `json:"guesses,omitempty"` // Example has keys of containers that the view does not show
}

// Keys says what a token of a path, such as <key>, stands for.
type Keys struct {
	Token string   `json:"token"`
	Of    string   `json:"of"`              // the container that it is a key, or a position, of
	Known []string `json:"known,omitempty"` // those that the view shows, as they stand in a pointer; at most MaxKnown
	New   bool     `json:"new,omitempty"`   // one that is not there yet is possible
	Fresh string   `json:"fresh,omitempty"` // such a key, where not any text is one
}

// Limits of what is listed.
const (
	MaxPlaces = 100
	MaxKnown  = 20

	MaxMeanings = 8
)

// A Request is what a guide is asked for: a stage, in a phase, with what the host gave.
type Request struct {
	Stage, Phase string
	Args         map[string]string
}

// Of is the guide to a stage whose view is given. The stage must exist, and the request be
// one that the view was shown for. Cost: linear in the types of what may be written and in
// the containers of the view that lead there.
func Of(p *verify.Program, r Request, view *tree.Node) Guide {
	c := p.Contract()
	b := &builder{program: p, contract: c, stage: c.Stage(r.Stage), phase: r.Phase, given: r.Args, view: view, named: map[string]ir.TypeID{}, values: map[ir.TypeID][]*tree.Node{}}
	b.args = b.bind(r.Args)
	b.places()
	b.takes()
	b.guide.Next = b.next()
	b.guide.Produce = b.produce()
	b.guide.Conditions = b.conditions()
	b.guide.Attempts = b.stage.Attempts
	b.guide.Task = cmp.Or(b.stage.Doc, b.task())
	b.example()
	return b.guide
}

// A builder makes one guide.
type builder struct {
	program  *verify.Program
	contract *ir.Contract
	stage    *ir.Stage
	phase    string
	given    map[string]string // the arguments as the host gave them
	args     region.Binding
	view     *tree.Node
	guide    Guide
	sites    []site                     // of the places
	named    map[string]ir.TypeID       // the types that have a name in the guide
	values   map[ir.TypeID][]*tree.Node // what was made of a type
}

// bind is the arguments that are keys, with those that are found in the state, which the view
// shows. Those that are values are told as they are; one with a secret is not.
func (b *builder) bind(given map[string]string) region.Binding {
	args := region.Binding{}
	for _, p := range b.stage.Params {
		value, known := given[p.Name]
		if p.Kind == ir.DependentParam {
			n := nodeAt(b.view, p.Of.Bind(args))
			known = n != nil && n.Kind() == ir.String
			if known {
				value = n.Text()
			}
		}
		if known {
			args[p.Name] = value
			a := Argument{Name: p.Name, Value: encoded(value)}
			if p.Where != nil && p.Where.Message != "" && b.mayName(ir.Gate{Kind: ir.BindGate, Name: p.Name}) {
				a.Meaning = []string{p.Where.Message}
			}
			b.guide.Arguments = append(b.guide.Arguments, a)
		}
	}
	given = b.program.Arguments(b.stage.Name, given)
	for _, v := range b.stage.Values {
		n, err := tree.Parse([]byte(given[v.Name]), tree.DefaultLimits)
		if err != nil || v.Secret {
			continue
		}
		a := Argument{Name: v.Name, Value: json.RawMessage(given[v.Name])}
		b.mean(&a, v.Type, n, "")
		b.guide.Arguments = append(b.guide.Arguments, a)
	}
	return args
}

// mayName reports whether the actor may know of a gate of the stage.
func (b *builder) mayName(gate ir.Gate) bool {
	return slices.ContainsFunc(b.stage.Gates, func(g ir.Gate) bool {
		return g.Kind == gate.Kind && g.Name == gate.Name && g.Visibility != ir.Hidden
	})
}

// mean adds what the contract says of a value, or the part of one that is at a member: of
// the literals and members that it has.
func (b *builder) mean(a *Argument, id ir.TypeID, n *tree.Node, at string) {
	say := func(at, doc string) {
		if text := inline(doc); text != "" && len(a.Meaning) < MaxMeanings {
			if at != "" {
				text = at + ": " + text
			}
			a.Meaning = append(a.Meaning, text)
		}
	}
	switch t := &b.contract.Types[id]; t.Kind {
	case ir.LiteralType:
		if only, err := tree.Parse([]byte(t.Literal), tree.DefaultLimits); err == nil && tree.Equal(only, n) {
			say(at, t.Doc)
		}
	case ir.UnionType:
		for _, id := range t.Alternatives {
			if k := b.contract.Types[id].Kind; k == ir.LiteralType || k == ir.UnionType {
				b.mean(a, id, n, at)
			}
		}
	case ir.RecordType:
		for _, m := range t.Members {
			child := n.Get(m.Name)
			if child == nil {
				continue
			}
			below := m.Name
			if at != "" {
				below = at + "." + m.Name
			}
			say(below, m.Doc)
			b.mean(a, m.Type, child, below)
		}
	}
}

// nodeAt is what stands at a pattern without wildcards, nil if nothing does.
func nodeAt(n *tree.Node, p region.Pattern) *tree.Node {
	for _, s := range p.Segments {
		if n == nil || s.Kind != region.KeyLiteral && s.Kind != region.Literal {
			return nil
		}
		n = n.Get(s.Text)
	}
	return n
}

// next are the phases that the stage may go on to from where it is.
func (b *builder) next() []string {
	var out []string
	if from := b.contract.Phase(b.phase); from != nil {
		for _, to := range b.stage.Next {
			if slices.ContainsFunc(from.Arrows, func(a ir.Arrow) bool { return a.To == to }) {
				out = append(out, to)
			}
		}
	}
	return out
}

func (b *builder) produce() []string {
	var out []string
	for _, p := range b.stage.Produce {
		out = append(out, b.pointerOf(p))
	}
	return out
}

// pointerOf writes a pattern as a pointer, a wildcard as *.
func (b *builder) pointerOf(p region.Pattern) string {
	out := ""
	for _, s := range p.Bind(b.args).Segments {
		switch s.Kind {
		case region.KeyLiteral, region.Literal:
			out += "/" + escaped(s.Text)
		case region.FreshSegment:
			out += "/-"
		case region.IndexLiteral:
			out += fmt.Sprintf("/%d", s.Index)
		case region.AnyDepth:
			out += "/**"
		default:
			out += "/*"
		}
	}
	return out
}

func escaped(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}

// conditions are what judges a proposal beside the types of what it writes, as far as the
// actor may know of it: by its message, or as the contract has it.
func (b *builder) conditions() []string {
	var out []string
	add := func(text string) {
		if text != "" && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	for i := range b.stage.Gates {
		g := &b.stage.Gates[i]
		if g.Visibility == ir.Hidden {
			continue
		}
		switch g.Kind {
		case ir.RequireGate, ir.EnsureGate:
			for j, x := range b.stage.Conditions(g.Kind) {
				if fmt.Sprint(j+1) == g.Name {
					add(b.told(g, x.Message, inline(x.Source)))
				}
			}
		case ir.GuardGate:
			if x := b.guard(g.Name); x != nil {
				add("to move on to " + g.Name + ": " + b.told(g, x.Message, inline(x.Source)))
			}
		case ir.TypeGate:
			if text := b.constraintAbove(*g.At); text != "" {
				add(text)
			}
		case ir.BindGate: // it holds, or there is no view
		default:
			if inv := b.contract.Invariant(g.Name); inv != nil && (g.Kind != ir.ChangeGate || b.changesEntries(inv)) {
				add(b.ruleText(g, inv))
			}
		}
	}
	return out
}

// changesEntries reports whether a change rule may have anything to say: one over entries is asked of
// those that were there, and a stage that only adds some has none.
func (b *builder) changesEntries(inv *ir.Invariant) bool {
	if inv.Each == nil || len(b.sites) == 0 || b.guide.Omitted > 0 {
		return true
	}
	over := inv.Each.Over.Segments
	return slices.ContainsFunc(b.sites, func(s site) bool {
		if len(s.segments) < len(over) {
			return leadsTo(s.segments, over)
		}
		return leadsTo(over, s.segments) && !b.isNew(s.segments[len(over)-1])
	})
}

// isNew reports whether a segment is the key of an entry that the stage is to add.
func (b *builder) isNew(key region.Segment) bool {
	return slices.ContainsFunc(b.stage.Params, func(p ir.Param) bool {
		return p.Kind == ir.NewParam && key.Kind == region.KeyLiteral && b.args[p.Name] == key.Text
	})
}

func (b *builder) ruleText(g *ir.Gate, inv *ir.Invariant) string {
	switch {
	case inv.Unique != nil:
		return b.told(g, inv.Message, uniqueText(inv.UniquePlaces()))
	case inv.Each != nil && inv.Message == "":
		return "for " + inv.Each.Source() + ": " + inline(inv.Expr.Source)
	}
	return b.told(g, inv.Message, inline(inv.Expr.Source))
}

// maxBeside is how long a condition may be to stand beside its message.
const maxBeside = 160

// told is a condition by its message, and behind it as it is written, where that is about nothing but what the actor
// sees, and says what the message leaves open. Without a message it is as it is written.
func (b *builder) told(g *ir.Gate, message, written string) string {
	switch {
	case message == "" && g.Visibility != ir.Seen:
		return written
	case message == "":
		return written + b.measuresIn(written)
	case g.Visibility != ir.Seen || len(written) > maxBeside || saysAll(message, written):
		return message
	}
	return message + ": " + written + b.measuresIn(written)
}

// measuresIn says what the measures are that a condition names.
func (b *builder) measuresIn(written string) string {
	var out []string
	for i := range b.contract.Measures {
		m := &b.contract.Measures[i]
		if m.Where == nil && slices.Contains(writtenName.FindAllString(written, -1), m.Name) {
			out = append(out, fmt.Sprintf("%s is the %s of %s", m.Name, m.Kind, m.Over.Source()))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return ", where " + strings.Join(out, " and ")
}

var (
	writtenName   = regexp.MustCompile(`[.?]?\w+`)
	writtenNumber = regexp.MustCompile(`\b\d+(\.\d+)?\b`)
	writtenMember = regexp.MustCompile("[.?]([A-Za-z_]\\w*|`[^`]+`)\\s*([(\\[]?)")
)

// saysAll reports whether a message has the texts and numbers of a condition; of one that has no texts also the members, but
// for containers of which it looks at one entry.
func saysAll(message, written string) bool {
	has := func(word string) bool {
		return strings.Contains(strings.ToLower(message), strings.ToLower(strings.Trim(word, "`")))
	}
	texts := false
	for _, m := range quotedText.FindAllStringSubmatch(written, -1) {
		if text := m[1] + m[2]; text != "" {
			if texts = true; !has(text) {
				return false
			}
		}
	}
	rest := quotedText.ReplaceAllString(written, "")
	for _, n := range writtenNumber.FindAllString(rest, -1) {
		if !has(n) {
			return false
		}
	}
	for _, m := range writtenMember.FindAllStringSubmatch(rest, -1) {
		if !texts && m[2] == "" && !has(m[1]) {
			return false
		}
	}
	return true
}

// uniqueText says that no two entries hold the same at some places: of several, at all of them.
func uniqueText(places []region.Pattern) string {
	if len(places) == 1 {
		return "no two values at " + places[0].Source() + " are the same"
	}
	var members []string
	over, _, _ := ir.EntryOf(places[0])
	for _, p := range places {
		_, rest, _ := ir.EntryOf(p)
		members = append(members, strings.TrimPrefix(region.Pattern{Segments: rest}.Source(), "/"))
	}
	return "no two of " + over.Source() + " have the same " + strings.Join(members[:len(members)-1], ", ") + " and " + members[len(members)-1]
}

func (b *builder) guard(to string) *ir.Expr {
	if from := b.contract.Phase(b.phase); from != nil {
		for _, a := range from.Arrows {
			if a.To == to {
				return a.Guard
			}
		}
	}
	return nil
}

// constraintAbove says what a type demands of a node that is written only in part: the shape
// of a part does not tell.
func (b *builder) constraintAbove(at region.Pattern) string {
	bound := at.Bind(b.args).Segments
	if slices.ContainsFunc(b.sites, func(s site) bool { return len(s.segments) == len(bound) && leadsTo(bound, s.segments) }) {
		return "" // its shape says it
	}
	for i := range b.sites {
		word := b.sites[i].segments
		if len(word) <= len(bound) || !leadsTo(bound, word) {
			continue
		}
		var all []string
		for _, id := range b.typesAt(at) {
			all = append(all, b.contract.Types[id].Demands()...)
		}
		if len(all) > 0 {
			return b.pointerOf(at) + ": " + strings.Join(all, "; ")
		}
	}
	return ""
}

// leadsTo reports whether segments match the first of some others.
func leadsTo(above, word []region.Segment) bool {
	for i, s := range above {
		if w := word[i]; s.Text != w.Text && !isWildcard(s) && !isWildcard(w) {
			return false
		}
	}
	return true
}

func isWildcard(s region.Segment) bool {
	return s.Kind == region.AnySegment || s.Kind == region.AnyKey || s.Kind == region.AnyIndex || s.Kind == region.AnyDepth
}

// inline is an expression on one line.
func inline(source string) string { return strings.Join(strings.Fields(source), " ") }

// task makes a sentence of what the stage may do.
func (b *builder) task() string {
	var parts []string
	if len(b.guide.Produce) > 0 {
		parts = append(parts, "bring "+listed(b.guide.Produce))
	}
	var paths []string
	for _, p := range b.guide.Places {
		if !slices.Contains(b.guide.Produce, p.Path) {
			paths = append(paths, p.Path)
		}
	}
	if len(paths) > 0 {
		parts = append(parts, "change "+listed(paths))
	}
	switch next := b.guide.Next; len(next) {
	case 0:
	case 1:
		parts = append(parts, "move on to the phase "+next[0])
	default:
		parts = append(parts, "choose how to go on: "+strings.Join(next[:len(next)-1], ", ")+" or "+next[len(next)-1])
	}
	if len(parts) == 0 {
		parts = []string{"look at the view, and change nothing"}
	}
	return fmt.Sprintf("Do the step %q: %s.", b.stage.Name, strings.Join(parts, "; "))
}

// listed names the first few.
func listed(paths []string) string {
	const few = 3
	if len(paths) > few {
		return strings.Join(paths[:few], ", ") + " and " + fmt.Sprint(len(paths)-few) + " more"
	}
	return strings.Join(paths, ", ")
}
