// Package lean is the work of the benchmarks' contract written by hand, for this contract
// alone: what a commit costs that is judged and applied without an engine. What the engine
// costs is told as so many times this bound.
//
// It reads a patch in one pass (read.go), applies it to an immutable tree of which each
// node is copied once a patch (tree.go), and checks of the two tickets that may be written
// what differs from before. It says no more of a refused patch than why, and knows no
// contract but testdata/tickets.poptic. A log is apart (log.go).
package lean

import (
	"errors"
	"strconv"
)

// A State is tickets, customers and a budget, and the sum of the tickets' amounts. It
// never changes.
type State struct {
	root  *value
	spent float64 // amounts are halves, of which doubles are exact sums
}

// Reasons why a patch is refused.
var (
	ErrSyntax    = errors.New("not a patch")
	ErrScope     = errors.New("outside of what may be written")
	ErrSource    = errors.New("outside of what may be copied")
	ErrMissing   = errors.New("nothing is there")
	ErrTest      = errors.New("a test failed")
	ErrType      = errors.New("not of the type")
	ErrReference = errors.New("no such customer")
	ErrRule      = errors.New("an invariant does not hold")
)

// Read reads a state, which must be a valid one.
func Read(text []byte) (*State, error) {
	r := reader{text: string(text)}
	root, err := r.document()
	if err != nil {
		return nil, err
	}
	s := &State{root: root}
	root.get("tickets").each(func(_ string, ticket *value) {
		s.spent += number(ticket.get("amount"))
	})
	return s, nil
}

// Commit is the state after a patch by a stage on tickets a and b. money says whether the
// stage may write amounts.
func (s *State) Commit(patch []byte, a, b string, money bool) (*State, error) {
	ops, err := readPatch(patch)
	if err != nil {
		return nil, err
	}
	for i := range ops {
		if err := judge(&ops[i], a, b, money); err != nil {
			return nil, err
		}
	}
	e := edit{turn: new(turn)}
	root := e.own(s.root)
	for i := range ops {
		if err := e.run(root, &ops[i]); err != nil {
			return nil, err
		}
	}
	next := &State{root, s.spent}
	if err := next.check(s, a); err != nil {
		return nil, err
	}
	if a != b {
		err = next.check(s, b)
	}
	if err != nil {
		return nil, err
	}
	return next, nil
}

// judge holds an operation against what the stage may write and copy.
func judge(op *operation, a, b string, money bool) error {
	if op.kind == "copy" || op.kind == "move" {
		return ErrSource
	}
	p := op.path
	if len(p) < 3 || p[0] != "tickets" || p[1] != a && p[1] != b {
		return ErrScope
	}
	switch p[2] {
	case "status", "reply", "labels", "priority":
		return nil
	case "amount":
		if money {
			return nil
		}
	case "subject", "body", "customer":
		if op.kind == "test" {
			return nil
		}
	}
	return ErrScope
}

// check checks what a commit changed of a ticket.
func (s *State) check(before *State, name string) error {
	was, is := before.root.get("tickets").get(name), s.root.get("tickets").get(name)
	if was == is {
		return nil
	}
	for _, must := range [...]string{"status", "labels", "priority", "amount"} {
		if is.get(must) == nil {
			return ErrType
		}
	}
	for i, member := range is.names {
		if v := is.items[i]; v != was.get(member) && !fits(member, v) {
			return ErrType
		}
	}
	if s.root.get("customers").get(is.get("customer").text) == nil {
		return ErrReference
	}
	return s.rules(was, is)
}

// rules checks the invariants that a ticket is part of.
func (s *State) rules(was, is *value) error {
	if is.get("status").text == "solved" && is.get("reply") == nil {
		return ErrRule
	}
	if p := number(is.get("priority")); p < 0 || p > 5 {
		return ErrRule
	}
	if w, i := was.get("amount"), is.get("amount"); w != i {
		if s.spent += number(i) - number(w); s.spent > number(s.root.get("budget")) {
			return ErrRule
		}
	}
	return nil
}

// fits holds a member of a ticket against its type.
func fits(member string, v *value) bool {
	switch member {
	case "status":
		return v.kind == text && (v.text == "open" || v.text == "waiting" || v.text == "solved")
	case "priority":
		_, err := strconv.ParseInt(v.text, 10, 64)
		return v.kind == digits && err == nil
	case "amount":
		return v.kind == digits && v.text[0] != '-'
	case "labels":
		return v.kind == array && v.isSet()
	default:
		return v.kind == text
	}
}

func number(v *value) float64 {
	f, _ := strconv.ParseFloat(v.text, 64)
	return f
}

// Tickets is what a stage on tickets a and b is shown, without what is secret.
func (s *State) Tickets(a, b string) []byte {
	first, second := min(a, b), max(a, b)
	tickets := s.root.get("tickets")
	out := append(make([]byte, 0, 2048), `{"tickets":{`...)
	out = appendTicket(out, first, tickets.get(first))
	if second != first {
		out = appendTicket(append(out, ','), second, tickets.get(second))
	}
	return append(out, "}}"...)
}

// Survey is what a stage is shown of all tickets. The nodes that the tickets are in keep
// what is shown of them; what is left is to put that together.
func (s *State) Survey() []byte {
	tickets := s.root.get("tickets").shownTickets()
	out := append(make([]byte, 0, len(tickets)+16), `{"tickets":{`...)
	return append(append(out, tickets...), "}}"...)
}

// shownTickets is what is shown of the tickets at and below a node.
func (v *value) shownTickets() []byte {
	if v.shown != nil {
		return v.shown
	}
	size := 0
	if v.level > 0 {
		for _, kid := range v.items {
			size += len(kid.shownTickets()) + 1
		}
	}
	out := make([]byte, 0, size)
	for i, item := range v.items {
		if i > 0 {
			out = append(out, ',')
		}
		if v.level > 0 {
			out = append(out, item.shownTickets()...)
		} else {
			out = appendTicket(out, v.names[i], item)
		}
	}
	v.shown = out
	return out
}

// appendTicket writes a ticket without what is secret.
func appendTicket(out []byte, name string, ticket *value) []byte {
	out = append(appendText(out, name), ":{"...)
	separator := ""
	for i, member := range ticket.names {
		if member == "internal" {
			continue
		}
		out = append(appendText(append(out, separator...), member), ':')
		out = ticket.items[i].append(out)
		separator = ","
	}
	return append(out, '}')
}
