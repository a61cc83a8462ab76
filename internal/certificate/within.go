package certificate

import (
	"fmt"
	"slices"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// That a stage lies within others: in claims, where matches say which stage may run in
// place of which with what arguments, and of delegates, which run with the parent's own
// parameters. Both come to "every pattern of the one lies in a pattern of the other, and
// meets none of its exceptions", which is told last.

// A Match says of a claim that one stage lies within another which stage may run in
// place of which, and with what arguments: for each parameter of Outer, in order, its
// name and that of the parameter of Inner whose value it has.
type Match struct {
	Inner string      `json:"inner"`
	Outer string      `json:"outer"`
	Args  [][2]string `json:"args,omitempty"`
}

func (m Match) arg(param string) string {
	for _, a := range m.Args {
		if a[0] == param {
			return a[1]
		}
	}
	return ""
}

// claimWithin checks that every stage of the one side finds, however it runs, stages of
// the other that may run in its place and together have all its grants.
func (k *checker) claimWithin(e *evidence, a, b string, given []Match) {
	for _, m := range given {
		inner, outer := k.find(a, m.Inner), k.find(b, m.Outer)
		if inner == nil || outer == nil {
			e.fail("no stage %s is compared with %s", m.Inner, m.Outer)
			return
		}
		if why := k.mismatch(inner, outer, m); why != "" {
			e.fail("%s may do what %s may not: %s", m.Inner, m.Outer, why)
			return
		}
	}
	for _, s := range k.members(a) {
		k.stageWithin(e, s, given)
	}
}

// find is a stage among those a name stands for.
func (k *checker) find(name, stage string) *ir.Stage {
	for _, s := range k.members(name) {
		if s.Name == stage {
			return s
		}
	}
	return nil
}

// stageWithin checks one stage, for each phase, role and move with which it may run.
func (k *checker) stageWithin(e *evidence, inner *ir.Stage, given []Match) {
	k.bind(inner)
	known := map[string]bool{}
	roles := inner.By
	if len(roles) == 0 {
		roles = []string{""}
	}
	for _, phase := range inner.In {
		for _, role := range roles {
			for _, to := range k.movesFrom(inner, phase) {
				var outer []Match
				set := ""
				k.spend(len(given))
				if k.spent() {
					e.fail("%s", tooMuch)
					return
				}
				for _, m := range given {
					if m.Inner == inner.Name && k.mayRun(k.stage(m.Outer), inner, phase, role, to) {
						outer = append(outer, m)
						set += " " + m.Outer
					}
				}
				if len(outer) == 0 {
					e.fail("nothing may run in place of %s in phase %s for role %q to phase %q", inner.Name, phase, role, to)
				}
				if !known[set] {
					known[set] = true
					k.grantsWithin(e, inner, outer)
				}
			}
		}
	}
}

// movesFrom lists the phases that a commit leads to from a phase, "" for none.
func (k *checker) movesFrom(s *ir.Stage, phase string) []string {
	if len(s.Next) == 0 {
		return []string{""}
	}
	var out []string
	for _, a := range k.phase(phase).Arrows {
		if contains(s.Next, a.To) {
			out = append(out, a.To)
		}
	}
	return out
}

// mayRun reports whether a stage may run in a phase, for a role ("" is any), to a phase,
// as often as another.
func (k *checker) mayRun(s, as *ir.Stage, phase, role, to string) bool {
	return contains(s.In, phase) && (len(s.By) == 0 || role != "" && contains(s.By, role)) &&
		contains(k.movesFrom(s, phase), to) && s.Tries() >= as.Tries()
}

// grantsWithin takes reasons why the grants of a stage lie in those of others, whose
// parameters are replaced by its own.
func (k *checker) grantsWithin(e *evidence, inner *ir.Stage, outer []Match) {
	all := func(part func(*ir.Stage) region.Region) region.Region {
		var out region.Region
		for _, m := range outer {
			for _, g := range part(k.stage(m.Outer)) {
				out = append(out, region.Grant{Include: renamed(g.Include, m), Except: renamed(g.Except, m)})
			}
		}
		return out
	}
	limited := false
	for _, m := range outer {
		limited = limited || k.stage(m.Outer).HasDelegable
	}
	k.shownWithin(e, inner.Name+" read", append(append(region.Region{}, inner.Read...), k.toldBeyond(inner, outer)...), all(func(s *ir.Stage) region.Region { return s.Read }))
	compared := []*ir.Stage{inner}
	for _, m := range outer {
		compared = append(compared, k.stage(m.Outer))
	}
	for _, right := range rightsOf(compared...) {
		k.within(e, inner.Name+" write"+right, granting(inner, right), all(func(s *ir.Stage) region.Region { return granting(s, right) }))
	}
	k.within(e, inner.Name+" write blind", inner.Blind, all(creating))
	k.within(e, inner.Name+" source", inner.Source, all(func(s *ir.Stage) region.Region { return s.Source }))
	if granted := inner.Handed != nil || slices.ContainsFunc(compared, func(s *ir.Stage) bool { return s.Handed != nil }); granted {
		k.handedWithin(e, inner, compared, all)
	} else if limited {
		k.shownWithin(e, inner.Name+" delegable", handedDown(inner), all(handedDown))
	}
}

// handedWithin takes reasons why what a stage hands on, kind by kind, lies in what others
// do, where one of them hands on what it need not have. What an outer stage hands on is not
// counted if it is a part of what it has, nor is it asked which part an inner one hands on:
// that may keep something from being shown, and lets nothing false through.
func (k *checker) handedWithin(e *evidence, inner *ir.Stage, compared []*ir.Stage, all func(func(*ir.Stage) region.Region) region.Region) {
	outer := func(part func(*ir.Stage) region.Region) region.Region {
		return all(func(s *ir.Stage) region.Region {
			if s.HasDelegable {
				return nil
			}
			return part(handing(s))
		})
	}
	shares := make([]*ir.Stage, len(compared))
	for i, s := range compared {
		shares[i] = handing(s)
	}
	child := shares[0]
	k.shownWithin(e, inner.Name+" delegable read", child.Read, outer(func(s *ir.Stage) region.Region { return s.Read }))
	for _, right := range rightsOf(shares...) {
		k.within(e, inner.Name+" delegable write"+right, granting(child, right), outer(func(s *ir.Stage) region.Region { return granting(s, right) }))
	}
	k.within(e, inner.Name+" delegable write blind", child.Blind, outer(creating))
	k.within(e, inner.Name+" delegable source", child.Source, outer(func(s *ir.Stage) region.Region { return s.Source }))
}

// handing is a stage with what it hands on, where that is said by kind, in place of what it has.
func handing(s *ir.Stage) *ir.Stage {
	out := *s
	for _, kind := range kindsHanded(s) {
		switch kind {
		case ir.HandsRead:
			out.Read = s.Handed.Read
		case ir.HandsWrite:
			out.Write, out.Rights, out.Blind = s.Handed.Write, s.Handed.Rights, s.Handed.Blind
		case ir.HandsSource:
			out.Source = s.Handed.Source
		}
	}
	return &out
}

func kindsHanded(s *ir.Stage) []ir.HandedKind {
	if s.Handed == nil {
		return nil
	}
	return s.Handed.Kinds
}

// rightsOf lists the rights by which stages are compared, each after a blank: none by name
// if every write grant of theirs has all of them.
func rightsOf(stages ...*ir.Stage) []string {
	for _, s := range stages {
		if len(s.Rights) > 0 {
			return []string{" create", " update", " delete"}
		}
	}
	return []string{""}
}

// granting is where a stage may write by a right that rightsOf lists.
func granting(s *ir.Stage, right string) region.Region {
	var out region.Region
	for i, g := range s.Write {
		if right == "" || len(s.Rights) == 0 || contains(s.Rights[i].Words(), right[1:]) {
			out = append(out, g)
		}
	}
	return out
}

// creating is where a stage may put something where nothing was, unseen or not.
func creating(s *ir.Stage) region.Region { return append(granting(s, " create"), s.Blind...) }

// handedDown is what delegates of a stage may be given.
func handedDown(s *ir.Stage) region.Region {
	if s.HasDelegable {
		return s.Delegable
	}
	return append(append(append(region.Region{}, s.Read...), written(s)...), s.Source...)
}

// toldBeyond is what a run is told by arguments that no other stage has.
func (k *checker) toldBeyond(inner *ir.Stage, outer []Match) region.Region {
	var out region.Region
	for i := range inner.Params {
		used := false
		for _, m := range outer {
			for _, a := range m.Args {
				used = used || a[1] == inner.Params[i].Name && k.kindOf(m.Outer, a[0]) == inner.Params[i].Kind
			}
		}
		if include := k.told(&inner.Params[i]); !used && len(include) > 0 {
			out = append(out, region.Grant{Include: include})
		}
	}
	return out
}

// kindOf is the kind of a parameter of a stage, "" if it has none of the name.
func (k *checker) kindOf(stage, name string) ir.ParamKind {
	if s := k.stage(stage); s != nil {
		if p := param(s, name); p != nil {
			return p.Kind
		}
	}
	return ""
}

// told is what an argument tells of the state: that the key is there, and where a
// keyed list has it in a field, that field; or what a list has that it is out of.
func (k *checker) told(p *ir.Param) []region.Pattern {
	if p.Kind == ir.ElementParam {
		return []region.Pattern{p.Of}
	}
	if p.Kind != ir.ExistingParam {
		return nil
	}
	key := region.Segment{Kind: region.ParamSegment, Text: p.Name}
	out := []region.Pattern{longer(p.Of, key)}
	out[0].Shallow = true
	for _, id := range k.typesAt(p.Of.Segments) {
		if t := k.contract.Type(id); t.Kind == ir.KeyedType {
			out = append(out, longer(p.Of, key, region.Segment{Kind: region.KeyLiteral, Text: t.KeyField}))
		}
	}
	return out
}

func renamed(ps []region.Pattern, m Match) []region.Pattern {
	var out []region.Pattern
	for _, p := range ps {
		out = append(out, renamedPattern(p, m))
	}
	return out
}

func renamedPattern(p region.Pattern, m Match) region.Pattern {
	q := longer(p)
	q.Shallow = p.Shallow
	for i, s := range q.Segments {
		if s.Kind == region.ParamSegment {
			q.Segments[i].Text = m.arg(s.Text)
		}
	}
	return q
}

// mismatch says why a match gives a stage arguments that it may not have, or drops a
// rule; "" if it does not.
func (k *checker) mismatch(inner, outer *ir.Stage, m Match) string {
	if k.spend(1 + len(inner.Params) + len(inner.Require) + len(outer.Params) + len(outer.Require)); k.spent() {
		return tooMuch
	}
	for _, v := range outer.Values {
		if own := inner.Value(v.Name); own == nil || !ir.SameType(k.contract, own.Type, k.contract, v.Type) {
			return fmt.Sprintf("it takes no value %q of the type", v.Name)
		}
	}
	if len(m.Args) != len(outer.Params) {
		return "not every parameter has an argument"
	}
	for i, q := range outer.Params {
		p := param(inner, m.Args[i][1])
		if m.Args[i][0] != q.Name || p == nil || !k.fits(p, q, m) {
			return fmt.Sprintf("%q is no argument for %q", m.Args[i][1], q.Name)
		}
	}
	kept := map[string]bool{}
	for _, r := range stageRules(inner, func(p string) string { return p }, inner.ParamNames()) {
		kept[r] = true
	}
	for _, r := range stageRules(outer, m.arg, append(inner.ParamNames(), outer.ParamNames()...)) {
		if !kept[r] {
			return "it drops a rule"
		}
	}
	return ""
}

func param(s *ir.Stage, name string) *ir.Param {
	for i := range s.Params {
		if s.Params[i].Name == name {
			return &s.Params[i]
		}
	}
	return nil
}

func names(params []ir.Param) []string {
	var out []string
	for _, p := range params {
		out = append(out, p.Name)
	}
	return out
}

// fits reports whether a parameter has only values that the other may have: it is of the
// same kind and from the same place, or a reference to what the other is a key of.
func (k *checker) fits(p *ir.Param, q ir.Param, m Match) bool {
	of := renamedPattern(q.Of, m).String()
	same := p.Kind == q.Kind && p.Of.String() == of
	from := p.Of
	if p.Kind == ir.ElementParam {
		from = longer(from, region.Segment{Kind: region.AnyIndex})
	}
	reference := q.Kind == ir.ExistingParam && (p.Kind == ir.DependentParam || p.Kind == ir.ElementParam) && k.refersOnlyTo(from, of)
	return (same || reference) && containsAll(p.Reserved, q.Reserved)
}

// refersOnlyTo reports whether every value at a place is a reference to a container.
func (k *checker) refersOnlyTo(at region.Pattern, container string) bool {
	types := k.typesAt(at.Segments)
	for _, id := range types {
		t := k.contract.Type(id)
		if t.Kind != ir.RefType || t.Target.String() != container {
			return false
		}
	}
	return len(types) > 0
}

// stageRules lists what a stage's own rules say, with its parameters replaced. A rule that
// binds a variable with a taken name is listed as one that nothing equals.
func stageRules(s *ir.Stage, rename func(string) string, taken []string) []string {
	own := names(s.Params)
	name := func(n string) string {
		if contains(own, n) {
			return "{" + rename(n) + "}"
		}
		if s.Value(n) != nil {
			return "{" + n + "}"
		}
		return n
	}
	var out []string
	expressions := func(clause string, xs []ir.Expr) {
		for _, x := range xs {
			list, ok := operands(x, name, taken)
			if !ok {
				list = []string{"? " + s.Name}
			}
			for _, text := range list {
				out = append(out, clause+text)
			}
		}
	}
	for i := range s.Params {
		if x := s.Params[i].Where; x != nil {
			expressions("where ", []ir.Expr{*x})
		}
	}
	expressions("require ", s.Require)
	expressions("ensure ", s.Ensure)
	for _, p := range s.Produce {
		out = append(out, "produce "+renamedPattern(p, Match{Args: pairsOf(own, rename)}).String())
	}
	return out
}

func pairsOf(own []string, rename func(string) string) [][2]string {
	var out [][2]string
	for _, p := range own {
		out = append(out, [2]string{p, rename(p)})
	}
	return out
}

// delegate checks that a delegated stage stays within its parent, and within what
// the parent hands down.
func (k *checker) delegate(e *evidence, d Delegate) string {
	child, parent := k.stage(d.Stage), k.stage(d.From)
	if parent == nil {
		return "there is no such stage"
	}
	if !inherits(child, parent) {
		return "it runs where, or for whom, its parent does not, or drops a rule"
	}
	k.bind(child)
	hands := handing(parent)
	read := child.Read
	if slices.Contains(kindsHanded(parent), ir.HandsRead) {
		read = withoutParameters(child)
	}
	k.share(e, "", child, hands, read, []ir.HandedKind{ir.HandsRead, ir.HandsWrite, ir.HandsSource})
	if parent.HasDelegable {
		k.shownWithin(e, "read, delegable", withoutParameters(child), parent.Delegable)
		k.within(e, "write, delegable", written(child), parent.Delegable)
		k.within(e, "source, delegable", child.Source, parent.Delegable)
	}
	if own := handing(child); child.Handed != nil {
		k.share(e, "delegable ", own, hands, own.Read, child.Handed.Kinds)
		if parent.HasDelegable {
			k.shownWithin(e, "delegable read, delegable", child.Handed.Read, parent.Delegable)
			k.within(e, "delegable write, delegable", append(append(region.Region{}, child.Handed.Write...), child.Handed.Blind...), parent.Delegable)
			k.within(e, "delegable source, delegable", child.Handed.Source, parent.Delegable)
		}
	}
	return e.end()
}

// share takes reasons why grants of some kinds lie in what a stage hands on.
func (k *checker) share(e *evidence, about string, child, hands *ir.Stage, read region.Region, kinds []ir.HandedKind) {
	if slices.Contains(kinds, ir.HandsRead) {
		k.shownWithin(e, about+"read", read, hands.Read)
	}
	if slices.Contains(kinds, ir.HandsWrite) {
		for _, right := range rightsOf(child, hands) {
			k.within(e, about+"write"+right, granting(child, right), granting(hands, right))
		}
		k.within(e, about+"write blind", child.Blind, creating(hands))
	}
	if slices.Contains(kinds, ir.HandsSource) {
		k.within(e, about+"source", child.Source, hands.Source)
	}
}

// bind says whose parameters names without an owner are.
func (k *checker) bind(s *ir.Stage) {
	for i := range s.Params {
		k.params[s.Params[i].Name] = &s.Params[i]
	}
}

// inherits reports whether phases, moves, roles, attempts and the keys of parameters only
// shrink and rules only grow. A stage that moves always moves, so its delegates do.
func inherits(child, parent *ir.Stage) bool {
	roles := len(parent.By) == 0 || len(child.By) > 0 && containsAll(parent.By, child.By)
	moves := containsAll(parent.Next, child.Next) && (len(child.Next) > 0 || len(parent.Next) == 0)
	params := slices.EqualFunc(child.Params, parent.Params, func(p, q ir.Param) bool {
		return p.Name == q.Name && p.Kind == q.Kind && p.Of.String() == q.Of.String() && containsAll(p.Reserved, q.Reserved)
	}) && slices.Equal(child.Values, parent.Values)
	return roles && moves && params && containsAll(parent.In, child.In) && child.Tries() <= parent.Tries() &&
		containsAll(rules(child), rules(parent))
}

func rules(s *ir.Stage) []string {
	var out []string
	for _, p := range s.Params {
		if p.Where != nil {
			out = append(out, "where "+p.Where.Source)
		}
	}
	for _, x := range s.Require {
		out = append(out, "require "+x.Source)
	}
	for _, x := range s.Ensure {
		out = append(out, "ensure "+x.Source)
	}
	for _, p := range s.Produce {
		out = append(out, "produce "+p.String())
	}
	return out
}

// withoutParameters is what a stage reads apart from the paths its parameters are
// taken from, which the host reads for it.
func withoutParameters(s *ir.Stage) region.Region {
	taken := map[string]bool{}
	for _, p := range s.Params {
		if p.Kind == ir.DependentParam {
			taken[p.Of.String()] = true
		}
	}
	var out region.Region
	for _, g := range s.Read {
		if len(g.Include) != 1 || !taken[g.Include[0].String()] {
			out = append(out, g)
		}
	}
	return out
}

// within takes, for every include of the inner region, the place G.K of an outer
// include that subsumes it (grant G, include K), and for every exception of grant G
// a reason why nothing of the inner side lies below it. That suffices for reading,
// and for writing too: what lies in the inner side with everything below it meets no
// exception of the outer grant above or below.
func (k *checker) within(e *evidence, about string, inner, outer region.Region) {
	k.sidesWithin(e, about, sides(inner, false), outer)
}

// shownWithin is within for what is read: the containers on the way count too.
func (k *checker) shownWithin(e *evidence, about string, inner, outer region.Region) {
	k.sidesWithin(e, about, showingSides(inner), outer)
}

func (k *checker) sidesWithin(e *evidence, about string, inner []side, outer region.Region) {
	if len(inner) == 0 {
		return
	}
	e.open(about)
	for _, s := range inner {
		k.spend(1)
		if k.spent() {
			e.fail("%s", tooMuch)
		}
		if e.failed() {
			return
		}
		holds := func(word string) bool {
			k.spend(1)
			g, n, ok := twoNumbers(word)
			return ok && !k.spent() && g < len(outer) && n < len(outer[g].Include) && subsumes(outer[g].Include[n], s.include) &&
				(!e.issuing || k.canPass(s, outer[g].Except))
		}
		word := e.word(places(outer), holds, "nothing holds %s", s.include.Source())
		if e.failed() {
			return
		}
		g, _, _ := twoNumbers(word)
		for _, x := range outer[g].Except {
			k.reason(e, s, side{include: x}, nil)
		}
	}
	e.close()
}

func places(r region.Region) []string {
	var out []string
	for g := range r {
		for n := range r[g].Include {
			out = append(out, fmt.Sprint(g, ".", n))
		}
	}
	return out
}

// canPass reports whether there are reasons why a side reaches below no exception.
func (k *checker) canPass(s side, except []region.Pattern) bool {
	e := &evidence{issuing: true}
	for _, x := range except {
		k.reason(e, s, side{include: x}, nil)
	}
	return !e.failed()
}
