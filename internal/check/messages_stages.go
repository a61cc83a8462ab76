package check

import (
	"fmt"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Phases.

func phaseTwice(p, first *syntax.Phase) source.Diagnostic {
	return related(fault(diagnostic.DeclaredTwice, p.Name.Span, "list all its targets on one line: `a -> b, c`", "phase %s is declared twice", p.Name.Text), "first declared here", first.Name.Span)
}

func noPhases(d *syntax.PhasesDecl) source.Diagnostic {
	return fault(diagnostic.NoPhases, d.Span, "write `first -> second`, or leave `phases` out", "there is no phase in here")
}

func arrowTwice(p *syntax.Phase, a *syntax.Arrow) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, a.Span, "join the two guards with `||`", "phase %s leads to %s twice", p.Name.Text, a.To.Text)
}

func unreachablePhase(p *syntax.Phase, start string) source.Diagnostic {
	return fault(diagnostic.UnreachablePhase, p.Name.Span, "add an arrow to it, or remove it", "no way leads from %s, where instances start, to phase %s", start, p.Name.Text)
}

func endlessPhase(p *syntax.Phase) source.Diagnostic {
	return fault(diagnostic.EndlessPhase, p.Name.Span, "let some way end in a phase without arrows", "no way leads from phase %s to a phase in which an instance may end", p.Name.Text)
}

func unwalkedArrow(p *syntax.Phase, to string) source.Diagnostic {
	at := p.Name.Span
	for _, a := range p.Arrows {
		if a.To.Text == to {
			at = a.To.Span
		}
	}
	return fault(diagnostic.UnwalkedArrow, at, "give a stage in "+p.Name.Text+" the clause `next "+to+"`, or mark the arrow `by host`", "nobody can walk from %s to %s", p.Name.Text, to)
}

func noSuchArrow(cl *syntax.Clause, from *syntax.Phase, to string) source.Diagnostic {
	d := fault(diagnostic.NoSuchArrow, cl.Span, "add it to `phases`, or change the clause", "there is no arrow from phase %s to %s", from.Name.Text, to)
	return related(d, "the arrows of "+from.Name.Text, from.Span)
}

func missingIn(d *syntax.StageDecl, first string) source.Diagnostic {
	return fault(diagnostic.MissingIn, d.Name.Span, "add `in "+first+"`, or the phases you mean", "stage %s does not say in which phases it runs", d.Name.Text)
}

func clauseNeedsPhases(cl *syntax.Clause) source.Diagnostic {
	return fault(diagnostic.ClauseNeedsPhases, cl.Span, "declare `phases { ... }`, or leave the clause out", "the contract has no phases, so `%s` has no meaning", cl.Keyword.Text)
}

// Stages.

func listedTwice(n syntax.Name) source.Diagnostic {
	return fault(diagnostic.ListedTwice, n.Span, "remove one", "%s is listed twice", n.Text)
}

func paramTwice(p *syntax.Param) source.Diagnostic {
	return fault(diagnostic.DeclaredTwice, p.Name.Span, "rename one of the two", "parameter %s is declared twice", p.Name.Text)
}

func paramNotString(p *syntax.Param, what string) source.Diagnostic {
	return fault(diagnostic.ParameterType, p.Path.Span, "take it from a string or a `key of`", "a parameter is a key, so it must come from a string; this is %s", what)
}

func clauseTwice(cl, first *syntax.Clause) source.Diagnostic {
	return related(fault(diagnostic.ClauseTwice, cl.Keyword.Span, "put everything into one clause, separated by commas", "`%s` stands twice in this stage", cl.Keyword.Text), "the first one", first.Span)
}

func badAttempts(cl *syntax.Clause) source.Diagnostic {
	return fault(diagnostic.BadAttempts, cl.Number.Span, "write how many proposals one step may make, at least 1", "%d is no number of attempts", cl.Number.Value)
}

func exceptedKey(st *stage, cl *syntax.Clause, key region.Pattern) source.Diagnostic {
	list := footprint.Prefix(key, len(key.Segments)-1)
	return fault(diagnostic.ExceptedKey, cl.Span, "take "+list.Source()+" away as a whole, or leave "+key.Source()+" in: it is the name of the element",
		"%s shows elements of %s under their keys, which is what the exception on %s would hide", st.title(), footprint.Prefix(list, len(list.Segments)-1).Source(), key.Source())
}

func notRead(st *stage, clause string, g writtenGrant, w region.Word) source.Diagnostic {
	verb := map[string]string{"write": "may write", "source": "may take from"}[clause]
	if w == nil {
		return fault(diagnostic.NotRead, g.at, "simplify the "+clause+" or read clause", "it could not be decided whether %s reads all that it %s", st.title(), verb)
	}
	d := fault(diagnostic.NotRead, g.at, "add "+g.read+" to `read`, or narrow `"+clause+"`", "%s %s %s but does not read it", st.title(), verb, wordText(w))
	if cl := st.clauses["read"]; cl != nil {
		d = related(d, "what it reads", cl.Span)
		d.Fixes = []source.Fix{insertion("read it too", cl.Span.File, cl.Span.End, ", "+g.read)}
	} else if cl := st.clauses[clause]; cl != nil {
		d.Fixes = []source.Fix{insertion("read it", cl.Span.File, cl.Span.Start, "read "+g.read+" ")}
	}
	return d
}

func insertion(title string, f *source.File, at int, text string) source.Fix {
	return source.Fix{Title: title, Span: source.Span{File: f, Start: at, End: at}, Text: text}
}

func parentUncertain(st *stage, at source.Span, container string) source.Diagnostic {
	return fault(diagnostic.ParentUncertain, at, "read "+container+", or make every member on the way to it required", "%s adds to %s, which may be missing, and does not see it: a refusal would tell", st.title(), container)
}

// Gates.

func undisclosed(st *stage, g ir.Gate, sealed bool) source.Diagnostic {
	gate, declaration := gateWords(g)
	d := fault(diagnostic.UndisclosedGate, st.decl.Name.Span,
		"add `discloses "+declaration+"` to the stage if that is meant, or read "+g.Unseen,
		"%s does not see %s, which %s reads: whether its patch is accepted tells one bit about it", st.title(), g.Unseen, gate)
	if sealed {
		d.Severity = source.Error
		d.Message += ", and the contract is sealed"
	}
	return d
}

// gateWords names a gate in a sentence, and as a discloses clause names it.
func gateWords(g ir.Gate) (sentence, declaration string) {
	switch g.Kind {
	case ir.InvariantGate:
		return "invariant " + g.Name, g.Name
	case ir.GuardGate:
		return "the guard into phase " + g.Name, "next " + g.Name
	case ir.TypeGate:
		return "the type of " + g.At.Source(), anyKeys(*g.At).Source()
	case ir.RefGate:
		return "the reference at " + g.At.Source(), anyKeys(*g.At).Source()
	}
	return "its `" + string(g.Kind) + "` clause", string(g.Kind)
}

func needlessDisclosure(st *stage, ref *syntax.GateRef) source.Diagnostic {
	if ref.Path == nil && ref.Name.Text == disclosedPhase {
		return fault(diagnostic.NeedlessDisclosure, ref.Span, "leave it out", "%s never chooses between phases: nothing is disclosed", st.title())
	}
	return fault(diagnostic.NeedlessDisclosure, ref.Span, "leave it out", "%s sees all that this gate reads, or never triggers it: nothing is disclosed", st.title())
}

// Delegates.

func beyondParent(st *stage, clause string, w region.Word, who string) source.Diagnostic {
	d := fault(diagnostic.DelegateExceeds, st.clauseSpan(clause), "narrow the clause", "%s may %s %s, which is beyond %s", st.title(), clause, wordText(w), who)
	if w == nil {
		d.Message = "it could not be decided whether " + st.title() + " stays within " + who
	}
	return related(d, "the parent", st.parent.clauseSpan(clause))
}

func moreAttempts(st *stage) source.Diagnostic {
	d := fault(diagnostic.DelegateExceeds, st.clauseSpan("attempts"), fmt.Sprintf("give it at most %d", st.parent.out.Tries()), "%s may try more often than %s", st.title(), st.parent.title())
	return related(d, "the parent", st.parent.clauseSpan("attempts"))
}

func notInParent(st *stage, clause string, n syntax.Name, parent []string) source.Diagnostic {
	d := fault(diagnostic.DelegateExceeds, n.Span, "a delegate may only shrink `"+clause+"`: "+strings.Join(parent, ", "), "%s has no `%s %s` to hand down", st.parent.title(), clause, n.Text)
	return related(d, "the parent", st.parent.clauseSpan(clause))
}

// Claims.

func noSharedPhase(a, b *stage, names []syntax.Name) source.Diagnostic {
	at := names[0].Span
	for _, n := range names {
		if n.Text == b.decl.Name.Text {
			at = n.Span
		}
	}
	return fault(diagnostic.NoSharedPhase, at, "", "%s and %s never run in one phase, so the claim says nothing", a.title(), b.title())
}

func paramNotShared(n syntax.Name, st *stage) source.Diagnostic {
	return fault(diagnostic.UnknownParameter, n.Span, listOf(keys(st.params)), "%s has no parameter %s", st.title(), n.Text)
}

func choosesView(st *stage, q ir.Param, written, shown region.Pattern) source.Diagnostic {
	at := st.decl.Name.Span
	if cl := st.clauses["write"]; cl != nil {
		at = cl.Span
	}
	whole := anyKey(region.Grant{Include: []region.Pattern{shown}}, []string{q.Name}).Include[0]
	return fault(diagnostic.ChosenView, at,
		"take "+q.Of.Source()+" out of the `write` of "+st.decl.Name.Text+" and let another stage write it, whose actor is not shown what it leads to; or, if its actor may see all of that, say so: read "+whole.Source(),
		"%s may write %s, where its parameter %s is taken from: its actor chooses what %s shows next", st.title(), written.Source(), q.Name, shown.Source())
}

func requireNoGuard(st *stage, cl *syntax.Clause, shown region.Pattern) source.Diagnostic {
	return fault(diagnostic.RequireNoGuard, cl.Span,
		"a `require` refuses proposals; who may see what is for the host, which binds the arguments, or for a path that only leads to what may be seen, such as `order in /users/{user}/orders`",
		"this does not keep %s from showing %s for any arguments", st.title(), shown.Source())
}
