// Package verify decides what a proposal may do to a state. It works from a
// compiled contract alone: it imports states, projects what a stage sees, and
// turns a proposal into a verdict.
//
// The concepts, and where they enter:
//
//   - Program: a loaded contract. Load compiles its regions and expressions once;
//     a Program never changes and may be used by many goroutines.
//   - Patch space: the form in which states are held, views shown and patches
//     written. A keyed list is an object of its elements by key, and the arrays of
//     sets and logs carry their tree.Order. Import and Export lead from files to
//     patch space and back.
//   - Snapshot, Proposal, Outcome: Verify takes the first two and gives the third,
//     Advance and View work on a Snapshot too. Nothing here holds or writes a
//     state: what a commit made is in Outcome.After.
//   - Gate, Code, Violation, Verdict: what is wrong, in words that never contain
//     a value of the state.
//   - ActorVerdict: the same as far as the actor may know it (actor.go).
//
// # The steps
//
// A verification is a sequence of steps (verify.go): limit, format, phase, stale,
// require, scope, schema, rules. The first step that finds something ends it, and
// reports all that it found, in operation order. What a step costs follows from
// what the patch touches; measures, unique invariants and invariants over the
// whole state cost what they read.
package verify
