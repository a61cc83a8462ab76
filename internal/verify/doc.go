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
//   - ActorVerdict: the same as far as the actor may know it.
//
// # The steps
//
// A verification is a sequence of steps: limit, format, phase, stale, require, scope,
// schema, rules. The first step that finds something ends it, and reports all that it
// found, in operation order. Who follows a patch reads
//
//   - verify.go: the entry and the table of steps; what is read and judged before the
//     state is looked at; how the outcome is made.
//   - pointer.go, scope.go: what each pointer means, whether the stage may use it so,
//     and the run of the operations. targets.go keeps what they wrote.
//   - schema.go, with check.go and types.go below it: types, references, produce.
//   - rules.go, with match.go and measure.go below it: require, ensure, invariants,
//     guards.
//   - actor.go: what the actor may be told of it, in the words of messages.go.
//
// # What a verification costs
//
// What the patch touches, whatever the state weighs. Types and rules about one entry
// are asked of the entries that were written (schema.go, rules.go); a rule about all
// entries is taken apart into such rules where it can be (expr.Env.Parts). Measures
// are folds, unique invariants and references have indexes that follow from those of
// the version before (match.go), and what was once found sound is not looked into
// again (check.go). What is left are rules that go through a whole container:
// they cost what they read whenever a commit touches what they read, and the compiler
// remarks upon them (expr.Env.Walks). A rejection may look for what is wrong, and then
// costs what is looked through.
package verify
