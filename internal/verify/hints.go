package verify

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/tree"
)

// What hints say. A hint is to let an actor mend what it sent: it says what a type asks for,
// or where a stage may write. It is made of the contract, of the stage's arguments and of the
// kind of what was found; where it lists, it says how much it does not list.

// What a type asks for.

const (
	maxListed = 8   // alternatives and members that a hint lists
	maxSource = 240 // bytes of a condition that a hint shows
)

// asks says what a value of a type is, down to the members of a record.
func (ts *types) asks(id ir.TypeID) string { return ts.asked(id, true) }

func (ts *types) asked(id ir.TypeID, members bool) string {
	t := &ts.contract.Types[id]
	text := ts.plainly(id, members)
	if demands := t.Demands(); members && len(demands) > 0 {
		text += " (" + strings.Join(demands, "; ") + ")"
	}
	return text
}

func (ts *types) plainly(id ir.TypeID, members bool) string {
	t := &ts.contract.Types[id]
	switch t.Kind {
	case ir.StringType:
		return "a string"
	case ir.NumberType, ir.DecimalType:
		return "a number"
	case ir.IntType:
		return "an integer"
	case ir.BoolType:
		return "true or false"
	case ir.AnyType:
		return "any value"
	case ir.LiteralType:
		return t.Literal
	case ir.RefType:
		return "a key of " + t.Target.Source()
	case ir.UnionType:
		return ts.alternatives(t, members)
	case ir.MapType:
		return "an object, each member " + ts.asked(t.Elem, false)
	case ir.KeyedType:
		return "an object, each member " + ts.asked(t.Elem, false) + " under the value of its " + t.KeyField
	case ir.ListType, ir.SetType, ir.LogType:
		return "an array, each element " + ts.asked(t.Elem, false)
	case ir.RecordType:
		if members {
			return ts.members(t)
		}
		return "an object"
	}
	return cmp.Or(t.Name, string(t.Kind))
}

// alternatives are those of a union, of which literals stand together.
func (ts *types) alternatives(t *ir.Type, members bool) string {
	var literals, others []string
	for _, alt := range t.Alternatives {
		if a := &ts.contract.Types[alt]; a.Kind == ir.LiteralType {
			literals = append(literals, a.Literal)
		} else if text := ts.oneOf(alt, members, len(t.Alternatives) < 4); !slices.Contains(others, text) {
			others = append(others, text)
		}
	}
	if len(literals) > 1 {
		literals = []string{"one of " + someOf(literals)}
	}
	all := append(literals, others...)
	if len(all) > maxListed {
		return strings.Join(all[:maxListed], " or ") + fmt.Sprintf(" or %d more", len(all)-maxListed)
	}
	return strings.Join(all, " or ")
}

// oneOf is an alternative of a union: of a record among many, what it is told from the others by.
func (ts *types) oneOf(id ir.TypeID, members, few bool) string {
	t := &ts.contract.Types[id]
	if !members || few || t.Kind != ir.RecordType {
		return ts.asked(id, members && few)
	}
	var all []string
	for _, m := range t.Members {
		switch {
		case m.Optional:
		case ts.contract.Types[m.Type].Kind == ir.LiteralType:
			all = append(all, strconv.Quote(m.Name)+": "+ts.contract.Types[m.Type].Literal)
		default:
			all = append(all, strconv.Quote(m.Name))
		}
	}
	if len(all) == 0 {
		return "an object"
	}
	return "an object with " + someOf(all)
}

// members are those of a record, those that are required first.
func (ts *types) members(t *ir.Type) string {
	var all []string
	for _, optional := range []bool{false, true} {
		for _, m := range t.Members {
			if m.Optional == optional {
				text := strconv.Quote(m.Name) + ": " + ts.asked(m.Type, false)
				if optional {
					text = "optional " + text
				}
				all = append(all, text)
			}
		}
	}
	if t.Rest != ir.NoType {
		all = append(all, "any other: "+ts.asked(t.Rest, false))
	}
	if len(all) == 0 {
		return "an object without members"
	}
	return "an object {" + someOf(all) + "}"
}

// someOf lists the first of some texts, and counts the others.
func someOf(all []string) string {
	if len(all) <= maxListed {
		return strings.Join(all, ", ")
	}
	return strings.Join(all[:maxListed], ", ") + fmt.Sprintf(" and %d more", len(all)-maxListed)
}

// wants is the hint for a value n that does not fit a type.
func (ts *types) wants(n *tree.Node, id ir.TypeID) string {
	text := "write " + ts.asks(id)
	if near := ts.nearestLiteral(n, id); near != "" {
		return "did you mean " + near + "? " + text
	}
	f := formOfKind(ts.contract.Types[id].Kind)
	switch {
	case n.Kind() == ir.Null:
		text += "; where there is none, leave the member out or remove it"
	case n.Kind() != ir.Array && (f == listForm || f == setForm || f == logForm):
		text += "; to append one element, add it at a path that ends in /-"
	case n.Kind() == ir.String && ts.isNumeric(id):
		text += ", without quotes"
	}
	return text
}

// isNumeric reports whether all values of a type are numbers.
func (ts *types) isNumeric(id ir.TypeID) bool {
	t := &ts.contract.Types[id]
	switch t.Kind {
	case ir.NumberType, ir.DecimalType, ir.IntType:
		return true
	case ir.LiteralType:
		return ts.literals[id] != nil && ts.literals[id].Kind() == ir.Number
	case ir.UnionType:
		return !slices.ContainsFunc(t.Alternatives, func(alt ir.TypeID) bool { return !ts.isNumeric(alt) })
	}
	return false
}

// nearestLiteral is the literal of a type that a string was meant to be, "" for none.
func (ts *types) nearestLiteral(n *tree.Node, id ir.TypeID) string {
	t := &ts.contract.Types[id]
	ids := t.Alternatives
	if t.Kind == ir.LiteralType {
		ids = []ir.TypeID{id}
	}
	if n.Kind() != ir.String || len(n.Text()) > MaxText {
		return ""
	}
	var texts []string
	for _, alt := range ids {
		if l := ts.literals[alt]; l != nil && l.Kind() == ir.String && len(texts) < MaxText {
			if strings.EqualFold(l.Text(), n.Text()) {
				return strconv.Quote(l.Text())
			}
			texts = append(texts, l.Text())
		}
	}
	if near := spell.Nearest(n.Text(), texts); near != "" {
		return strconv.Quote(near)
	}
	return ""
}

// source is the hint for a condition without a message of its own.
func source(x *ir.Expr) string {
	if x == nil || x.Message != "" {
		return ""
	}
	return "it must hold that " + tree.Shorten(strings.Join(strings.Fields(x.Source), " "), maxSource)
}

// Where a stage may do something.

// maxNearby is how many patterns a hint lists.
const maxNearby = 4

// An allowance is a grant of a stage, and what alone it lets be done there, "" for all.
type allowance struct {
	*region.Grant
	only string
}

// nearestWrites lists where the stage may write, and how.
func (v *verification) nearestWrites(ptr tree.Pointer) string {
	var all []allowance
	for i := range v.stage.Write {
		only := ""
		if rights := v.stage.RightsOf(i); rights != ir.AllRights {
			only = strings.Join(rights.Words(), " and ")
		}
		all = append(all, allowance{&v.stage.Write[i], only})
	}
	for i := range v.stage.Blind {
		all = append(all, allowance{&v.stage.Blind[i], "add what is not there"})
	}
	return v.nearest(ptr, all)
}

// nearestPlaces lists where the stage may do what regions are for.
func (v *verification) nearestPlaces(ptr tree.Pointer, regions ...region.Region) string {
	var all []allowance
	for _, r := range regions {
		for i := range r {
			all = append(all, allowance{&r[i], ""})
		}
	}
	return v.nearest(ptr, all)
}

// nearest lists the patterns that begin most like ptr, with arguments bound, as pointers,
// and counts the others.
func (v *verification) nearest(ptr tree.Pointer, allowed []allowance) string {
	type candidate struct {
		allowance
		include int
		common  int
	}
	all := make([]candidate, 0, 16)
	for _, a := range allowed {
		for j, p := range a.Include {
			all = append(all, candidate{a, j, commonPrefix(p, v.args, ptr)})
		}
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return b.common - a.common })
	var out []string
	for _, c := range all {
		text := v.grantText(c.Grant, c.include)
		if c.only != "" {
			text += " (only to " + c.only + ")"
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	text := strings.Join(out[:min(len(out), maxNearby)], ", ")
	if len(out) > maxNearby {
		text += fmt.Sprintf(" and %d more", len(out)-maxNearby)
	}
	if meant := v.meant(ptr, allowed); meant != "" {
		text += "; did you mean " + meant + "?"
	}
	return text
}

// meant is the pointer that one which is not allowed was meant to be, "" if that is not known:
// with the names of a grant in the place of misspelt ones, and positions and keys that stand
// in brackets as tokens of their own.
func (v *verification) meant(ptr tree.Pointer, allowed []allowance) string {
	tokens := outOfBrackets(ptr)
	const most = 64 // patterns that are compared
	compared := 0
	for _, a := range allowed {
		for _, p := range a.Include {
			if compared++; compared > most {
				return ""
			}
			if meant, ok := v.spelledAs(tokens, p); ok && len(a.Except) == 0 && !slices.Equal(meant, ptr) {
				return meant.String()
			}
		}
	}
	return ""
}

// spelledAs is a pointer with the names that a pattern fixes, where they are near to its own.
func (v *verification) spelledAs(tokens tree.Pointer, p region.Pattern) (meant tree.Pointer, ok bool) {
	if len(tokens) < len(p.Segments) {
		return nil, false
	}
	meant = slices.Clone(tokens)
	for i, s := range p.Segments {
		name, bound := v.args[s.Text]
		switch {
		case s.Kind == region.KeyLiteral || s.Kind == region.Literal:
			name = s.Text
		case s.Kind != region.ParamSegment || !bound:
			if !s.Matches(region.Key(tokens[i])) {
				return nil, false
			}
			continue
		}
		if name != tokens[i] && spell.Nearest(tokens[i], []string{name}) == "" {
			return nil, false
		}
		meant[i] = name
	}
	return meant, true
}

// outOfBrackets takes "orders[3]" for the tokens orders and 3.
func outOfBrackets(ptr tree.Pointer) tree.Pointer {
	var out tree.Pointer
	for _, token := range ptr {
		name, inside, open := strings.Cut(token, "[")
		if inside, closed := strings.CutSuffix(inside, "]"); open && closed && name != "" && inside != "" {
			out = append(out, name, strings.Trim(inside, `"'`))
			continue
		}
		out = append(out, token)
	}
	return out
}

// grantText writes one include of a grant as a pointer, with arguments bound, and the
// exceptions that take something from it. An actor is told the names of those that it sees.
func (v *verification) grantText(g *region.Grant, include int) string {
	p := g.Include[include]
	text := v.patternText(p)
	var named []string
	hidden := false
	for _, e := range g.Except {
		switch {
		case !mayMeet(e, p):
		case v.toActor && !v.seesSome(e):
			hidden = true
		default:
			named = append(named, v.patternText(e))
		}
	}
	if len(named) > maxNearby {
		named = append(named[:maxNearby], fmt.Sprintf("%d more", len(named)-maxNearby))
	}
	if hidden {
		named = append(named, "what it does not see")
	}
	if len(named) == 0 {
		return text
	}
	return text + " except " + strings.Join(named, " and ")
}

// seesSome reports whether the stage sees some of what a pattern matches.
func (v *verification) seesSome(p region.Pattern) bool {
	one := region.Compile(region.Region{{Include: []region.Pattern{p.Bind(v.args)}}})
	shown := region.Compile(v.stage.Read.Bind(v.args))
	return region.Overlap(one, shown, region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict == region.Yes
}

// mayMeet reports whether of two patterns one may be a beginning of the other, as far as their
// segments before the first ** tell.
func mayMeet(a, b region.Pattern) bool {
	for i := range min(len(a.Segments), len(b.Segments)) {
		x, y := a.Segments[i], b.Segments[i]
		if x.Kind == region.AnyDepth || y.Kind == region.AnyDepth {
			return true
		}
		fixed := func(s region.Segment) bool { return s.Kind == region.Literal || s.Kind == region.KeyLiteral }
		if fixed(x) && fixed(y) && x.Text != y.Text {
			return false
		}
	}
	return true
}

// patternText writes a pattern as a JSON Pointer in which * stands for any name and ** for any
// number of them, with arguments bound.
func (v *verification) patternText(p region.Pattern) string {
	if len(p.Segments) == 0 {
		return `the whole document ("")`
	}
	var b strings.Builder
	for _, s := range p.Segments {
		b.WriteByte('/')
		value, bound := v.args[s.Text]
		switch {
		case s.Kind == region.ParamSegment && bound:
			b.WriteString(region.EscapeToken(value))
		case s.Kind == region.Literal || s.Kind == region.KeyLiteral:
			b.WriteString(region.EscapeToken(s.Text))
		default:
			b.WriteString(s.Source())
		}
	}
	return b.String()
}

// commonPrefix counts the leading tokens of ptr that p matches with args bound.
func commonPrefix(p region.Pattern, args region.Binding, ptr tree.Pointer) int {
	for i, s := range p.Segments {
		if i == len(ptr) {
			return i
		}
		value, bound := args[s.Text]
		bound = bound && s.Kind == region.ParamSegment
		if bound && value != ptr[i] || !bound && !s.Matches(region.Key(ptr[i])) {
			return i
		}
	}
	return len(p.Segments)
}
