// Package region decides questions about sets of paths: is this path in the set,
// do two sets meet, does one lie inside the other. Every negative answer carries
// a shortest path that shows it.
//
// The concepts, from small to large:
//
//   - Letter, Word: one step of a typed path, and the path (spec/semantics.md
//     section 1). Typed means that the key "0" and the index 0 differ.
//   - Segment, Pattern: what an author writes, such as /tickets/*/status. A
//     pattern stands for whole subtrees unless it is shallow (section 3.2).
//   - Grant, Region: includes minus excepts, and lists of them. They are plain
//     data with operations (Union, Intersect, Difference, Bind, Rename).
//   - Set: a compiled region, the automaton that answers questions. Cursor walks
//     one along a document.
//   - Answer: what Overlap, Within, Empty and Equal return.
//   - Condition: when two regions with parameters meet (section 9).
//
// Four procedures decide: the first two about sets whose parameters stand for
// themselves, the last two about the values of parameters. Of each two the cheap one
// comes first, and the other is asked only where that one does not settle the question:
//
//   - Unifying pairs of patterns (simpleOverlap in decide.go): Overlap, where no set has
//     exceptions, shallow patterns or intersections and no Shape restricts the words.
//     It is exact, and says no, or yes where no witness is asked for.
//   - The search (search in decide.go): everything else about two sets. It is exact
//     within its budget, finds a shortest witness, and leaves parameters symbols.
//   - The walk over a pair of patterns (meet in conditions.go): the equalities between
//     parameters that two patterns need to meet. Exact without exceptions, and where no
//     "**" is followed by something that a Shape or a shallow pattern may cut off; a Shape
//     takes one search more.
//   - The search under each way in which the parameters can be equal (searchEach in
//     conditions.go): Conditions where the walk is not enough. It asks the search once
//     for each way; with too many ways the exceptions are left out, and the answer says
//     Inexact.
//
// Entry points: ParsePattern for text, Compile for questions, Set.Start for hot
// paths, Overlap and Within for analysis, Conditions for parameters.
package region
