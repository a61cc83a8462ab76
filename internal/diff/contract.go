package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// phases compares the phase graphs, arrow by arrow.
func (d *differ) phases() {
	if a, b := d.old.Phases[0].Name, d.new.Phases[0].Name; a != b {
		d.note(Changed, "", "phase", "", "an instance starts in phase %s instead of %s", b, a)
	}
	old, new := arrows(d.old), arrows(d.new)
	had, has := byName(old), byName(new)
	for _, a := range new {
		was, known := had[a.name]
		switch {
		case !known:
			d.note(Widened, "", "phase", "", "there is a way %s", a.name)
		case a.host && !was.host:
			d.note(Widened, "", "phase", "", "the host may move %s", a.name)
		case was.host && !a.host:
			d.note(Narrowed, "", "phase", "", "the host may no longer move %s", a.name)
		}
		if known {
			d.rule("guard "+a.name, was.guard, a.guard)
		}
	}
	for _, a := range old {
		if _, still := has[a.name]; !still {
			d.note(Narrowed, "", "phase", "", "there is no longer a way %s", a.name)
		}
	}
}

type arrow struct {
	name, guard string
	host        bool
}

func arrows(c *ir.Contract) []arrow {
	var out []arrow
	for _, p := range c.Phases {
		for _, a := range p.Arrows {
			x := arrow{name: "from " + p.Name + " to " + a.To, host: a.ByHost}
			if a.Guard != nil {
				x.guard = oneSpelling(a.Guard.Source)
			}
			out = append(out, x)
		}
	}
	return out
}

// byName files arrows, of those with one name the first.
func byName(arrows []arrow) map[string]arrow {
	out := make(map[string]arrow, len(arrows))
	for _, a := range arrows {
		if _, known := out[a.name]; !known {
			out[a.name] = a
		}
	}
	return out
}

// rule notes a rule of the contract that came, went or was rewritten.
func (d *differ) rule(name, was, is string) {
	switch {
	case was == is:
	case is == "":
		d.note(Widened, "", "rule", "", "no longer holds: %s", name)
	case was == "":
		d.note(Narrowed, "", "rule", "", "has to hold: %s", name)
	default:
		d.note(Changed, "", "rule", "", "was rewritten: %s", name)
	}
}

// contract compares what belongs to no stage and no phase.
func (d *differ) contract() {
	if d.old.Sealed && !d.new.Sealed {
		d.note(Widened, "", "sealed", "", "is no longer sealed: rules may tell of what a stage does not see")
	} else if d.new.Sealed && !d.old.Sealed {
		d.note(Narrowed, "", "sealed", "", "is sealed")
	}
	d.rules(invariants(d.old), invariants(d.new))
	d.rules(measures(d.old), measures(d.new))
	claims := func(c *ir.Contract) (out []string) {
		for _, x := range c.Claims {
			out = append(out, x.Text)
		}
		return out
	}
	d.names("", "claim", claims(d.new), claims(d.old), "no longer claims: %s", "claims: %s")
}

// A named rule is the text of a rule, by which two are compared.
type named struct{ name, text string }

func invariants(c *ir.Contract) []named {
	var out []named
	for _, v := range c.Invariants {
		text, bound := "", []string(nil)
		if v.Each != nil {
			text, bound = "each "+v.Each.Over.Source()+" ", []string{v.Each.Var, v.Each.Key}
		}
		if v.Unique != nil {
			var places []string
			for _, p := range v.UniquePlaces() {
				places = append(places, p.Source())
			}
			slices.Sort(places)
			text += "unique " + strings.Join(places, " ")
		} else {
			text += oneSpelling(v.Expr.Source, bound...)
		}
		out = append(out, named{v.Title(), text})
	}
	return out
}

// oneSpelling is what an expression says, whatever the names that a rule binds.
func oneSpelling(source string, bound ...string) string {
	return strings.Join(spelled(source, func(name string) string {
		if i := slices.Index(bound, name); i >= 0 {
			return fmt.Sprint("#", i)
		}
		return name
	}), " && ")
}

// measures are compared like rules, since rules use them; one that went or came
// changes no rule whose text stayed.
func measures(c *ir.Contract) []named {
	var out []named
	for _, m := range c.Measures {
		text := string(m.Kind) + " " + m.Over.Source()
		if m.Where != nil {
			text += " where " + oneSpelling(m.Where.Source)
		}
		out = append(out, named{"measure " + m.Name, text})
	}
	return out
}

func (d *differ) rules(old, new []named) {
	texts := func(list []named) map[string]string {
		out := make(map[string]string, len(list))
		for _, x := range list {
			out[x.name] = x.text
		}
		return out
	}
	had, has := texts(old), texts(new)
	for _, x := range new {
		if was := had[x.name]; was != "" || !strings.HasPrefix(x.name, "measure") {
			d.rule(x.name, was, x.text)
		}
	}
	for _, x := range old {
		if has[x.name] == "" && !strings.HasPrefix(x.name, "measure") {
			d.rule(x.name, x.text, "")
		}
	}
}
