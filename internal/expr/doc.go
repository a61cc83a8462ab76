// Package expr gives contracts their expressions: CEL, checked against the state
// type. It is the only package that knows the CEL library.
//
// The concepts, in the order an expression meets them:
//
//   - An Env belongs to one contract. It turns the contract's types into shapes
//     (shape.go) and declares them to CEL.
//   - A Scope says which names an expression may use.
//   - Env.Check parses, types and walks an expression. What is wrong comes back as
//     Issues with byte ranges, in the language's own words; what is right comes back
//     as an ir.Expr with its footprint: the patterns of the state it reads.
//   - Env.Compile turns a checked expression into a Program, once, when a contract
//     is loaded. Program.Eval runs it over ir.Values, which it wraps one node at a
//     time and never converts.
//
// Three promises hold for every program. Its outcome, value or error, depends on
// nothing but the labels of its footprint (spec/semantics.md section 6.2). It
// knows no clock, no randomness and no time zone but UTC. It ends: its cost is
// counted and limited, and a context's deadline stops it.
//
// The package departs from plain CEL in one respect: numbers are compared by their
// exact value, also an int with a number (numbers.go), and one that no double holds
// (wide.go).
package expr
