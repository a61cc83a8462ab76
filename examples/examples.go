// Package examples holds complete workflows, embedded so that the command line
// can run them without a checkout. Each folder has a contract, a state it starts
// from, patches that commit and patches that do not, and a walk: the story that
// leads from one to the other, with the verdict expected at every step.
package examples

import "embed"

// FS holds every workflow in a folder of its own name.
//
//go:embed clinical release support
var FS embed.FS

// Names lists the workflows, the one to begin with first.
func Names() []string { return []string{"support", "clinical", "release"} }
