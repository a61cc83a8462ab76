// Package view computes what a region shows of a state (spec/semantics.md section
// 11). Project is the entry point; it takes the region as a cursor, so that one
// walk over the state steps both at once.
package view
