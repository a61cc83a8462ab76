package main

import (
	"cmp"
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/spec/diagnostics"
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
	script, err := completionScripts.ReadFile("completion/poptic." + terminal.OrElse(ending, v.Shell))
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
		fmt.Fprintf(c.raw, "%s\t%s\n", terminal.Visible(candidate.text), terminal.Visible(candidate.help))
	}
	return nil
}

// A candidate is one way to complete a word.
type candidate struct{ text, help string }

// Candidates that leave it to the shell.
var (
	anyFile   = candidate{":files", ""}
	anyFolder = candidate{":folders", ""}
)

// completions proposes how the word typed can go on behind words.
func completions(model *kong.Application, words []string, typed string) []candidate {
	line := readLine(model, words)
	switch {
	case line.pending != nil:
		return matching(line.values(line.pending.Name, line.pending.Value, typed), typed)
	case strings.HasPrefix(typed, "-"):
		return line.flag(typed)
	case line.verb == nil:
		return matching(verbNames(model), typed)
	}
	return matching(line.argument(typed), typed)
}

// A typedLine is what a command line has said so far.
type typedLine struct {
	model   *kong.Application
	verb    *kong.Node
	pending *kong.Flag // a flag that waits for its value
	given   map[string][]string
	args    []string
}

func readLine(model *kong.Application, words []string) *typedLine {
	l := &typedLine{model: model, given: map[string][]string{}}
	for _, w := range words {
		l.read(w)
	}
	return l
}

func (l *typedLine) read(word string) {
	switch {
	case l.pending != nil:
		l.give(l.pending, word)
		l.pending = nil
	case strings.HasPrefix(word, "-") && word != "-":
		name, value, hasValue := strings.Cut(word, "=")
		f := l.find(name)
		switch {
		case f == nil:
		case hasValue || f.IsBool():
			l.give(f, value)
		default:
			l.pending = f
		}
	case l.verb == nil:
		l.verb = verbNamed(l.model, word)
	default:
		l.args = append(l.args, word)
	}
}

func (l *typedLine) give(f *kong.Flag, value string) {
	l.given[f.Name] = append(l.given[f.Name], value)
}

// flags are those the verb takes, the ones of every verb included.
func (l *typedLine) flags() []*kong.Flag {
	node := l.verb
	if node == nil {
		node = l.model.Node
	}
	return slices.Concat(node.AllFlags(true)...)
}

func (l *typedLine) find(dashed string) *kong.Flag {
	for _, f := range l.flags() {
		if dashed == "--"+f.Name || f.Short != 0 && dashed == "-"+string(f.Short) {
			return f
		}
	}
	return nil
}

// flag completes a flag's name or, behind "=", its value.
func (l *typedLine) flag(typed string) []candidate {
	name, value, hasValue := strings.Cut(typed, "=")
	if f := l.find(name); f != nil && hasValue {
		var all []candidate
		for _, v := range l.values(f.Name, f.Value, value) {
			if v != anyFile && v != anyFolder {
				v.text = name + "=" + v.text
			}
			all = append(all, v)
		}
		return matching(all, typed)
	}
	var all []candidate
	for _, f := range l.flags() {
		if _, given := l.given[f.Name]; !given || f.IsSlice() {
			all = append(all, candidate{"--" + f.Name, f.Help})
		}
	}
	return matching(all, typed)
}

// values proposes values of a flag or an argument, by its choices, what it names
// in the contract or the store, or the placeholder that says it is a file. typed is what
// there is of the value.
func (l *typedLine) values(name string, v *kong.Value, typed string) []candidate {
	if v.Enum != "" {
		return plain(v.EnumSlice())
	}
	switch name {
	case "stage", "phase", "next", "advance", "role", "arg":
		return l.fromContract(name)
	case "store":
		return stores(typed)
	case "instance":
		return plain(l.instances())
	case "key", "version", "run":
		return nil
	case "name":
		return plain(examples.Names())
	}
	switch v.Tag.PlaceHolder {
	case "DIR":
		return []candidate{anyFolder}
	case "CONTRACT|CODE":
		if typed != "" { // of so many codes those that are meant
			return append(plain(diagnostics.Codes()), anyFile)
		}
	}
	return []candidate{anyFile}
}

func (l *typedLine) argument(typed string) []candidate {
	positionals := l.verb.Positional
	if len(positionals) == 0 {
		return nil
	}
	at := len(l.args)
	if at >= len(positionals) {
		if at = len(positionals) - 1; !positionals[at].IsCumulative() {
			return nil
		}
	}
	return l.values(positionals[at].Name, positionals[at], typed)
}

// fromContract proposes names the contract on the line declares; none if it
// cannot be read.
func (l *typedLine) fromContract(name string) []candidate {
	if len(l.args) == 0 {
		return nil
	}
	contract := l.contract()
	if contract == nil {
		return nil
	}
	switch name {
	case "stage":
		var all []candidate
		for _, s := range contract.Stages {
			all = append(all, candidate{s.Name, firstLine(s.Doc)})
		}
		return all
	case "role":
		return plain(roleNames(contract))
	case "arg":
		return l.parameters(contract)
	}
	return plain(phaseNames(contract))
}

func (l *typedLine) contract() *ir.Contract {
	at := contractArg{Contract: l.args[0]}
	if roots := l.given["root"]; len(roots) > 0 {
		at.Root = roots[len(roots)-1]
	}
	contract, err := at.load(silent())
	if err != nil {
		return nil
	}
	return contract
}

// stores proposes URLs of stores, once there is a scheme with the files that there are.
func stores(typed string) []candidate {
	file, found := strings.CutPrefix(typed, sqliteScheme)
	if !found {
		return []candidate{{sqliteScheme, "a file of SQLite"}}
	}
	dir := file[:strings.LastIndexByte(file, filepath.Separator)+1]
	entries, err := os.ReadDir(cmp.Or(dir, "."))
	if err != nil {
		return nil
	}
	var all []candidate
	for _, e := range entries {
		name := sqliteScheme + dir + e.Name()
		if e.IsDir() {
			name += string(filepath.Separator)
		}
		all = append(all, candidate{text: name})
	}
	return all
}

// instances lists those of the store on the line; none if it cannot be read, or where
// one is to begin.
func (l *typedLine) instances() []string {
	var log logArg
	for _, url := range l.given["store"] {
		log.Store, _ = parseStoreURL(url)
	}
	if !log.Store.given() && len(l.args) > 0 {
		log.Log = l.args[0]
	}
	if l.verb == nil || l.verb.Name == "create" || log.settle() != nil {
		return nil
	}
	c := silent()
	st, err := log.openDatabase(c)
	if err != nil || st == nil {
		return nil
	}
	defer st.Close()
	ids, _ := instancesOf(c, st)
	return ids
}

// parameters proposes NAME= for the stage on the line, or for every stage.
func (l *typedLine) parameters(contract *ir.Contract) []candidate {
	var names []string
	for _, s := range contract.Stages {
		if given := l.given["stage"]; len(given) > 0 && given[0] != s.Name {
			continue
		}
		for _, p := range s.Params {
			if p.Kind != ir.DependentParam {
				names = append(names, p.Name+"=")
			}
		}
		for _, v := range s.Values {
			names = append(names, v.Name+"=")
		}
	}
	slices.Sort(names)
	return plain(slices.Compact(names))
}

func roleNames(contract *ir.Contract) []string {
	var names []string
	for _, s := range contract.Stages {
		names = append(names, s.By...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func verbNamed(model *kong.Application, name string) *kong.Node {
	for _, v := range model.Children {
		if v.Name == name {
			return v
		}
	}
	return nil
}

func verbNames(model *kong.Application) []candidate {
	var all []candidate
	for _, v := range model.Children {
		if !v.Hidden {
			all = append(all, candidate{v.Name, v.Help})
		}
	}
	return all
}

func plain(texts []string) []candidate {
	all := make([]candidate, len(texts))
	for i, t := range texts {
		all[i].text = t
	}
	return all
}

func matching(all []candidate, typed string) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool {
		return c != anyFile && c != anyFolder && !strings.HasPrefix(c.text, typed)
	})
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
