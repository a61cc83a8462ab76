package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/tree"
)

// MaxViolations is how many violations a reply lists; further ones are counted.
const MaxViolations = 100

// MaxText is how many bytes of each text a violation shows: what an actor sent comes
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

// violations is what a reply lists of what was found, its texts cut, and how many
// violations there are beside those.
func violations(found []finding) (listed []Violation, more int) {
	listed = make([]Violation, 0, min(len(found), MaxViolations))
	for i := range found {
		more += found[i].others
		if len(listed) == MaxViolations {
			more++
			continue
		}
		listed = append(listed, found[i].Violation.cut())
	}
	return listed, more
}

// cut is v with its texts cut to MaxText.
func (v Violation) cut() Violation {
	if v.Path != nil && len(*v.Path) > MaxText {
		path := tree.Shorten(*v.Path, MaxText)
		v.Path = &path
	}
	v.Rule = tree.Shorten(v.Rule, MaxText)
	v.Message = tree.Shorten(v.Message, MaxText)
	v.Hint = tree.Shorten(v.Hint, MaxText)
	return v
}
