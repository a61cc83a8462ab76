package main

import (
	"errors"
	"fmt"
	"strings"
)

// The exit codes of every verb.
const (
	exitFine   = 0 // the answer is yes
	exitNo     = 1 // the answer is no: findings, a reject, nothing to show
	exitBroken = 2 // there is no answer: usage, unreadable or broken input
)

// errNo ends a verb whose answer is no and has been printed.
var errNo = errors.New("the answer is no")

// A failure says why a verb could not answer: what is wrong, the places where,
// and what to do about it. It never holds a value of a state.
type failure struct {
	What  string
	Where []string
	Help  string
}

func (f *failure) Error() string { return f.What }

func fail(help, format string, args ...any) *failure {
	return &failure{What: fmt.Sprintf(format, args...), Help: help}
}

// finish prints the error a verb ended with, if it is one, and gives the exit code. An
// answer that could not be written is none.
func (c *console) finish(err error) int {
	if c.out.failed != nil && (err == nil || errors.Is(err, errNo)) {
		err = fail("the answer is not complete", "cannot write to standard output: %s", causeOf(c.out.failed))
	}
	switch {
	case err == nil:
		return exitFine
	case errors.Is(err, errNo):
		return exitNo
	}
	c.explainFailure(err)
	return exitBroken
}

func (c *console) explainFailure(err error) {
	p := c.errText()
	p.line("%s %s", p.red("poptic:"), visible(err.Error()))
	var f *failure
	if !errors.As(err, &f) {
		return
	}
	const shown = 20
	for i, w := range f.Where {
		if i == shown {
			p.line("  ... and %d more", len(f.Where)-shown)
			break
		}
		p.wrapped("  ", "    ", visible(w))
	}
	if f.Help != "" {
		p.wrapped("  help: ", "        ", visible(f.Help))
	}
}

// didYouMean is a help sentence naming the nearest of known, or all of them.
func didYouMean(kind, nearest string, known []string) string {
	switch {
	case nearest != "":
		return fmt.Sprintf("did you mean %q?", nearest)
	case len(known) == 0:
		return fmt.Sprintf("there is no %s to choose", kind)
	}
	return fmt.Sprintf("the %ss are %s", kind, strings.Join(known, ", "))
}
