// Package mutants holds small faults planted in the code, each with the tests that
// must notice it. A mutant that no test notices is a promise that nothing keeps.
//
// The list is mutants.txt. One mutant there is
//
//	mutant NAME
//	file   PATH of the file that is changed, from the root of the module
//	test   PACKAGE TEST: the package whose tests are run, and which of them
//	same   WHY no test can tell the mutant apart (in place of test)
//	 line that stays
//	-line that goes
//	+line that comes
//
// Lines that stay and go are together found once in the file. Lines that start with #
// between mutants are comments. The sources are never touched: the changed file is
// laid over the original with the -overlay flag of the go command.
//
//	go run ./internal/mutants/run [NAME]...
//
// runs every mutant, or those whose name begins with one that is given, and fails if
// one of them passes its tests.
package mutants

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed mutants.txt
var list string

// A Mutant is one planted fault. Old stands exactly once in File, and New in its
// place is the fault. Either Package and Test name what must fail, or Same says why
// nothing can.
type Mutant struct {
	Name, File    string
	Package, Test string
	Same          string
	Old, New      string
	Line          int // of the list, from 1
}

// All returns the list, in order. An entry that is incomplete is an error that names
// its line.
func All() ([]Mutant, error) { return parse(list) }

func parse(text string) ([]Mutant, error) {
	var out []Mutant
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		rest = strings.TrimSpace(rest)
		if word == "mutant" {
			out = append(out, Mutant{Name: rest, Line: i + 1})
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		if len(out) == 0 {
			return nil, fmt.Errorf("line %d stands before the first mutant", i+1)
		}
		m := &out[len(out)-1]
		switch {
		case line[0] == ' ':
			m.Old, m.New = m.Old+line[1:]+"\n", m.New+line[1:]+"\n"
		case line[0] == '-':
			m.Old += line[1:] + "\n"
		case line[0] == '+':
			m.New += line[1:] + "\n"
		case word == "file":
			m.File = rest
		case word == "test":
			m.Package, m.Test, _ = strings.Cut(rest, " ")
		case word == "same":
			m.Same = rest
		default:
			return nil, fmt.Errorf("line %d is no part of a mutant", i+1)
		}
	}
	for _, m := range out {
		if err := m.complete(); err != nil {
			return nil, fmt.Errorf("line %d: mutant %q %w", m.Line, m.Name, err)
		}
	}
	return out, nil
}

func (m Mutant) complete() error {
	switch {
	case m.Name == "" || m.File == "" || m.Old == "":
		return fmt.Errorf("lacks a name, a file or the lines to find")
	case m.Old == m.New:
		return fmt.Errorf("changes nothing")
	case (m.Test == "") == (m.Same == ""):
		return fmt.Errorf("needs either a test or the reason why none can tell it apart")
	}
	return nil
}

// Apply gives the text of the mutant's file with the fault in it. Root is the folder
// of the module.
func (m Mutant) Apply(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.File)))
	if err != nil {
		return "", err
	}
	// Lines are found whole: a line end before the first is part of what is sought.
	before, old := "\n"+string(text), "\n"+m.Old
	if n := strings.Count(before, old); n != 1 {
		return "", fmt.Errorf("mutant %q: its lines stand %d times in %s", m.Name, n, m.File)
	}
	return strings.Replace(before, old, "\n"+m.New, 1)[1:], nil
}
