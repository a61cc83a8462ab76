// Package plan says what a contract's stages may do side by side and in which order,
// draws that, and compares what two contracts allow.
//
// The concepts:
//
//   - Phase, Relation: for every two stages of a phase, whether they commute, under
//     which condition on their parameters, or why not.
//   - Plan: per phase, the largest groups of stages that may run side by side, and a
//     shortest schedule that respects "after".
//   - Graph: phases, stages, conflicts and flows, as nodes and edges; DOT, Mermaid,
//     SVG and HTML are renderings of it.
//   - Change: one thing that a contract allows and another does not, with a path that
//     shows it.
//
// Entry points: Relations, Of (the plan), Draw (the graph), Diff. All of them take
// compiled contracts and give data that marshals to JSON; text for people is made
// from the data.
package plan
