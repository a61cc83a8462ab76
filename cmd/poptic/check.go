package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

type checkVerb struct {
	Paths  []string `arg:"" optional:"" name:"path" help:"Contracts, libraries, or folders that are searched for .poptic files (testdata and hidden ones are left out)." placeholder:"PATH"`
	Format string   `enum:"text,json,sarif,junit,github" default:"text" help:"How findings are printed: ${enum}."`
	statesArg
	Strict    bool   `help:"Let every finding count, not only errors."`
	Fix       bool   `help:"First make every fix that findings carry, in place, but for those that let a stage see or do more, and such as are a choice; say which, and format what they touch."`
	Since     string `help:"Report what is new since a commit of git only: a finding that was there then is left out, wherever its line is now." placeholder:"REF"`
	ListRules bool   `help:"List the rules with their levels, as a configuration above the current directory sets them, and end."`
	Root      string `help:"Folder that imports may not leave; by default the current directory, or a contract's folder outside of it." placeholder:"DIR"`
}

// Help is printed by --help.
func (checkVerb) Help() string {
	return `Checks syntax, names, types, phases, regions, CEL expressions and claims. Every finding names the exact place in the file and what to do.

What compiles and is hardly meant is found by rules, each with a level: off, info, warning or error. A file poptic.yaml, in the folder of a contract or the nearest one above it, sets levels:

    rules:
      performance: off          # of a category
      whole_state_rule: error   # of a rule

A comment sets one finding aside, behind its line or on the line above: # poptic:ignore RULE reason.

A claim that stages commute is refuted by a run. It starts from a made-up state, from one that the tests beside the contract name (NAME_test.poptic), or from one given with --state; nothing else is read. Values at secret places are never shown.

Examples:

    poptic check contract.poptic
    poptic check --strict .
    poptic check --state today.json contract.poptic
    poptic check --fix draft.poptic
    poptic check --format json contracts/ > findings.json
    poptic check --since origin/main --format github .
    poptic check --format sarif . > poptic.sarif
    poptic check --list-rules

Exit codes:

    0  no error (with --strict: no finding)
    1  at least one error (with --strict: at least one finding)
    2  usage, or a file that cannot be read`
}

// Validate asks for something to check.
func (v *checkVerb) Validate() error {
	if len(v.Paths) == 0 && !v.ListRules {
		return errors.New(`expected "<path> ..."`)
	}
	return nil
}

// Run implements the verb.
func (v *checkVerb) Run(c *console) error {
	if v.ListRules {
		return v.listRules(c)
	}
	files, err := contractFiles(v.Paths)
	if err != nil {
		return err
	}
	states, err := v.states(c)
	if err != nil {
		return err
	}
	configs := configurations{}
	if v.Fix {
		if err := v.fixFiles(c, files, states, configs); err != nil {
			return err
		}
	}
	var all []source.Diagnostic
	var contracts []*ir.Contract
	for _, f := range files {
		contract, found, err := checkFile(c, f, v.Root, states, configs)
		if err != nil {
			return err
		}
		all = append(all, found...)
		if contract != nil {
			contracts = append(contracts, contract)
		}
	}
	if err := requireFitting(states, contracts); err != nil {
		return err
	}
	all = withoutRepeats(all)
	if v.Since != "" {
		then, err := v.then(c, states, configs)
		if err != nil {
			return err
		}
		all = newSince(all, then)
	}
	if err := v.print(c, files, all); err != nil {
		return err
	}
	if slices.ContainsFunc(all, v.counts) {
		return errNo
	}
	return nil
}

// then lists what was found at the commit that --since names.
func (v *checkVerb) then(c *console, states []namedState, configs configurations) ([]source.Diagnostic, error) {
	old, err := readRevision(c.ctx, folderOf(v.Paths[0]), v.Since)
	if err != nil {
		return nil, err
	}
	return old.findings(c, v.Paths, v.Root, states, configs)
}

// counts reports whether a finding makes the answer no.
func (v *checkVerb) counts(d source.Diagnostic) bool { return v.Strict || d.Severity == source.Error }

func (v *checkVerb) print(c *console, files []string, all []source.Diagnostic) error {
	p := c.outText()
	switch {
	case v.Format == "json":
		return report.JSON(c.out, all)
	case v.Format == "sarif":
		return report.SARIF(c.out, all, catalogue(), describeBuild().Version)
	case v.Format == "junit":
		return report.JUnit(c.out, files, all, v.counts)
	case v.Format == "github":
		return report.GitHub(c.out, all)
	case len(all) > 0:
		return report.Text(c.out, all, report.Options{Paint: p.Paint, Width: p.Width})
	}
	found := "nothing found"
	if v.Since != "" {
		found = "nothing new since " + v.Since
	}
	p.Line("%s %s checked, %s", p.Green("ok:"), terminal.Plural(len(files), "file"), found)
	return nil
}

// checkFile gives the findings of one file, and its contract if that has errors in
// claims at most. A compiled contract has no findings, or is broken.
func checkFile(c *console, file, root string, states []namedState, configs configurations) (*ir.Contract, []source.Diagnostic, error) {
	data, err := c.readFile("contract", file)
	if err != nil {
		return nil, nil, err
	}
	if ir.IsCompiled(data) {
		contract, err := ir.Decode(data)
		if err != nil {
			return nil, nil, broken(file, err)
		}
		return contract, nil, nil
	}
	return judgeText(c, file, data, root, states, configs)
}

// judgeText is checkFile for the text of a source file.
func judgeText(c *console, file string, text []byte, root string, states []namedState, configs configurations) (*ir.Contract, []source.Diagnostic, error) {
	at, err := locate(file, root)
	if err != nil {
		return nil, nil, err
	}
	defer at.close()
	return judgeIn(c, withText{noted{at.fs(), &c.inputs}, at.path, text}, at.path, at.show, states, filepath.Dir(file), configs)
}

// judgeIn judges a file of a file system, under the configuration of a folder.
func judgeIn(c *console, files fs.FS, name string, show func(string) string, states []namedState, folder string, configs configurations) (*ir.Contract, []source.Diagnostic, error) {
	config, err := configs.of(folder)
	if err != nil {
		return nil, nil, err
	}
	out, err := compiler.Compile(c.ctx, compiler.Input{FS: files, Path: name, Show: show, Replay: replayerIn(files, name, states)})
	if err != nil {
		return nil, nil, err
	}
	found, err := lint.Findings(c.ctx, lint.Input{Output: out, FS: files, Path: name, Config: config})
	return out.Lowered, found, err
}

// catalogue describes every code, with the level at which it is found if nothing else is said.
func catalogue() (out []report.Rule) {
	for _, k := range diagnostic.All() {
		r := report.Rule{Code: k.Code, Level: k.Severity.String(), What: k.What, Why: k.Why, Help: diagnostic.HelpURI(k.Code)}
		if rule, ok := lint.Find(k.Code); ok {
			r.Category, r.Level = string(rule.Category), rule.Level.String()
		}
		out = append(out, r)
	}
	return out
}

// configurations are those that hold for folders, each read once.
type configurations map[string]*lint.Config

func (all configurations) of(dir string) (*lint.Config, error) {
	if c, known := all[dir]; known {
		return c, nil
	}
	c, err := lint.NearestConfig(dir)
	var wrong *lint.ConfigError
	switch {
	case errors.As(err, &wrong):
		return nil, fail(wrong.Help, "%s", wrong.Error())
	case err != nil:
		return nil, unreadable("configuration", filepath.Join(dir, lint.ConfigFile), err)
	}
	all[dir] = c
	return c, nil
}

// A listedRule is a rule as --list-rules prints it.
type listedRule struct {
	Code     string `json:"code"`
	Category string `json:"category"`
	Level    string `json:"level"`
	Default  string `json:"default"`
	Purpose  string `json:"purpose"`
	Help     string `json:"help"`
}

// listRules prints the rules, with the levels that hold in the current directory.
func (v *checkVerb) listRules(c *console) error {
	config, err := configurations{}.of(".")
	if err != nil {
		return err
	}
	var list []listedRule
	for _, r := range lint.Rules() {
		list = append(list, listedRule{r.Code, string(r.Category), config.Level(r).String(), r.Level.String(), r.Purpose, diagnostic.HelpURI(r.Code)})
	}
	if v.Format == "json" {
		return c.printJSON(map[string]any{"rules": list})
	}
	p := c.outText()
	category := ""
	for _, r := range list {
		if r.Category != category {
			if category != "" {
				p.Line("")
			}
			category = r.Category
			p.Line("%s", p.Bold(category))
		}
		p.Line("  %-22s %-8s %s", r.Code, r.Level, r.Purpose)
	}
	return nil
}

// contractFiles replaces folders by the .poptic files below them, in order of
// their names; hidden folders are left out.
func contractFiles(paths []string) ([]string, error) {
	var files []string
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil {
			return nil, unreadable("contract", p, err)
		}
		if !info.IsDir() {
			files = append(files, p)
			continue
		}
		found, err := searchFolder(p)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fail("name a file, or another folder", "there is no .poptic file in %s", p)
		}
		files = append(files, found...)
	}
	return files, nil
}

func searchFolder(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable("folder", name, err)
		case d.IsDir() && name != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case !d.IsDir() && filepath.Ext(name) == ".poptic":
			files = append(files, name)
		}
		return nil
	})
	return files, err
}

// withoutRepeats sorts findings and drops those that two contracts share because
// both import the file they are in.
func withoutRepeats(ds []source.Diagnostic) []source.Diagnostic {
	type identity struct {
		file, code, message string
		start, end          int
	}
	seen := map[identity]bool{}
	ds = slices.DeleteFunc(source.Sort(ds), func(d source.Diagnostic) bool {
		id := identity{code: d.Code, message: d.Message, start: d.Span.Start, end: d.Span.End}
		if d.Span.File != nil {
			id.file = d.Span.File.Name
		}
		repeated := seen[id]
		seen[id] = true
		return repeated
	})
	return slices.Clip(ds)
}
