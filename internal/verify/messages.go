package verify

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/tree"
)

// A finding is a violation together with what decides whether the actor may see
// it (actor.go).
type finding struct {
	Violation

	rule  ir.GateKind    // the gate that failed; "" if the finding is about the proposal itself
	name  string         // of the gate, where gates of this kind have names
	at    region.Word    // the node the finding is about, nil for none
	gated region.Word    // the node whose type is the gate, where that is not at
	reads region.Region  // what the rule read, every parameter bound
	hint  region.Word    // the node that the hint names, nil if it names none
	known ir.Visibility  // Seen if the actor knows it from what it wrote itself
	own   bool           // the path is below one that the actor wrote, as it wrote it
	typed region.Pattern // of produce: the pattern, as the stage has it

	others int // how many more there are of its rule, which are not kept (collection)
}

// about makes f a finding about the node at w.
func (f finding) about(w region.Word) finding {
	f.at = slices.Clone(w)
	path := w.Pointer()
	f.Path = &path
	return f
}

// onOp makes f a finding about one operation and the path as its actor wrote it.
func (f finding) onOp(index int, path string) finding {
	f.OpIndex, f.Path = &index, &path
	return f
}

// of makes f a finding of a gate.
func (f finding) of(kind ir.GateKind, name string) finding {
	f.rule, f.name = kind, name
	return f
}

// A catalogue makes every finding there is. Its texts hold names of the contract,
// kinds, and what the actor wrote; never a value of the state.
type catalogue struct{}

var messages catalogue

func (catalogue) finding(code Code, rule, message string) finding {
	return finding{Violation: Violation{Gate: code.entry().Gate, Code: code, Rule: rule, Message: message}}
}

func (f finding) hinted(format string, args ...any) finding {
	f.Hint = fmt.Sprintf(format, args...)
	return f
}

// limit and format

func (c catalogue) problem(p *tree.Problem) finding {
	f := c.finding(Code(p.Code), "", p.Message)
	f.Hint = p.Hint
	switch {
	case p.Index == tree.WholePatch:
		return f
	case p.NoPath && p.Path == "":
		index := p.Index
		f.OpIndex = &index
		return f
	}
	return f.onOp(p.Index, p.Path)
}

func (c catalogue) decodeProblem(err *tree.DecodeError, text []byte) finding {
	f := c.finding(Code(err.Reply()), "", "the proposal: "+err.In(text))
	f.Hint = err.Hint
	return f
}

// Unreadable is the violation of a proposal of which no patch could be made, so that none
// can be judged: by what is wrong with its JSON, if err is a *tree.DecodeError.
func Unreadable(err error) Violation {
	var bad *tree.DecodeError
	if errors.As(err, &bad) {
		return messages.decodeProblem(bad, nil).Violation
	}
	return messages.finding(PatchSyntax, "", err.Error()).hinted("answer with the JSON of one proposal and nothing else").Violation
}

// noPatchMember is about an object without a patch, whose members are names.
func (c catalogue) noPatchMember(names []string) finding {
	f := c.finding(PatchSyntax, "", `the proposal has no member "patch"`)
	if len(names) == 0 {
		return f.hinted(`send the array of operations, or {"patch": [...], "next": "phase"}`)
	}
	f.Message = fmt.Sprintf(`the proposal is an object without a member "patch"; it has %s`, listOf(names, strconv.Quote))
	return f.hinted(`send the array of operations, as in [{"op": "replace", "path": "/a/b", "value": 1}], or {"patch": [...], "next": "phase"}; not the document, nor a part of it`)
}

// listOf lists the first of some texts, and counts the others.
func listOf(all []string, written func(string) string) string {
	const most, longest = 4, 40
	var b strings.Builder
	for i, text := range all {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(all)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(written(tree.Shorten(text, longest)))
	}
	return b.String()
}

func (c catalogue) unknownProposalMember(name string) finding {
	f := c.finding(PatchSyntax, "", fmt.Sprintf("a proposal has no member %q; it has patch and next", tree.Shorten(name, 40)))
	if near := spell.Nearest(name, []string{"patch", "next"}); near != "" {
		return f.hinted("did you mean %q?", near)
	}
	return f.hinted("stage, arguments and version come from the host, never from the proposal")
}

func (c catalogue) nextNoString(k ir.Kind) finding {
	return c.finding(PatchSyntax, "", "the member next names a phase; it is a string, not "+k.Article())
}

func (c catalogue) badIndex(op int, path string) finding {
	return c.finding(PointerSyntax, "", "an array index is 0 or digits that do not begin with 0").
		hinted("count from 0; - stands for the end of the array").onOp(op, path)
}

// phase

func (c catalogue) unauthorised(stage, role string, by []string) finding {
	who := "role " + role
	if role == "" {
		who = "a proposal without a role"
	}
	return c.finding(Unauthorised, "stage "+stage+", by", who+" may not run stage "+stage).
		hinted("it is for %s", strings.Join(by, ", "))
}

func (c catalogue) wrongPhase(stage, phase string, in []string) finding {
	return c.finding(PhaseViolation, "stage "+stage+", in", "stage "+stage+" does not run in phase "+phase).
		hinted("it runs in %s", strings.Join(in, ", "))
}

func (c catalogue) argument(stage, name, message string) finding {
	return c.finding(ArgumentViolation, "stage "+stage+", parameter "+name, message)
}

func (c catalogue) argumentMissing(stage string, p *ir.Param) finding {
	f := c.argument(stage, p.Name, "argument "+p.Name+" is missing")
	if p.Kind == ir.ElementParam {
		return f.hinted("give one of the strings of %s", p.Of.Source())
	}
	return f.hinted("give a key of %s", p.Of.Source())
}

func (c catalogue) argumentEmpty(stage string, p *ir.Param) finding {
	return c.argument(stage, p.Name, "argument "+p.Name+" is empty; a key has at least one character")
}

func (c catalogue) argumentReserved(stage string, p *ir.Param) finding {
	return c.argument(stage, p.Name, "argument "+p.Name+" is a key that the contract names literally at this place, so it cannot be bound")
}

// unbound is about a parameter for whose argument there is nothing in the state; it is all
// that an actor is told where there is, and the condition on it does not hold.
func (c catalogue) unbound(stage string, p *ir.Param) finding {
	message := ""
	switch of := p.Of.Source(); p.Kind {
	case ir.NewParam:
		message = fmt.Sprintf("argument %s must be a new key, and %s has it already", p.Name, of)
	case ir.DependentParam:
		message = fmt.Sprintf("argument %s is taken from %s, where there is no string", p.Name, of)
	case ir.ElementParam:
		message = fmt.Sprintf("argument %s is none of the strings of %s", p.Name, of)
	default:
		message = fmt.Sprintf("argument %s is no key of %s", p.Name, of)
	}
	return c.argument(stage, p.Name, message)
}

// unfulfilled is about a parameter whose argument there is, and the condition on it.
func (c catalogue) unfulfilled(stage string, p *ir.Param, j judgement) finding {
	f := c.argument(stage, p.Name, cmp.Or(p.Where.Message, "the condition on argument "+p.Name+" does not hold")).of(ir.BindGate, p.Name)
	f.Rule += ", where"
	switch f.Hint = source(p.Where); j {
	case breaks:
		f.Message += ": the expression could not be evaluated, which counts as violated"
	case exhausted:
		f.Message += ": the expression needs more steps than allowed"
	}
	return f
}

func (c catalogue) argumentGiven(stage string, p *ir.Param) finding {
	return c.argument(stage, p.Name, fmt.Sprintf("argument %s is taken from %s and cannot be given", p.Name, p.Of.Source()))
}

func (c catalogue) valueMissing(stage, name, text string) finding {
	return c.argument(stage, name, "argument "+name+" is missing").hinted("give a value of the type %s, as JSON", text)
}

func (c catalogue) valueNoJSON(stage, name, text string) finding {
	return c.argument(stage, name, "argument "+name+" is no JSON value").hinted("give a value of the type %s, as JSON: a text stands in double quotes", text)
}

// valueMisfit tells of a value with secrets in it neither names nor places.
func (c catalogue) valueMisfit(stage string, p *ir.ValueParam, text string, f finding) finding {
	what := ""
	if f.Path != nil && *f.Path != "" {
		what = " at " + *f.Path
	}
	if what += ": " + f.Message; p.Secret {
		what = ""
	}
	return c.argument(stage, p.Name, "argument "+p.Name+" is no value of its type"+what).hinted("its type is %s", text)
}

func (c catalogue) noNext(stage, next string) finding {
	return c.finding(TransitionViolation, "stage "+stage+", next", "stage "+stage+" does not move the phase").
		hinted("leave out next")
}

func (c catalogue) chooseNext(stage string, next []string) finding {
	return c.finding(TransitionViolation, "stage "+stage+", next", "the proposal must name the phase it moves to").
		hinted(`add "next" to {"patch": [...], "next": "phase"}: one of %s`, strings.Join(next, ", "))
}

func (c catalogue) foreignNext(stage string, next []string) finding {
	return c.finding(TransitionViolation, "stage "+stage+", next", "stage "+stage+" does not move to the phase that the proposal names").
		hinted("it moves to %s", strings.Join(next, " or "))
}

func (c catalogue) twoNexts(stage string) finding {
	return c.finding(TransitionViolation, "stage "+stage+", next", "the host and the proposal name different phases")
}

func (c catalogue) noArrow(from, to string) finding {
	return c.finding(TransitionViolation, "phase "+from, fmt.Sprintf("no arrow leads from phase %s to %s", from, to))
}

func (c catalogue) noPhase(phase string, contract *ir.Contract) finding {
	var known []string
	for i := range contract.Phases {
		known = append(known, contract.Phases[i].Name)
	}
	f := c.finding(PhaseViolation, "", fmt.Sprintf("the contract %s has no phase %s", contract.Name, tree.Shorten(phase, MaxText/2)))
	if near := spell.Nearest(phase, known); near != "" {
		return f.hinted("name the phase to go on in; %s?", near)
	}
	return f.hinted("name the phase to go on in")
}

func (c catalogue) notByHost(from, to string) finding {
	return c.finding(TransitionViolation, "phase "+from, fmt.Sprintf("the host may not move from phase %s to %s", from, to)).
		hinted("mark the arrow `by host`, or run a stage that says next %s", to)
}

// scope

func (c catalogue) outsideWrite(stage string, op int, path, allowed string) finding {
	return c.outside(WriteScopeViolation, "stage "+stage+", write", "may not write", op, path, allowed)
}

// withoutRight is about an operation that needs a right, or one of two, which the stage
// does not have there.
func (c catalogue) withoutRight(stage string, right ir.Rights, allowed string) finding {
	what := map[ir.Rights]string{
		ir.Create: "not create what is not there", ir.Update: "not update what is there", ir.Delete: "not delete what is there",
		ir.Create | ir.Update: "neither create nor update what is at this path",
	}[right]
	f := c.finding(WriteScopeViolation, "stage "+stage+", write", "the stage may "+what)
	return f.hinted("allowed: %s", allowed)
}

func (c catalogue) outsideSource(stage string, op int, path, allowed string) finding {
	return c.outside(ReadScopeViolation, "stage "+stage+", source", "may not take from", op, path, allowed)
}

func (c catalogue) outsideRead(stage string, op int, path, allowed string) finding {
	return c.outside(ReadScopeViolation, "stage "+stage+", read", "may not test", op, path, allowed)
}

func (c catalogue) outside(code Code, rule, verb string, op int, path, allowed string) finding {
	f := c.finding(code, rule, "the stage "+verb+" all of this path").onOp(op, path)
	if allowed == "" {
		f.Hint = "the stage " + verb + " anything"
		return f
	}
	return f.hinted("allowed: %s", allowed)
}

func (c catalogue) blindExisting(stage string, op int, path string) finding {
	return c.finding(WriteScopeViolation, "stage "+stage+", write blind", "the stage may only add what is not there yet").onOp(op, path)
}

func (c catalogue) entryByIndex(op int, path, kind string) finding {
	return c.finding(TypeMismatch, "", "elements of a "+kind+" are not addressed by index").
		hinted("append with add and a path that ends in /- in place of the index").onOp(op, path)
}

func (c catalogue) logSource(op int, path string) finding {
	return c.finding(TypeMismatch, "", "entries of a log are never a source: this is a log, or holds one").
		hinted("add what is meant as a value").onOp(op, path)
}

func (f finding) keyedHint(field string) finding {
	return f.hinted("elements of a keyed list go by key: use the value of %s in place of an index", field)
}

// schema

func (c catalogue) schema(rule, message string) finding {
	return c.finding(SchemaViolation, rule, message)
}

func (c catalogue) misfit(t string, k ir.Kind) finding {
	found := k.String()
	if k == ir.Array || k == ir.Object {
		found = "an " + found
	} else if k != ir.Null {
		found = "a " + found
	}
	return c.schema("type "+t, "expected "+t+", found "+found)
}

func (c catalogue) misfitInside(t string) finding {
	return c.schema("type "+t, "expected "+t+"; no alternative fits")
}

func (c catalogue) otherValue(t string, k ir.Kind) finding {
	return c.schema("type "+t, fmt.Sprintf("expected %s, found another %s", t, k))
}

func (c catalogue) unknownMember(record, name string) finding {
	return c.schema("type "+record, record+" has no such member")
}

func (c catalogue) noSuchPlace() finding {
	return c.schema("type", "by its type the state has no such place")
}

func (c catalogue) missingMember(record, name string) finding {
	return c.schema("type "+record, record+" needs this member")
}

func (c catalogue) otherKey(t *ir.Type) finding {
	return c.schema("list by "+t.KeyField, "an element of a list by "+t.KeyField+" stands under the value of its "+t.KeyField+", which never changes").
		keyedHint(t.KeyField)
}

func (c catalogue) keyedAsArray(t *ir.Type) finding {
	return c.schema("list by "+t.KeyField, "expected an object: a list by "+t.KeyField+" is an object of its elements by key, found an array").
		hinted(`write each element under the value of its %s: {"...": {%q: "...", ...}}`, t.KeyField, t.KeyField)
}

func (c catalogue) fileNotArray(t *ir.Type) finding {
	return c.schema("list by "+t.KeyField, "in a file a list by "+t.KeyField+" is an array")
}

func (c catalogue) fileNoKey(t *ir.Type) finding {
	return c.schema("list by "+t.KeyField, "an element of a list by "+t.KeyField+" is an object with a string "+t.KeyField)
}

func (c catalogue) fileSameKey(t *ir.Type) finding {
	return c.finding(DuplicateKey, "list by "+t.KeyField, "two elements have the same "+t.KeyField)
}

func (c catalogue) duplicates() finding {
	return c.schema("set", "a set has no two equal elements")
}

func (c catalogue) logChanged() finding {
	return c.schema("log_append_only", "a log only grows: what it held must stay in front").
		hinted("append with add and a path that ends in /-")
}

func (c catalogue) readsOtherwise(t string) finding {
	return c.schema("type "+t, "expected "+t+"; in a file this value would be read as another alternative: there a keyed list is an array like any other").
		hinted("write a keyed list as an object of its elements by key")
}

// constraint is about the i-th where of a type that is called t.
func (c catalogue) constraint(t string, all []rule, i int) finding {
	rule := "type " + t + ", where"
	if len(all) > 1 {
		rule += " " + nth(i)
	}
	f := c.schema(rule, cmp.Or(all[i].source.Message, "the constraint of type "+t+" does not hold"))
	f.Hint = source(all[i].source)
	return f
}

// constraints is about constraints somewhere in values of a type.
func (c catalogue) constraints(t string) finding {
	return c.schema("type "+t+", where", "a constraint in a value of type "+t+" does not hold")
}

func (c catalogue) danglingKey(target region.Pattern) finding {
	return c.schema("key of "+target.Source(), fmt.Sprintf("expected a key of %s, found a string that is none", target.Source()))
}

func (c catalogue) keyInUse(target region.Pattern) finding {
	return c.schema("key of "+target.Source(), fmt.Sprintf("this refers to a member of %s that would be gone", target.Source()))
}

func (c catalogue) notProduced(stage, pattern string) finding {
	return c.finding(ProduceViolation, "stage "+stage+", produce", "the stage must produce "+pattern)
}

// typeUnmet says of a typed node no more than that its reference, its constraint or its
// alternatives do not hold.
func (c catalogue) typeUnmet(g *ir.Gate) finding {
	at := g.At.Source()
	if g.Kind == ir.RefGate {
		return c.schema("key at "+at, "a key at "+at+" would refer to nothing")
	}
	return c.schema("type of "+at, "what the type demands of "+at+" would not hold")
}

func (c catalogue) nothingProduced(stage string) finding {
	return c.finding(ProduceViolation, "stage "+stage+", produce", "what stage "+stage+" must produce would not be there")
}

// rules

// condition is about the i-th require or ensure of a stage.
func (c catalogue) condition(s *ir.Stage, kind ir.GateKind, i int) finding {
	all := s.Conditions(kind)
	f := c.conditions(s, kind)
	if name := all[i].Name; name != "" {
		f.Rule += " " + name
	} else if len(all) > 1 {
		f.Rule += " " + nth(i)
	}
	f.Message = cmp.Or(all[i].Message, f.Message)
	f.Hint = source(&all[i])
	return f.of(kind, nth(i))
}

// conditions is about the require or ensure clauses of a stage, and does not say which.
func (c catalogue) conditions(s *ir.Stage, kind ir.GateKind) finding {
	rule := "stage " + s.Name + ", " + string(kind)
	if kind == ir.RequireGate {
		return c.finding(RequireViolation, rule, "what stage "+s.Name+" requires does not hold")
	}
	return c.finding(EnsureViolation, rule, "what stage "+s.Name+" ensures would not hold")
}

// invariant is about an invariant, or a rule about what commits change.
func (c catalogue) invariant(inv *ir.Invariant) finding {
	code := InvariantViolation
	if inv.Change {
		code = ChangeViolation
	}
	f := c.finding(code, inv.Title(), cmp.Or(inv.Message, inv.Title()+" would not hold")).of(inv.Gate(), inv.Name)
	if inv.Message == "" {
		f.Hint = source(inv.Expr)
	}
	return f
}

func (c catalogue) guard(from, to string) finding {
	f := c.finding(TransitionViolation, fmt.Sprintf("phase %s -> %s, when", from, to), fmt.Sprintf("the guard of the move from %s to %s does not hold", from, to))
	f.Gate = GateInvariant
	return f
}

// broken turns the finding of a rule that does not hold into that of a rule that
// could not be evaluated, at the same gate.
func (f finding) broken() finding {
	f.Hint = ""
	f.Code, f.Message = EvaluationError, f.Message+": the expression could not be evaluated, which counts as violated"
	return f
}

// tooCostly is the same for an evaluation that exceeded its limit.
func (f finding) tooCostly() finding {
	f.Gate, f.Code, f.Message, f.Hint = GateLimit, LimitExceeded, "the expression needs more steps than allowed", ""
	return f
}

// measure is about the condition of a measure.
func (c catalogue) measure(m *ir.Measure) finding {
	return c.finding(EvaluationError, "measure "+m.Name, "measure "+m.Name+" has no value")
}

func (c catalogue) refused() Violation {
	return Violation{Gate: GateInvariant, Code: Refused, Message: "refused by a rule over data this stage does not see"}
}

// below makes f the finding of a rule over the value at w.
func (f finding) below(r *rule, w region.Word) finding {
	f = f.about(w)
	f.reads = r.readsBelow(w)
	return f
}

// What a check keeps of what it finds.

// MaxViolations is how many violations a reply lists; further ones are counted.
const MaxViolations = 100

// MaxText is how many bytes of each text a violation shows, as JSON writes them: what an actor sent comes
// back in paths, messages and hints, and must not come back whole.
const MaxText = 512

// A collection is what a check has found: of each rule the first findings, and how
// many others there are. What an actor sends, or a state holds, can be wrong in
// millions of places; what is kept of that does not grow with it.
//
// Findings of one rule stand together because an actor is told of some rules and not
// of others: none that is hidden may take the place of one that is told.
type collection struct {
	found []finding
	total int // with those that are not in found
	kept  map[group]kept
}

// A group is the findings that are of one rule, and that the actor knows alike.
type group struct {
	code  Code
	rule  string
	gate  ir.GateKind
	known ir.Visibility
	gated string // the path of the node whose type is the gate, where that is another
}

// kept is how many findings of a group are in a collection, and where the last is.
type kept struct{ count, last int }

// add takes in a finding; at makes it one about its place, which costs something, and
// is asked only if the finding is kept.
func (c *collection) add(f finding, at func(finding) finding) {
	g := group{f.Code, f.Rule, f.rule, f.known, f.gated.Pointer()}
	c.total += 1 + f.others
	k := c.kept[g]
	if k.count == MaxViolations {
		c.found[k.last].others += 1 + f.others
		return
	}
	if c.kept == nil {
		c.kept = map[group]kept{}
	}
	c.kept[g] = kept{k.count + 1, len(c.found)}
	c.found = append(c.found, at(f))
}

// addAll takes in findings as they are.
func (c *collection) addAll(found []finding) {
	for _, f := range found {
		c.add(f, asItIs)
	}
}

func asItIs(f finding) finding { return f }

// MaxReply is how many bytes a reply has as JSON if the host does not say otherwise:
// violations beyond it are counted. MinReply is the least that it can say.
const (
	MaxReply = 4096
	MinReply = 2048
)

// besideViolations is what of MaxReply is for all else: digests, phases, attempts.
const besideViolations = 1024

// violations is what a reply lists of what was found, within the limits of p.
func (p *Program) violations(found []finding) (listed []Violation, more int) {
	return violations(found, max(cmp.Or(p.limits.Reply, MaxReply), MinReply))
}

// violations is what a reply of so many bytes lists of what was found, its texts cut, and how many
// violations there are beside those. What says the same as one before it is said once.
func violations(found []finding, bytes int) (listed []Violation, more int) {
	listed = make([]Violation, 0, min(len(found), MaxViolations))
	said := map[string]bool{}
	room, line := bytes-besideViolations, []byte(nil)
	for i := range found {
		more += found[i].others
		v := found[i].Violation.cut()
		line = appendViolation(line[:0], v)
		switch room -= len(line) + 1; {
		case said[string(line)]:
			room += len(line) + 1
		case len(listed) == MaxViolations || room < 0:
			room = -1
			more++
		default:
			said[string(line)] = true
			listed = append(listed, v)
		}
	}
	return listed, more
}

// withoutFollowing leaves out the rules that have no value where another one, which reads
// some of the same, does not hold: what is wrong is told by that one. unjudged reports
// whether there are any.
func withoutFollowing(found []finding) (without []finding, unjudged bool) {
	var failed region.Region
	broken := false
	for i := range found {
		switch f := &found[i]; {
		case f.Code == EvaluationError:
			broken = true
		case f.rule != "" && f.Gate != GateLimit:
			failed = append(failed, f.reads...)
		}
	}
	if !broken || len(failed) == 0 {
		return found, false
	}
	set := region.Compile(failed)
	without = slices.DeleteFunc(slices.Clone(found), func(f finding) bool {
		return f.Code == EvaluationError && f.rule != "" &&
			region.Overlap(set, region.Compile(f.reads), region.Plain, region.Plain, region.Options{VerdictOnly: true}).Verdict == region.Yes
	})
	return without, len(without) < len(found)
}

// cut is v with its texts cut to MaxText.
func (v Violation) cut() Violation {
	if v.Path != nil {
		if path := shorten(*v.Path); path != *v.Path {
			v.Path = &path
		}
	}
	v.Rule, v.Message, v.Hint = shorten(v.Rule), shorten(v.Message), shorten(v.Hint)
	return v
}

// shorten cuts a text so that it has MaxText bytes as it is written in JSON.
func shorten(text string) string {
	const escaped = 6 // the most bytes that one byte is written as
	if len(text) <= MaxText/escaped {
		return text
	}
	for most := MaxText; most > 0; most = most * 9 / 10 {
		if text := tree.Shorten(text, most); len(appendText(nil, "", text)) <= MaxText+2 {
			return text
		}
	}
	return ""
}
