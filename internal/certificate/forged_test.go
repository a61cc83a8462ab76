package certificate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// A forgery is a certificate of something false, whose every word would hold if one check
// of the checker were left out: that which says so.
type forgery struct {
	name   string
	text   string             // the contract
	change func(*ir.Contract) // what no source says, but a compiled contract might
	cert   certificate.Certificate
	says   string
}

type (
	words  = certificate.Argument
	pair   = certificate.Pair
	claim  = certificate.Claim
	handed = certificate.Delegate
	run    = certificate.Reached
)

func pairOf(a, b string, evidence ...words) certificate.Certificate {
	return certificate.Certificate{Pairs: []pair{{A: a, B: b, Evidence: evidence}}}
}

func pairUnless(a, b string, unless []certificate.Term, evidence ...words) certificate.Certificate {
	return certificate.Certificate{Pairs: []pair{{A: a, B: b, Unless: unless, Evidence: evidence}}}
}

func delegateOf(evidence ...words) certificate.Certificate {
	return certificate.Certificate{Delegates: []handed{{Stage: "child", From: "parent", Evidence: evidence}}}
}

func claimOf(c claim) certificate.Certificate { return certificate.Certificate{Claims: []claim{c}} }

const forgedState = `contract forged
state { m: map of int  n: map of map of int  any: any  a: int  b: int  s: set of int  log: log of int  box: map of secret int }
`

const forgedSet = `contract forged
state { m: map of int  s: set of string  r: set of key of /m  k: list of K by id  rk: set of key of /k }
type K { id: string  n: int }
`

const forgedPhases = forgedState + `phases { one -> two, three  two -> three  three }
stage on { in one next two, three discloses phase }
stage over { in two next three }
`

const forgedUnion = `contract forged
state { m: map of int  u: { a: key of /m } | { b: int } }
stage drop(p in /m) { read /m/{p} write /m/{p} discloses /u, /u/a }
stage put(p new in /m) { write /m/{p} discloses /u, /u/a }
stage turn { read /u write /u discloses /u, /u/a }
`

// stageOf finds a stage for a change.
func stageOf(c *ir.Contract, name string) *ir.Stage { return c.Stage(name) }

func whole(patterns ...string) region.Region { return region.Of(patterns...) }

var forgeries = []forgery{
	// pairs
	{"both write", forgedState + `stage a { write blind /m/* }
stage b { write blind /m/* }
`, nil, pairOf("a", "b"), "A writes, B writes"},
	{"A sees what B writes", forgedState + `stage a { read /m }
stage b { write blind /m/* }
`, nil, pairOf("a", "b"), "A sees, B writes"},
	{"B sees what A writes", forgedState + `stage a { write blind /m/* }
stage b { read /m }
`, nil, pairOf("a", "b"), "B sees, A writes"},
	{"A takes what B writes", forgedState + `stage a { read /m source /m }
stage b { write blind /m/* }
`, func(c *ir.Contract) { stageOf(c, "a").Read = nil }, pairOf("a", "b"), "A takes, B writes"},
	{"B takes what A writes", forgedState + `stage a { write blind /m/* }
stage b { read /m source /m }
`, func(c *ir.Contract) { stageOf(c, "b").Read = nil }, pairOf("a", "b"), "B takes, A writes"},
	{"a require of A reads what B writes", forgedState + `stage a { require { size(before.m) < 3 } discloses require }
stage b { write blind /m/* }
`, nil, pairOf("a", "b"), "A depends, B writes"},
	{"an ensure of A reads what B writes", forgedState + `stage a { ensure { size(before.m) < 3 } discloses ensure }
stage b { write blind /m/* }
`, nil, pairOf("a", "b"), "A depends, B writes"},
	{"a product of A is what B writes", forgedState + `stage a { produce /m/x discloses produce }
stage b { write blind /m/* }
`, nil, pairOf("a", "b"), "A depends, B writes"},
	{"a parameter of A is a key that B writes", forgedState + `stage a(p in /m) { }
stage b { write blind /m/* }
`, nil, pairOf("a", "b"), "A depends, B writes"},
	{"a new key of A is one that B writes", forgedState + `stage a(p new in /m) { }
stage b { write blind /m/* }
`, nil, pairOf("a", "b"), "A depends, B writes"},
	{"a parameter of A is taken from what B writes", `contract forged
state { m: map of string  n: map of int }
stage a(p = /m/x) { }
stage b { write blind /m/* }
`, func(c *ir.Contract) { stageOf(c, "a").Read = nil }, pairOf("a", "b"), "A depends, B writes"},
	{"an element for A of a set that B writes", forgedSet + `stage a(p in /s) { }
stage b { read /s write /s/- }
`, nil, pairOf("a", "b", words{About: "A depends, B writes", Because: "1"}), "A depends, B writes"},
	{"a condition on binding of A reads what B writes", forgedSet + `stage a(p in /m where { size(state.s) < 3 }) { discloses where p }
stage b { read /s write /s/- }
`, nil, pairOf("a", "b", words{About: "A depends, B writes", Because: "0"}), "A depends, B writes"},
	{"a parameter of B is a key that A writes", forgedState + `stage a { write blind /m/* }
stage b(p in /m) { }
`, nil, pairOf("a", "b"), "B depends, A writes"},
	{"an invariant over what both write", forgedState + `invariant few { size(state.m) + size(state.box) < 5 }
stage a { write blind /m/* discloses few }
stage b { write blind /box/* discloses few }
`, nil, pairOf("a", "b", words{About: "A writes, B writes", Because: "0"}), "invariant few"},
	{"a rule about changes over what both write", forgedState + `change few { size(after.m) + size(after.box) < 5 }
stage a { write blind /m/* discloses few }
stage b { write blind /box/* discloses few }
`, nil, pairOf("a", "b", words{About: "A writes, B writes", Because: "0"}), "change few"},
	{"a unique over what both write", forgedState + `invariant once unique /m/*
stage a(p new in /m) { write /m/{p} discloses once }
`, nil, pairUnless("a", "a", []certificate.Term{{{"A.p", "B.p"}}}, words{About: "A writes, B writes", Because: "?0"},
		words{About: "A depends, B writes", Because: "?0"}, words{About: "B depends, A writes", Because: "?0"}), "invariant once"},
	{"a constraint over what both write", `contract forged
state { m: (map of int) where { size(self) < 3 } }
stage a(p new in /m) { write /m/{p} discloses /m }
`, nil, pairUnless("a", "a", []certificate.Term{{{"A.p", "B.p"}}}, words{About: "A writes, B writes", Because: "?0"},
		words{About: "A depends, B writes", Because: "?0"}, words{About: "B depends, A writes", Because: "?0"}), "type of /:m"},
	{"a reference to what the other removes", `contract forged
state { m: map of int  r: map of key of /m }
stage a { read /m write /m discloses /r/* }
stage b { write blind /r/* discloses /r/* }
`, nil, pairOf("a", "b", words{About: "A writes, B writes", Because: "0"}, words{About: "A sees, B writes", Because: "0"}), "key at /:r/:*"},
	{"a union that is told apart below", `contract forged
state { u: { x: int  y: int } | { x: string  z: int } }
stage a { read /u/x write /u/x discloses /u }
stage b { read /u/y write /u/y discloses /u }
`, nil, pairOf("a", "b", words{About: "A writes, B writes", Because: "1"}, words{About: "A sees, B writes", Because: "1"}, words{About: "B sees, A writes", Because: "1"}), "type of /:u"},
	{"a union that refers to a key which is taken away", forgedUnion, nil, pairUnless("drop", "drop", []certificate.Term{{{"A.p", "B.p"}}}, words{About: "A writes, B writes", Because: "?0"},
		words{About: "A sees, B writes", Because: "?0"}, words{About: "A depends, B writes", Because: "?0"},
		words{About: "B sees, A writes", Because: "?0"}, words{About: "B depends, A writes", Because: "?0"},
		words{About: "type of /:u", Because: "kept 0 0"}, words{About: "key at /:u/:a", Because: "0 & 0 ?0"}), "type of /:u"},
	{"a union that is written beside a key that comes", forgedUnion, nil, pairOf("put", "turn", words{About: "A writes, B writes", Because: "0"},
		words{About: "A depends, B writes", Because: "0"}, words{About: "B sees, A writes", Because: "0"},
		words{About: "type of /:u", Because: "kept 0 0"}), "type of /:u"},
	{"a stage that moves the phase", forgedPhases + `stage go { in one next two }
stage idle { in one }
`, nil, pairOf("go", "idle"), "moves the phase"},
	{"a stage beside one that moves the phase", forgedPhases + `stage go { in one next two }
stage idle { in one }
`, nil, pairOf("idle", "go"), "moves the phase"},
	{"a condition without equalities", forgedState + `stage a { write blind /m/* }
stage b { write blind /m/* }
`, nil, pairUnless("a", "b", []certificate.Term{{}}, words{About: "A writes, B writes", Because: "?0"}), "without equalities"},
	{"a condition that does not follow", forgedState + `stage a(k new in /m) { write /m/{k} }
stage b { write blind /m/* }
`, nil, pairUnless("a", "b", []certificate.Term{{{"A.k", "B.k"}}}, words{About: "A writes, B writes", Because: "?0"}, words{About: "A depends, B writes", Because: "?0"}), "A writes, B writes"},
	{"a place in a view for every element of a set", forgedState + `stage a { read /s except /s/* }
stage b { read /s write /s/- }
`, func(c *ir.Contract) { stageOf(c, "b").Read = nil }, pairOf("a", "b", words{About: "A sees, B writes", Because: "l0"}), "A sees, B writes"},
	{"an element of a set as a run's own", forgedState + `stage a { read /s write /s/- }
`, func(c *ir.Contract) { stageOf(c, "a").Read = nil }, pairOf("a", "a", words{About: "A writes, B writes", Because: "1"}), "A writes, B writes"},

	// delegates
	{"a delegate that is not certified", forgedState + `stage parent { read /a }
delegate child from parent { }
`, nil, certificate.Certificate{Delegates: []handed{{Stage: "child", From: "parent", Evidence: []words{{About: "read", Because: "0.0"}}, Uncertified: "it was late"}}}, "not certified: it was late"},
	{"a delegate that is left out", forgedState + `stage parent { read /a }
delegate child from parent { }
`, nil, certificate.Certificate{}, "its delegations are not those of the contract"},
	{"a delegate that reads more", forgedState + `stage parent { }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Read = whole("/a") }, delegateOf(), `"read"`},
	{"a delegate that writes more", forgedState + `stage parent { }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Write = whole("/a") }, delegateOf(), `"write"`},
	{"a delegate with more rights", forgedState + `stage parent { read /a write update /a }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Rights = nil }, delegateOf(words{About: "read", Because: "0.0"}), `"write create"`},
	{"a delegate with another right", forgedState + `stage parent { read /a write update /a, create /a }
delegate child from parent { write update /a }
`, func(c *ir.Contract) { stageOf(c, "child").Rights = []ir.Rights{ir.Delete} }, delegateOf(words{About: "read", Because: "0.0"}), `"write delete"`},
	{"a delegate that adds blindly what it may update", forgedState + `stage parent { read /m write update, delete /m }
delegate child from parent { write update /m }
`, func(c *ir.Contract) {
		stageOf(c, "child").Write, stageOf(c, "child").Rights, stageOf(c, "child").Blind = nil, nil, whole("/m/*")
	}, delegateOf(words{About: "read", Because: "0.0"}, words{About: "write blind", Because: "0.0"}), `"write blind"`},
	{"a delegate that adds more", forgedState + `stage parent { }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Blind = whole("/m/*") }, delegateOf(), `"write blind"`},
	{"a delegate that takes more", forgedState + `stage parent { }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Source = whole("/a") }, delegateOf(), `"source"`},
	{"a delegate that reads what is not handed down", forgedState + `stage parent { read /a, /b delegable /b }
delegate child from parent { read /b }
`, func(c *ir.Contract) { stageOf(c, "child").Read = whole("/a") }, delegateOf(words{About: "read", Because: "0.0"}), `"read, delegable"`},
	{"a delegate that writes what is not handed down", forgedState + `stage parent { read /a write /a }
delegate child from parent { }
`, func(c *ir.Contract) {
		stageOf(c, "parent").HasDelegable, stageOf(c, "parent").Delegable, stageOf(c, "child").Read = true, whole("/b"), nil
	}, delegateOf(words{About: "write", Because: "0.0"}), `"write, delegable"`},
	{"a delegate that takes what is not handed down", forgedState + `stage parent { read /a source /a }
delegate child from parent { }
`, func(c *ir.Contract) {
		stageOf(c, "parent").HasDelegable, stageOf(c, "parent").Delegable, stageOf(c, "child").Read = true, whole("/b"), nil
	}, delegateOf(words{About: "source", Because: "0.0"}), `"source, delegable"`},
	{"a delegate that has what its parent has beside what it hands on", forgedState + `stage parent { read /a, /b write /a delegable read /b delegable write /b }
delegate child from parent { read /b write /b }
`, func(c *ir.Contract) { stageOf(c, "child").Write = whole("/a") }, delegateOf(words{About: "read", Because: "0.0"}, words{About: "write", Because: "0.0"}), `"write"`},
	{"a delegate that reads what its parent only has", forgedState + `stage parent { read /a delegable read /b }
delegate child from parent { read /b }
`, func(c *ir.Contract) { stageOf(c, "child").Read = whole("/a") }, delegateOf(words{About: "read", Because: "0.0"}), `"read"`},
	{"a delegate that takes what its parent only has", forgedState + `stage parent { read /a, /b source /a delegable source /b }
delegate child from parent { source /b }
`, func(c *ir.Contract) { stageOf(c, "child").Source, stageOf(c, "child").Read = whole("/a"), nil }, delegateOf(words{About: "source", Because: "0.0"}), `"source"`},
	{"a delegate with a right that is not handed on", forgedState + `stage parent { read /a write /a delegable write update /a }
delegate child from parent { write update /a }
`, func(c *ir.Contract) { stageOf(c, "child").Rights = []ir.Rights{ir.Delete} }, delegateOf(words{About: "read", Because: "0.0"}), `"write delete"`},
	{"a delegate that adds blindly what it may be given to update", forgedState + `stage parent { read /m delegable write update /m }
delegate child from parent { write update /m }
`, func(c *ir.Contract) {
		s := stageOf(c, "child")
		s.Write, s.Rights, s.Blind = nil, nil, whole("/m/*")
	}, delegateOf(words{About: "read", Because: "0.0"}, words{About: "write blind", Because: "0.0"}), `"write blind"`},
	{"a delegate that hands on more to read", forgedState + `stage parent { delegable read /a }
delegate child from parent { delegable read /a }
`, func(c *ir.Contract) { stageOf(c, "child").Handed.Read = whole("/b") }, delegateOf(), `"delegable read"`},
	{"a delegate that hands on more to write", forgedState + `stage parent { delegable write /a }
delegate child from parent { delegable write /a }
`, func(c *ir.Contract) { stageOf(c, "child").Handed.Write = whole("/b") }, delegateOf(), `"delegable write"`},
	{"a delegate that hands on more to add", forgedState + `stage parent { delegable write /a }
delegate child from parent { delegable write /a }
`, func(c *ir.Contract) {
		s := stageOf(c, "child")
		s.Handed.Write, s.Handed.Blind = nil, whole("/m/*")
	}, delegateOf(), `"delegable write blind"`},
	{"a delegate that hands on more to take", forgedState + `stage parent { delegable source /a }
delegate child from parent { delegable source /a }
`, func(c *ir.Contract) { stageOf(c, "child").Handed.Source = whole("/b") }, delegateOf(), `"delegable source"`},
	{"a delegate that hands on what is no part of what is handed on", forgedState + `stage parent { read /a, /b delegable /a }
delegate child from parent { read /a delegable read /a }
`, func(c *ir.Contract) { stageOf(c, "child").Handed.Read = whole("/b") },
		delegateOf(words{About: "read", Because: "0.0"}, words{About: "read, delegable", Because: "0.0"}, words{About: "delegable read", Because: "1.0"}, words{About: "delegable read, delegable", Because: "0.0"}), `"delegable read, delegable"`},
	{"a delegate in another phase", forgedPhases + `stage parent { in one }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").In = []string{"one", "two"} }, delegateOf(), "it runs where"},
	{"a delegate that moves elsewhere", forgedPhases + `stage parent { in one next two }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Next = []string{"three"} }, delegateOf(), "it runs where"},
	{"a delegate that stays", forgedPhases + `stage parent { in one next two }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Next = nil }, delegateOf(), "it runs where"},
	{"a delegate for another role", forgedState + `stage parent { by clerk }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").By = []string{"clerk", "boss"} }, delegateOf(), "it runs where"},
	{"a delegate for every role", forgedState + `stage parent { by clerk }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").By = nil }, delegateOf(), "it runs where"},
	{"a delegate with more attempts", forgedState + `stage parent { attempts 2 }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Attempts = 3 }, delegateOf(), "it runs where"},
	{"a delegate with other parameters", forgedState + `stage parent(p in /m) { }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Params = nil }, delegateOf(), "it runs where"},
	{"a delegate whose parameter takes more keys", forgedState + `stage parent(p in /m) { read /m/x }
delegate child from parent { read /m/x }
`, func(c *ir.Contract) { stageOf(c, "child").Params[0].Reserved = nil }, delegateOf(words{About: "read", Because: "0.0"}), "it runs where"},
	{"a delegate without a require", forgedState + `stage parent { require { before.a > 0 } discloses require }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Require = nil }, delegateOf(), "drops a rule"},
	{"a delegate without an ensure", forgedState + `stage parent { ensure { before.a > 0 } discloses ensure }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Ensure = nil }, delegateOf(), "drops a rule"},
	{"a delegate without a product", forgedState + `stage parent { produce /a discloses produce }
delegate child from parent { }
`, func(c *ir.Contract) { stageOf(c, "child").Produce = nil }, delegateOf(), "drops a rule"},

	// claims about commuting
	{"a pair that is not shown", forgedState + `stage a { write blind /m/* }
stage b { write blind /m/* }
prove a commutes with b
`, nil, claimOf(claim{}), "does not show that a and b commute"},
	{"a pair of a group that is not shown", forgedState + `stage a { }
stage b { }
stage c { }
parallel all3 = a | b | c
`, nil, certificate.Certificate{Pairs: []pair{{A: "a", B: "b"}, {A: "b", B: "c"}}, Claims: []claim{{}}}, "does not show that a and c commute"},
	{"a pair of a phase that is not shown", forgedPhases + `stage a { in two }
stage b { in two }
prove all commute in two
`, nil, claimOf(claim{}), "does not show that a and b commute"},
	{"a condition that the claim does not make", forgedState + `stage a(k in /m) { read /m/{k} write /m/{k} }
prove a commutes with a
`, nil, certificate.Certificate{Pairs: []pair{{A: "a", B: "a", Unless: []certificate.Term{{{"A.k", "B.k"}}}, Evidence: []words{
		{About: "A writes, B writes", Because: "?0"}, {About: "A sees, B writes", Because: "?0"}, {About: "A depends, B writes", Because: "?0"},
		{About: "B sees, A writes", Because: "?0"}, {About: "B depends, A writes", Because: "?0"}}}}, Claims: []claim{{}}}, "under a condition that the claim does not make"},

	// claims that a stage lies within another
	{"a stage that reads more", forgedState + "stage a { read /a }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `"a read"`},
	{"a stage that is told more", forgedState + "stage a(p in /m) { }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `"a read"`},
	{"a stage that writes more", forgedState + "stage a { read /a write /a }\nstage b { read /a }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a write"`},
	{"a stage that adds more", forgedState + "stage a { write blind /m/* }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `"a write blind"`},
	{"a stage that takes more", forgedState + "stage a { read /a source /a }\nstage b { read /a }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a source"`},
	{"a stage that hands down more", forgedState + "stage a { read /a }\nstage b { read /a delegable /b }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a delegable"`},
	{"a stage that hands on more to read", forgedState + "stage a { delegable read /a }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `"a delegable read"`},
	{"a stage that hands on more to write", forgedState + "stage a { delegable write /a }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `"a delegable write"`},
	{"a stage that hands on more to add", forgedState + "stage a { delegable write blind /m/* }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `"a delegable write blind"`},
	{"a stage that hands on more to take", forgedState + "stage a { delegable source /a }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `"a delegable source"`},
	{"a stage that hands on what the other has and hands on no more", forgedState + "stage a { read /a }\nstage b { read /a delegable read /b }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}, {About: "a delegable read", Because: "0.0"}}}), `"a delegable read"`},
	{"a stage that hands on what the other hands on a part without", forgedState + "stage a { read /a, /b delegable read /b }\nstage b { read /a, /b delegable /a }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0 1.0"}, {About: "a delegable read", Because: "1.0"}}}), `"a delegable read"`},
	{"a stage in a phase more", forgedPhases + "stage a { in one, two }\nstage b { in one }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "in phase two"},
	{"a stage for a role more", forgedState + "stage a { by u, v }\nstage b { by u }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `for role "v"`},
	{"a stage for every role", forgedState + "stage a { }\nstage b { by u }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `for role ""`},
	{"a stage with a move more", forgedPhases + "stage a { in one next two, three discloses phase }\nstage b { in one next two }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), `to phase "three"`},
	{"a stage with more attempts", forgedState + "stage a { attempts 4 }\nstage b { attempts 3 }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "nothing may run in place of a"},
	{"a stage without a match", forgedState + "stage a { }\nstage b { by u }\nprove a within b\n", nil, claimOf(claim{}), "nothing may run in place of a"},
	{"a match of another stage", forgedState + "stage a { }\nstage b { by u }\nstage c { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "c"}}}), "no stage a is compared with c"},
	{"an argument of another place", forgedState + "stage a(p in /n) { }\nstage b(p in /m) { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b", Args: [][2]string{{"p", "p"}}}}}), `"p" is no argument for "p"`},
	{"an argument of another kind", forgedState + "stage a(p in /m) { }\nstage b(p new in /m) { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b", Args: [][2]string{{"p", "p"}}}}}), `"p" is no argument for "p"`},
	{"an argument that may be another key", forgedState + "stage a(p in /m) { }\nstage b(p in /m) { read /n/{p} }\nstage c { read /n/x }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b", Args: [][2]string{{"p", "p"}}}}}), `"p" is no argument for "p"`},
	{"a parameter without an argument", forgedState + "stage a { }\nstage b(p in /m) { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "not every parameter"},
	{"a require that is missing", forgedState + "stage a { }\nstage b { require { before.a > 0 } discloses require }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "drops a rule"},
	{"an ensure that is missing", forgedState + "stage a { }\nstage b { ensure { before.a > 0 } discloses ensure }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "drops a rule"},
	{"a product that is missing", forgedState + "stage a { }\nstage b { produce /a discloses produce }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "drops a rule"},
	{"a rule with a bound variable of a parameter's name", forgedState + "stage a(u in /m) { read /m require { before.m.all(u, u != u) } }\nstage b(t in /m) { read /m require { before.m.all(u, u != t) } }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b", Args: [][2]string{{"t", "u"}}}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), "drops a rule"},

	// claims about regions
	{"an element of a list in place of a key", forgedSet + "stage a(p in /s) { }\nstage b(p in /m) { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b", Args: [][2]string{{"p", "p"}}}}}), `"p" is no argument for "p"`},
	{"an element of a list, which tells what the list has, in place of a key", forgedSet + "stage a(p in /r) { }\nstage b(p in /m) { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b", Args: [][2]string{{"p", "p"}}}}}), `"a read"`},
	{"a stage that is told what a list has", forgedSet + "stage a(p in /s) { }\nprove no stage reads /s\n", nil, claimOf(claim{}), `"a reads"`},
	{"a stage that knows a key from an element", forgedSet + "stage a(p in /rk) { }\nprove no stage reads /k/*/id\n", nil,
		claimOf(claim{Evidence: []words{{About: "a reads", Because: "0"}}}), `"a reads"`},
	{"a stage that is told it by a condition on binding", forgedSet + "stage a(p in /m where { size(state.s) < 3 }) { discloses where p }\nprove no stage reads /s\n", nil,
		claimOf(claim{Evidence: []words{{About: "a reads", Because: "0"}}}), `"a reads"`},
	{"a stage that knows a key from a condition on binding", forgedSet + "stage a(p in /m where { !(\"x\" in state.rk) }) { discloses where p }\nprove no stage reads /k/*/id\n", nil,
		claimOf(claim{Evidence: []words{{About: "a reads", Because: "0 0"}}}), `"a reads"`},
	{"a match of stages of which one drops a condition on binding", forgedSet + "stage a(p in /m) { }\nstage b(p in /m where { state.m[p] < 3 }) { discloses where p }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b", Args: [][2]string{{"p", "p"}}}}}), "drops a rule"},
	{"a delegate that drops a condition on binding", forgedSet + "stage parent(p in /m where { state.m[p] < 3 }) { discloses where p }\ndelegate child from parent { }\n",
		func(c *ir.Contract) { stageOf(c, "child").Params[0].Where = nil }, delegateOf(), "drops a rule"},
	{"a stage that reads it", forgedState + "stage a { read /a }\nprove no stage reads /a\n", nil, claimOf(claim{}), `"a reads"`},
	{"a stage that is told it", forgedState + "stage a(p in /box) { }\nprove no stage reads secrets\n", nil, claimOf(claim{}), `"a reads"`},
	{"a stage that writes it", forgedState + "stage a { write blind /m/* }\nprove no stage writes /m\n", nil, claimOf(claim{}), `"a writes"`},
	{"a stage that copies it", forgedState + "stage a { read /a source /a }\nprove no stage copies /a\n", nil, claimOf(claim{}), `"a copies"`},
	{"a stage that is not excepted", forgedState + "stage a { }\nstage b { read /a }\nprove no stage except a reads /a\n", nil, claimOf(claim{}), `"b reads"`},

	// claims about flows
	{"a stage that sees the origin", forgedState + "stage a { read /a, /b write /b }\nprove no flow from /a to /b\n", nil, claimOf(claim{}), `"a sees, origin"`},
	{"a stage that is told the origin", forgedState + "stage a(p in /box) { read /b write /b }\nprove no flow from secrets to /b\n", nil, claimOf(claim{}), `"a sees, origin"`},
	{"a stage that copies the origin", forgedState + "stage a { read /a, /b write /b source /a }\nprove no flow from /a to /b\n",
		func(c *ir.Contract) { stageOf(c, "a").Read = whole("/b") }, claimOf(claim{Evidence: []words{{About: "a sees, origin", Because: "0"}}}), `"a sees, origin"`},
	{"a stage that sees what one writes", forgedState + "stage a { write blind /m/* }\nstage b { read /m, /b write /b }\nprove no flow from /a to /b\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "main"}}, Evidence: []words{{About: "a writes, goal", Because: "0"}, {About: "b sees, origin", Because: "0 0"}}}), `"b sees, a writes"`},
	{"a stage that is told what one writes", forgedState + "stage a { write blind /m/* }\nstage b(p in /m) { read /b write /b }\nprove no flow from /a to /b\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "main"}}, Evidence: []words{{About: "a writes, goal", Because: "0"}, {About: "b sees, origin", Because: "0 0"}}}), `"b sees, a writes"`},
	{"a stage that writes into the goal", forgedState + "stage a { read /a, /b write /b }\nprove no flow from /a to /b\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "main"}}}), `"a writes, goal"`},
	{"a stage that is listed in one phase only", forgedPhases + "stage a { in one, two read /a, /b write /b }\nprove no flow from /a to /b\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "one"}}, Evidence: []words{{About: "a writes, goal", Because: "0"}}}), `"a sees, origin"`},
	{"a choice of phase", forgedPhases + "stage a { in one read /a next two, three }\nstage b { in three read /b write /b }\nprove no flow from /a to /b\n",
		func(c *ir.Contract) { stageOf(c, "on").Next, stageOf(c, "on").DisclosesPhase = []string{"two"}, false },
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "one"}}, Evidence: []words{{About: "b sees, origin", Because: "0"}}}), "chooses the phase that follows one"},
	{"a role that remembers", forgedPhases + "stage a { in one by u read /a }\nstage b { in three by u read /b write /b }\nprove no flow from /a to /b with memory\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "one", Role: "u"}}, Evidence: []words{{About: "b sees, origin", Because: "0"}}}), `role "u" remembers`},
	{"a role that is left out", forgedState + "stage a { by u, v read /a }\nprove no flow from /a to /b with memory\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "main", Role: "u"}}}), `"a sees, origin"`},
	{"a way to run that there is not", forgedPhases + "stage a { in one }\nprove no flow from /a to /b\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "two"}}}), "no way to run a stage"},

	// claims about phases
	{"a phase that follows", forgedPhases + "prove two before three\n", nil, claimOf(claim{Phases: []string{"one"}}), "miss three, which follows one"},
	{"a phase on the way", forgedState + "phases { one -> mid by host  mid -> two by host, three by host  two -> three by host  three }\nprove two before three\n", nil,
		claimOf(claim{Phases: []string{"one"}}), "miss mid, which follows one"},
	{"a first phase that is left out", forgedPhases + "prove two before three\n", nil, claimOf(claim{}), "must hold one and not three"},
	{"the later phase in the list", forgedPhases + "prove two before three\n", nil, claimOf(claim{Phases: []string{"one", "three"}}), "must hold one and not three"},

	// reasons
	{"segments that follow a **", forgedState + `stage a { read /any/**/x }
stage b { }
`, func(c *ir.Contract) { stageOf(c, "b").Blind = whole("/:any/:y/:z") }, pairOf("a", "b", words{About: "A sees, B writes", Because: "2"}), "A sees, B writes"},
	{"segments that do not exclude each other", forgedState + `stage a { read /m/x }
stage b { write blind /m/* }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "1"}), "A sees, B writes"},
	{"a key that is not reserved", forgedState + `stage a(p in /n) { read /m/x }
stage b(p new in /m) { write /m/{p} }
`, func(c *ir.Contract) { stageOf(c, "b").Params[0].Reserved = nil }, pairOf("a", "b", words{About: "A sees, B writes", Because: "1"}, words{About: "A depends, B writes", Because: "0"}), "A sees, B writes"},
	{"two parameters", forgedState + `stage a(p in /m) { read /m/{p} }
stage b(q new in /m) { write /m/{q} }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "1"}), "A sees, B writes"},
	{"short, and yet with all that lies below", forgedState + `stage a { read /m }
stage b { write blind /m/* }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "short"}), "A sees, B writes"},
	{"short, and no shorter", forgedState + `stage a(p in /m) { }
stage b { write blind /m/* }
`, nil, pairOf("a", "b", words{About: "A depends, B writes", Because: "short"}), "A depends, B writes"},
	{"short, and deep", forgedState + `stage a { read /m }
stage b { }
`, func(c *ir.Contract) {
		stageOf(c, "a").Read[0].Include[0], stageOf(c, "b").Blind = shallow("/**/:y"), whole("/:n/:x/:y")
	}, pairOf("a", "b", words{About: "A sees, B writes", Because: "short"}), "A sees, B writes"},
	{"short, and as long but for a **", `contract forged
state { n: map of map of int }
measure entries = count /n/x
stage a { require { entries < 3 } discloses require }
stage b { }
`, func(c *ir.Contract) { stageOf(c, "b").Blind = whole("/:n/**/:x") }, pairOf("a", "b", words{About: "A depends, B writes", Because: "short"}), "A depends, B writes"},
	{"an exception of the left that is elsewhere", forgedState + `stage a { read /m except /m/x }
stage b { write blind /m/* }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "l0"}), "A sees, B writes"},
	{"an exception of the left that lies below", forgedState + `stage a { read /n except /n/*/x }
stage b { write blind /n/* }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "l0"}), "A sees, B writes"},
	{"a shallow exception taken for a deep one", forgedState + `stage a { read /n }
stage b { }
`, func(c *ir.Contract) {
		stageOf(c, "b").Blind = whole("/:n/:x/:*")
		stageOf(c, "a").Read[0].Except = []region.Pattern{shallow("/:n/:x")}
	}, pairOf("a", "b", words{About: "A sees, B writes", Because: "l0"}), "A sees, B writes"},
	{"an exception of the right that lies below", forgedState + "stage a { read /any/k }\nprove no stage reads /any except /any/*/*\n", nil,
		claimOf(claim{Evidence: []words{{About: "a reads", Because: "r0"}}}), `"a reads"`},
	{"an exception of the right that is elsewhere", forgedState + `stage a { read /m }
stage b { write blind /m/* }
`, func(c *ir.Contract) { stageOf(c, "b").Blind = whole("/:m/:*", "!/:m/:x") },
		pairOf("a", "b", words{About: "A sees, B writes", Because: "r0"}), "A sees, B writes"},
	{"an exception of the right that lies below some of it", forgedState + `stage a { read /n }
stage b { }
`, func(c *ir.Contract) { stageOf(c, "b").Blind = whole("/:n/*", "!/:n/*/:x") },
		pairOf("a", "b", words{About: "A sees, B writes", Because: "r0"}), "A sees, B writes"},
	{"a type that has such a path", forgedState + `stage a { read /m }
stage b { write blind /m/* }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "t1"}), "A sees, B writes"},
	{"a type that has no such path, on the way to which a view shows a container", forgedState + `stage a { }
stage b { }
`, func(c *ir.Contract) {
		stageOf(c, "a").Read, stageOf(c, "b").Blind = whole("/:n/*/*/:z"), whole("/:n/*")
	},
		pairOf("a", "b", words{About: "A sees, B writes", Because: "t3"}), "A sees, B writes"},
	{"a type beyond the path", forgedState + `stage a { read /m }
stage b { write blind /m/* }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "t2"}), "A sees, B writes"},
	{"entries of one run", forgedState + `stage a { read /log }
stage b { write /log/- }
`, nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "1"}), "A sees, B writes"},
	{"different keys that are one", forgedState + `invariant each1 each e in /n/* { size(e) < 4 }
stage a(p in /n) { write blind /n/{p}/* discloses each1 }
`, nil, pairUnless("a", "a", nil, words{About: "A writes, B writes", Because: "1"}), "A writes, B writes"},
	{"members of a family that are not told apart", forgedState + `invariant each1 each e in /n/* { size(e) + size(state.m) < 4 }
stage a { }
stage b { write blind /m/* discloses each1 }
`, func(c *ir.Contract) { stageOf(c, "a").Blind = whole("/:n/:x/:*") }, pairOf("a", "b", words{About: "A writes, B writes", Because: "0"},
		words{About: "invariant each1", Because: "& 0 0 @1.1 @1.1 & 0 0 @1.1 @1.1 0 0"}), "invariant each1"},
	{"one entry of a family that both may touch", `contract forged
state { m: map of E }
type E { x: int  y: int }
invariant sum each e in /m/* { e.x + e.y < 9 }
stage a(k in /m) { read /m write /m/{k}/x }
stage b(j in /m) { read /m write /m/{j}/y }
`, func(c *ir.Contract) { stageOf(c, "a").Read, stageOf(c, "b").Read = nil, nil }, pairOf("a", "b", words{About: "A writes, B writes", Because: "2"},
		words{About: "A depends, B writes", Because: "short"}, words{About: "B depends, A writes", Because: "short"},
		words{About: "invariant sum", Because: "& 2 @1.1 2"}), "invariant sum"},
	{"a rule that both may touch, with nothing said of B", `contract forged
state { m: map of E }
type E { x: int  y: int }
invariant sum each e in /m/* { e.x + e.y < 9 }
stage a(k in /m) { read /m write /m/{k}/x }
stage b(j in /m) { read /m write /m/{j}/y }
`, func(c *ir.Contract) { stageOf(c, "a").Read, stageOf(c, "b").Read = nil, nil }, pairOf("a", "b", words{About: "A writes, B writes", Because: "2"},
		words{About: "A depends, B writes", Because: "short"}, words{About: "B depends, A writes", Because: "short"},
		words{About: "invariant sum", Because: "& 2"}), "invariant sum"},
	{"a key of a family that is one that a pattern names", forgedState + `invariant each1 each e in /n/* { size(e) + size(state.m) < 4 }
stage a { }
stage b { write blind /m/* discloses each1 }
`, func(c *ir.Contract) { stageOf(c, "a").Blind = whole("/:n/:x/:*") }, pairOf("a", "b", words{About: "A writes, B writes", Because: "0"},
		words{About: "invariant each1", Because: "0 0 1 1"}), "invariant each1"},
	{"different keys of a family compared with one another", `contract forged
state { n: map of map of E }
type E { a: int  b: int }
invariant each2 each e in /n/*/* { e.a + e.b < 4 }
stage a { }
stage b { }
`, func(c *ir.Contract) {
		stageOf(c, "a").Blind, stageOf(c, "b").Blind = whole("/:n/:x/:y/:a"), whole("/:n/:x/:y/:b")
	},
		pairOf("a", "b", words{About: "A writes, B writes", Because: "3"}, words{About: "invariant each2", Because: "& 3 @1.2 3"}), "invariant each2"},
	{"containment in another path", forgedState + "stage a { read /a }\nstage b { read /b }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a read"`},
	{"containment in a grant that there is not", forgedState + "stage a { read /a }\nstage b { read /b }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "1.0"}}}), `"a read"`},
	{"containment in what an exception takes away", forgedState + "stage a { read /m/x }\nstage b { read /m except /m/x }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a read"`},
	{"containment in what an exception of a later grant takes away", forgedState + "stage a { read /m/x }\nstage b { read /n, /m except /m/x }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "1.0"}}}), `"a read"`},
	{"containment of all in nodes alone", forgedState + "stage a { read /m }\nstage b { read /m }\nprove a within b\n",
		func(c *ir.Contract) { stageOf(c, "b").Read[0].Include[0].Shallow = true },
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a read"`},

	{"containment of nodes in nodes above them", forgedState + "stage a { read /m }\nstage b { read /m }\nprove a within b\n",
		func(c *ir.Contract) {
			stageOf(c, "a").Read[0].Include[0], stageOf(c, "b").Read[0].Include[0] = shallow("/:m/:x"), shallow("/:m")
		},
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a read"`},
	{"containment of any depth in one level", forgedState + "stage a { read /any }\nstage b { read /any }\nprove a within b\n",
		func(c *ir.Contract) { stageOf(c, "a").Read, stageOf(c, "b").Read = whole("/:any/**"), whole("/:any/*") },
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}, Evidence: []words{{About: "a read", Because: "0.0"}}}), `"a read"`},

	{"a match of a stage that takes a value with one that takes none", forgedState + "stage a { }\nstage b(v: int) { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "takes no value"},
	{"a match of stages that take values of other types", forgedState + "stage a(v: 1 | 2) { }\nstage b(v: 1 | 2 | 3) { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "takes no value"},
	{"a rule about a value for one about an input of its name", forgedState + "stage a(actor: string) { require { actor == \"x\" } }\nstage b { require { actor == \"x\" } }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}}}), "drops a rule"},

	// the document
	{"a claim that is not certified", forgedState + "stage a { }\nprove no stage reads /a\n", nil, claimOf(claim{Uncertified: "it was late"}), "not certified: it was late"},
	{"an argument for what need not be shown", forgedState + "stage a { }\nstage b { }\n", nil, pairOf("a", "b", words{About: "A sees, B writes", Because: "0"}), "an argument too many"},
	{"a pair that stands twice", forgedState + "stage a { }\nstage b { }\n", nil, certificate.Certificate{Pairs: []pair{{A: "a", B: "b"}, {A: "a", B: "b"}}}, "this pair twice"},
	{"a pair that stands twice, once the other way round", forgedState + "stage a { }\nstage b { }\n", nil, certificate.Certificate{Pairs: []pair{{A: "a", B: "b"}, {A: "b", B: "a"}}}, "this pair twice"},
	{"a pair that stands twice, once under a condition", forgedState + "stage a(p in /m) { }\n", nil,
		certificate.Certificate{Pairs: []pair{{A: "a", B: "a"}, {A: "a", B: "a", Unless: []certificate.Term{{{"A.p", "B.p"}}}}}}, "this pair twice"},
	{"a condition that stands twice", forgedState + "stage a(p in /m) { }\n", nil, pairUnless("a", "a", []certificate.Term{{{"A.p", "B.p"}}, {{"B.p", "A.p"}}}), "conditions stands twice"},
	{"an equality that stands twice", forgedState + "stage a(p in /m) { }\n", nil, pairUnless("a", "a", []certificate.Term{{{"A.p", "B.p"}, {"A.p", "B.p"}}}), "an equality stands twice"},
	{"a phase that is listed twice", forgedPhases + "prove two before three\n", func(c *ir.Contract) { c.Phases[0].Arrows = c.Phases[0].Arrows[:1] },
		claimOf(claim{Phases: []string{"one", "one"}}), "something stands twice"},
	{"a place that is reached twice", forgedState + "stage a { read /a write /a }\nprove no flow from /a to /b\n", nil,
		claimOf(claim{Reached: []run{{Stage: "a", Phase: "main"}, {Stage: "a", Phase: "main"}}, Evidence: []words{{About: "a writes, goal", Because: "0"}}}), "something stands twice"},
	{"a match that stands twice", forgedState + "stage a { }\nstage b { }\nprove a within b\n", nil,
		claimOf(claim{Matches: []certificate.Match{{Inner: "a", Outer: "b"}, {Inner: "a", Outer: "b"}}}), "something stands twice"},
	{"a list that no claim of the kind has", forgedState + "stage a { }\nprove no stage reads /a\n", nil, claimOf(claim{Phases: []string{"main"}}), "no claim of its kind has"},
	{"a claim that is left out", forgedState + "stage a { }\nprove no stage reads /a\n", nil, certificate.Certificate{}, "its claims are not those of the contract"},
}

func shallow(pattern string) region.Pattern {
	p := region.MustParse(pattern)
	p.Shallow = true
	return p
}

func TestEveryCheckRefusesAForgedCertificate(t *testing.T) {
	for _, f := range forgeries {
		t.Run(f.name, func(t *testing.T) {
			out := compileText(f.text)
			require.NotNil(t, out.Lowered, "%v", out.Diagnostics)
			c, cert := out.Lowered, f.cert
			if f.change != nil {
				f.change(c)
			}
			cert.Contract = c.Digest()
			cert.Claims = append([]claim{}, cert.Claims...)
			for i := range cert.Claims {
				cert.Claims[i].Claim, cert.Claims[i].Known = c.Claims[i], c.Known(c.Claims[i], nil)
			}
			problems := certificate.Check(certificate.Seal(cert), c)
			require.Len(t, problems, 1, "%v", problems)
			require.Contains(t, problems[0].About+": "+problems[0].Why, f.says)
		})
	}
}
