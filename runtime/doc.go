// Package runtime is the engine that a program embeds: it holds instances of a
// compiled contract, shows actors their views, decides what they propose, and
// records all of it.
//
// The concepts, and where they enter:
//
//   - Contract: Load makes one from the bytes that the compiler wrote. It tells its
//     Stages, Roles and Phases.
//   - Instance: one run of a contract over one state. Create begins it from a state
//     file, Open goes on with it. Any number of goroutines may use it, and any
//     number of processes whose store allows it.
//   - View: what a stage's actor is shown (Instance.View), with the version it
//     shows. Proposal: what the actor wants changed, made on that version
//     (Instance.Propose). Advance moves the phase for the host.
//   - Migrate puts an instance under another contract. Principal: who acts, named with every
//     request, for the log.
//   - Verdict: commit, noop or reject. A reject is a result, not an error; errors
//     are for what is broken. It has two renderings: the operator's, and Actor's.
//   - Attempts: the tries that a step has (DefaultAttempts). Key: makes it safe to
//     propose again when no answer came (Proposal.Key).
//   - Trace: everything above, as hash-chained lines of JSON (spec/interfaces.md
//     section 6). CheckTrace reads it.
//   - Position: where an instance stands. Refresh reads what other processes appended, Tail
//     tells of it; Export gives the state with it. Instance.Verify says what Propose would.
//   - List, InfoOf, Lines, Delete: what a store holds, without a contract.
//   - CheckLog, CheckSnapshots, Replay, At: an auditor's view of a log. They check that
//     nothing was changed, make every decision again, and give the state at any version.
//   - Backtest: what another contract would have decided. Blame: who wrote what stands at a place.
//
// # The log is the store
//
// Appending the decision to the instance's log is the commit. The state in memory
// is only what the log says: it is made from the newest snapshot and the records
// after it, and it never runs ahead of the log. A proposal and its
// decision are appended in one step, so that there is never one without the other.
//
// Verification runs outside of any lock, on an immutable state: the one that there will be
// when all that is on its way to the store is there. What waits is appended together, while
// the next is verified; a verdict is given after the store has made it durable. Where another
// process has appended in between, the store's compare-and-swap refuses, the instance reads
// what it missed and verifies again. When a store fails in a way that leaves open whether it
// appended, all that waited for it fails, and the instance reads the log before it does
// anything else. Snapshots are written in the background. See pipeline.go.
//
// # Deadlines
//
// Every function that takes a context ends soon after it, with its error, also while a store
// hangs: rules, checks, projections, imports and the operations of a patch look at it as they
// go, and nobody waits for a store beyond it. Nothing is appended then, unless the store was at
// it already: then the error is an *OpenOutcomeError, which wraps the context's.
//
// # What never leaves
//
// No error and no log message holds a value of the state, of a view or of a patch:
// they name paths, kinds, types and codes. Nothing that is returned shares memory
// with the instance.
package runtime
