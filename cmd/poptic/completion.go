package main

import (
	"embed"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// The scripts are thin: on every request they run the hidden verb __complete,
// which answers from the command line's own definition and from the contract
// that is being typed about.
//
//go:embed completion
var completionScripts embed.FS

type completionVerb struct {
	Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"One of ${enum}."`
}

// Help is printed by --help.
func (completionVerb) Help() string {
	return `Verbs, flags and their values are completed, and from the contract on the line its stages, phases, roles and arguments.

Examples:

    source <(poptic completion bash)
    poptic completion zsh > "${fpath[1]}/_poptic"
    poptic completion fish > ~/.config/fish/completions/poptic.fish
    poptic completion powershell | Out-String | Invoke-Expression

Exit codes:

    0  printed
    2  no such shell`
}

// Run implements the verb.
func (v *completionVerb) Run(c *console) error {
	ending := map[string]string{"powershell": "ps1"}[v.Shell]
	script, err := completionScripts.ReadFile("completion/poptic." + orElse(ending, v.Shell))
	if err != nil {
		return err
	}
	_, err = c.out.Write(script)
	return err
}

// completeVerb answers a shell: one candidate a line, a tab, what it means. The
// lines ":files" and ":folders" ask the shell for those. The last argument is the
// word being typed behind a "=", so that no shell drops it when it is empty.
type completeVerb struct {
	Words []string `arg:"" optional:""`
}

// Run implements the verb.
func (v *completeVerb) Run(c *console, model *kong.Application) error {
	if len(v.Words) == 0 {
		return nil
	}
	last := len(v.Words) - 1
	typed := strings.TrimPrefix(v.Words[last], "=")
	for _, candidate := range completions(model, v.Words[:last], typed) {
		fmt.Fprintf(c.out.w, "%s\t%s\n", visible(candidate.text), visible(candidate.help))
	}
	return nil
}
