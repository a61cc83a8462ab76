package plan

import (
	"fmt"
	"io"
)

// An Effect says in which direction a change goes.
type Effect string

// The effects. Changed is what cannot be compared, such as a rule that was rewritten;
// a reviewer must take it for widened.
const (
	Widened  Effect = "widened"
	Narrowed Effect = "narrowed"
	Changed  Effect = "changed"
)

// A Change is one thing that two contracts do not have in common.
type Change struct {
	Effect Effect `json:"effect"`
	Stage  string `json:"stage,omitempty"` // empty: the contract as a whole
	What   string `json:"what"`            // stage, read, write, source, delegable, in, by, next, rule, claim, type, ...
	Path   string `json:"path,omitempty"`  // a path that shows it
	Detail string `json:"detail"`          // in words
}

// A Comparison is what changed from one contract to another, stage by stage, then for
// the contract as a whole.
type Comparison struct {
	Contract string   `json:"contract"`
	Old      string   `json:"old"` // digests
	New      string   `json:"new"`
	Widened  bool     `json:"widened"` // something did, or cannot be compared
	Changes  []Change `json:"changes"`
}

var marks = map[Effect]string{Widened: "+", Narrowed: "-", Changed: "~"}

// Text writes a comparison for people: "+" is more authority, "-" less, "~" what has
// to be looked at.
func (c Comparison) Text(w io.Writer) {
	at := ""
	for _, x := range c.Changes {
		title := "contract " + c.Contract
		if x.Stage != "" {
			title = "stage " + x.Stage
		}
		if title != at {
			fmt.Fprintln(w, title)
			at = title
		}
		fmt.Fprintf(w, "  %s %s\n", marks[x.Effect], x.Detail)
	}
	fmt.Fprintln(w, c.summary())
}

func (c Comparison) summary() string {
	count := map[Effect]int{}
	for _, x := range c.Changes {
		count[x.Effect]++
	}
	switch {
	case len(c.Changes) == 0 && c.Old == c.New:
		return "the contracts are the same"
	case len(c.Changes) == 0:
		return "no authority changed"
	}
	return fmt.Sprintf("%d widened, %d narrowed, %d changed", count[Widened], count[Narrowed], count[Changed])
}
