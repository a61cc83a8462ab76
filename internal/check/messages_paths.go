package check

import (
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Paths.

func tooManyChoices(p *syntax.Path) source.Diagnostic {
	return fault(diagnostic.TooManyChoices, p.Span, "use fewer `(a|b)`, or `*`", "the alternatives of this path multiply to more than %d", MaxChoices)
}

func notOnePlace(p *syntax.Path, s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.NotOnePlace, s.Span, "name every step, or use a parameter", "%s must lead to one place; %s leads to many", p.Text, s.Span.Text())
}

func choiceNotAllowed(p *syntax.Path) source.Diagnostic {
	return fault(diagnostic.NotOnePlace, p.Span, "write one declaration for each", "alternatives have no meaning here")
}

func notAMap(p *syntax.Path, what string) source.Diagnostic {
	return fault(diagnostic.NotAMap, p.Span, "name a map or a `list of T by FIELD`", "%s has no keys to choose from: it is %s", p.Text, what)
}

// paramLater: the path of p uses a parameter that is declared after it.
func paramLater(p, later *syntax.Param) source.Diagnostic {
	d := fault(diagnostic.UnknownParameter, p.Path.Span, "write `"+later.Name.Text+"` before `"+p.Name.Text+"`: a parameter may use those before it", "parameter %s is declared only after %s, which uses it", later.Name.Text, p.Name.Text)
	return related(d, "declared here", later.Name.Span)
}

func unknownParam(s *syntax.PathSegment, params []string) source.Diagnostic {
	d := fault(diagnostic.UnknownParameter, s.Span, "", "there is no parameter %s here", s.Text)
	switch near := source.Nearest(s.Text, params); {
	case near != "":
		d.Help = "did you mean `{" + near + "}`?"
		d = replaced(d, s.Span, "{"+near+"}")
	case len(params) == 0:
		d.Help = "parameters are declared after a stage's name: `stage NAME(" + s.Text + " in /PATH)`; elsewhere use `*`"
	default:
		d.Help = listOf(params)
	}
	return d
}

func noSuchMember(s *syntax.PathSegment, what string, names []string) source.Diagnostic {
	d := fault(diagnostic.UnknownMember, s.Span, listOf(names), "%s has no member %s, so this path matches nothing", what, s.Span.Text())
	if near := source.Nearest(s.Text, names); near != "" {
		near = region.Segment{Kind: region.KeyLiteral, Text: near}.Source()
		d.Help = "did you mean `" + near + "`?"
		d = replaced(d, s.Span, near)
	}
	return d
}

func paramInRecord(s *syntax.PathSegment, what string) source.Diagnostic {
	return fault(diagnostic.ParameterInRecord, s.Span, "parameters stand for keys of maps; name the member", "%s is a record: its members are fixed, {%s} cannot be one of them", what, s.Text)
}

func nothingBelow(s *syntax.PathSegment, above region.Pattern, what string) source.Diagnostic {
	return fault(diagnostic.NoSuchPath, s.Span, "", "%s can match nothing here: %s is %s", s.Span.Text(), above.Source(), what)
}

func positionInRead(s *syntax.PathSegment, object bool) source.Diagnostic {
	d := fault(diagnostic.PositionInRead, s.Span, "read the whole list, or `*`; or make it a `list of T by FIELD`", "what is visible in a list may not depend on the position: an insertion would move hidden elements into sight")
	if object {
		d.Help = "if " + s.Text + " is a key, write it in quotes; if it is a position, read the whole list"
		d = replaced(d, s.Span, jsonString(s.Text))
	}
	return d
}

func elementOfBag(s *syntax.PathSegment, what string) source.Diagnostic {
	return fault(diagnostic.ElementOfBag, s.Span, "grant the whole of it, or `-` to add entries", "the elements of a %s have no place of their own: they cannot be written or taken one by one", what)
}

func dashOutsideLog(s *syntax.PathSegment, what string) source.Diagnostic {
	return fault(diagnostic.DashOutsideLog, s.Span, "grant the whole list, or make it a `log of T` or a `list of T by FIELD`", "`-` adds to a log or a set; this is %s", what)
}

func dashOutsideWrite(s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.DashOutsideWrite, s.Span, "leave it out", "`-` means a new entry, which only a write clause can grant")
}

func dashNotLast(s *syntax.PathSegment) source.Diagnostic {
	return fault(diagnostic.DashNotLast, s.Span, "end the path here", "`-` grants a whole new entry; nothing can follow it")
}

// Regions.

func recursiveRegion(n syntax.Name, d *syntax.RegionDecl) source.Diagnostic {
	return related(fault(diagnostic.RecursiveRegion, n.Span, "", "region %s contains itself", d.Name.Text), "declared here", d.Name.Span)
}

func inexactRegion(at source.Span, operator string) source.Diagnostic {
	return fault(diagnostic.InexactRegion, at, "write the paths out, fewer of them and without `**` on both sides", "what `%s` leaves here is no list of paths", operator)
}

func logSource(p *syntax.Path) source.Diagnostic {
	return fault(diagnostic.LogSource, p.Span, "leave it out; a `test` needs no more than `read`", "nothing is ever taken from a log: `copy` and `move` refuse it")
}

func emptyIntersection(g *syntax.GrantExpr) source.Diagnostic {
	return fault(diagnostic.EmptyGrant, g.Span, "the operands of `&` share no path", "this grant is empty")
}

func emptyGrant(g *syntax.GrantExpr, mode region.Mode) source.Diagnostic {
	if mode == region.Plain {
		return fault(diagnostic.EmptyGrant, g.Span, "take less away, or remove the grant", "this grant is empty: its exceptions leave nothing of it")
	}
	return fault(diagnostic.EmptyGrant, g.Span,
		"a change, and what is taken, is all that is at and below a place: name the places that may be changed, or take nothing away that may lie below them",
		"this grant allows nothing: what its exceptions name may lie below every place it has")
}

func tooManySecrets(f *syntax.File) source.Diagnostic {
	return fault(diagnostic.TooManySecrets, source.Span{File: f.Source}, "make a whole record secret instead of its members", "the state has more than %d secret places", MaxSecrets)
}
