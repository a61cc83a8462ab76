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
// Entry points: ParsePattern for text, Compile for questions, Set.Start for hot
// paths, Overlap and Within for analysis, Conditions for parameters.
package region
