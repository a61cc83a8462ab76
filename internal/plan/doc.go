// Package plan says what a contract's stages may do side by side and in which order,
// and draws that.
//
// The concepts:
//
//   - Phase, Relation: for every two stages of a phase, whether they commute, under
//     which condition on their parameters, or why not.
//   - Plan: per phase, the largest groups of stages that may run side by side, and a
//     shortest schedule that respects "after".
//   - Graph: phases, stages, conflicts and flows, as nodes and edges; DOT, Mermaid,
//     SVG and HTML are renderings of it.
//
// Entry points: Relations, Of (the plan), Draw (the graph). All of them take
// compiled contracts and give data that marshals to JSON; text for people is made
// from the data.
package plan
