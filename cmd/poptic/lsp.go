package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/lsp"
	"github.com/patchoptic/poptic/internal/suite/replay"
)

type lspVerb struct {
	Stdio bool `hidden:"" help:"Speak on standard input and output, as it always does; some editors say so."`
}

// Help is printed by --help.
func (lspVerb) Help() string {
	return `Speaks the Language Server Protocol on standard input and output, to an editor that starts it: diagnostics while you type, hover, completion, definitions, references, renaming, symbols, colours, folding, hints, fixes and lenses. What it finds is what "poptic check" finds; files that are open and not saved count as they are in the editor.

Folders of the workspace are what imports may not leave. The folder "editors" of the project has the settings of VS Code, Neovim and Helix.

Examples:

    poptic lsp
    hx --health poptic

Exit codes:

    0  the editor asked for a shutdown
    1  it went away without one
    2  usage`
}

// Run implements the verb.
func (lspVerb) Run(c *console) error {
	// An editor's memory is cheaper than its user's time: compiling makes much garbage.
	debug.SetGCPercent(400)
	libraries := ""
	if dir, err := os.UserCacheDir(); err == nil {
		libraries = filepath.Join(dir, "poptic", "std")
	}
	clean, err := lsp.Serve(c.ctx, c.in, c.raw, lsp.Options{
		Version:   describeBuild().Version,
		Libraries: libraries,
		Log:       c.err,
		Replay: func(fsys fs.FS, path string) footprint.Replayer {
			return replay.New(replay.Options{Fixtures: func() []string { return testStates(fsys, path) }})
		},
	})
	if err == nil && !clean {
		return errNo
	}
	return err
}
