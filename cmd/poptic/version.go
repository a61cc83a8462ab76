package main

import (
	"runtime"
	"runtime/debug"

	"github.com/patchoptic/poptic/internal/ir"
)

type versionVerb struct {
	Format string `enum:"text,json" default:"text" help:"How the version is printed: ${enum}."`
}

// Help is printed by --help.
func (versionVerb) Help() string {
	return `Says which build this is and which version of the compiled form it reads and writes.

Examples:

    poptic version
    poptic version --format json

Exit codes:

    0  printed`
}

// Run implements the verb.
func (v *versionVerb) Run(c *console) error {
	built := describeBuild()
	if v.Format == "json" {
		return c.printJSON(built)
	}
	c.outText().Line("poptic %s (compiled form %d, %s, %s)", built.Version, built.CompiledForm, built.Go, built.Platform)
	return nil
}

// A build identifies the program.
type build struct {
	Version      string `json:"version"`
	Revision     string `json:"revision,omitempty"`
	CompiledForm int    `json:"compiled_form"`
	Go           string `json:"go"`
	Platform     string `json:"platform"`
}

func describeBuild() build {
	b := build{Version: "(devel)", CompiledForm: ir.DecimalVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.Revision = s.Value
		}
	}
	return b
}
