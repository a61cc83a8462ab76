// Command run tries every mutant: it lays the fault over the sources, runs the tests
// that must notice it, and says which mutants lived.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/patchoptic/poptic/internal/mutants"
)

func main() {
	names := os.Args[1:]
	if slices.ContainsFunc(names, func(s string) bool { return strings.HasPrefix(s, "-") }) {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/mutants/run [NAME]...\n\nTries the mutants whose name begins with a NAME, or all, and exits 1 if one lives, 2 if one could not be tried.")
		os.Exit(2)
	}
	lived, untried, err := run(names)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(2)
	case untried > 0:
		os.Exit(2)
	case lived > 0:
		os.Exit(1)
	}
}

func run(names []string) (lived, untried int, err error) {
	all, err := mutants.All()
	if err != nil {
		return 0, 0, err
	}
	scratch, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(scratch)
	var killed, same int
	for _, m := range all {
		if !wanted(m.Name, names) {
			continue
		}
		if m.Same != "" {
			same++
			fmt.Printf("same    %s: %s\n", m.Name, m.Same)
			continue
		}
		start := time.Now()
		killer, err := try(m, scratch)
		took := time.Since(start).Seconds()
		switch {
		case err != nil:
			untried++
			fmt.Printf("UNTRIED %s: %v\n", m.Name, err)
		case killer == "":
			lived++
			fmt.Printf("LIVES   %s (%.0f s), line %d of the list\n", m.Name, took, m.Line)
		default:
			killed++
			fmt.Printf("killed  %s (%.0f s) by %s\n", m.Name, took, killer)
		}
	}
	fmt.Printf("%d mutants killed, %d the same by argument, %d live, %d untried\n", killed, same, lived, untried)
	return lived, untried, nil
}

func wanted(name string, prefixes []string) bool {
	return len(prefixes) == 0 || slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

var failure = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// try runs a mutant's tests and names the first that fails, or what else ended them; ""
// if all pass. A mutant that does not compile, or tests that do not exist, are errors of
// the list.
func try(m mutants.Mutant, scratch string) (killer string, err error) {
	overlay, err := lay(m, scratch)
	if err != nil {
		return "", err
	}
	test := exec.Command("go", "test", "-overlay", overlay, "-count=1", "-short", "-failfast", "-vet=off", "-ldflags=-s -w", "-timeout=5m", "-run", m.Test, m.Package)
	out, failed := test.CombinedOutput()
	text := string(out)
	found := failure.FindStringSubmatch(text)
	switch {
	case strings.Contains(text, "[build failed]"), strings.Contains(text, "[setup failed]"):
		return "", fmt.Errorf("it does not compile:\n%s", text)
	case strings.Contains(text, "no tests to run"), strings.Contains(text, "no test files"):
		return "", fmt.Errorf("no test of %s is called %s", m.Package, m.Test)
	case failed == nil:
		return "", nil
	case found != nil:
		return found[1], nil
	case strings.Contains(text, "panic: "), strings.Contains(text, "fatal error: "):
		return "a crash", nil
	}
	return "", fmt.Errorf("the tests did not run:\n%s", text)
}

// lay writes the changed file, and the overlay that puts it in the place of the original.
func lay(m mutants.Mutant, scratch string) (overlay string, err error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	text, err := m.Apply(root)
	if err != nil {
		return "", err
	}
	changed := filepath.Join(scratch, filepath.Base(m.File))
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, filepath.FromSlash(m.File)): changed}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(scratch, "overlay.json")
	return overlay, os.WriteFile(overlay, replace, 0o600)
}
