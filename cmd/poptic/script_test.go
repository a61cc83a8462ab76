package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"poptic": main})
}

// TestScripts runs every script of testdata/script, each in a folder of its own
// that starts as a copy of testdata/desk. POPTIC_UPDATE=1 rewrites what the
// scripts expect to what they got.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("POPTIC_UPDATE") != "",
		Setup:               copyDesk,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"make":     makeFile,
			"cut":      cut,
			"record":   record,
			"snapshot": snapshot,
			"sql":      changeDatabase,
			"flip":     flip,
			"forge":    forge,
			"anchor":   anchorOfOutput,
		},
	})
}

func copyDesk(env *testscript.Env) error {
	files, err := os.ReadDir("testdata/desk")
	if err != nil {
		return err
	}
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join("testdata/desk", f.Name()))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(env.WorkDir, f.Name()), data, 0o644); err != nil {
			return err
		}
	}
	env.Setenv("NO_COLOR", "1")
	return nil
}

// condition adds [superuser], who may read every file.
func condition(name string) (bool, error) {
	if name == "superuser" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("there is no condition %q", name)
}

// exits CODE PROGRAM ARGS... runs a program and checks its exact exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// makeFile FILE KIND SIZE writes a file that would be too long for a script.
func makeFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: make FILE KIND SIZE")
	}
	n, err := strconv.Atoi(args[2])
	ts.Check(err)
	var text string
	switch args[1] {
	case "braces":
		text = strings.Repeat("{", n)
	case "binary":
		text = strings.Repeat("\x00\xff\x01\xfe", n)
	case "operations":
		text = "[" + strings.TrimSuffix(strings.Repeat(`{"op":"test","path":"/tickets/T1/status","value":"open"},`, n), ",") + "]"
	case "nested":
		text = `[{"op":"add","path":"/tickets/T1/labels/-","value":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}]"
	case "mistakes":
		text = mistakes(n)
	default:
		ts.Fatalf("make does not know %q", args[1])
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// mistakes is a contract with n mistakes, one a line, behind a good beginning.
func mistakes(n int) string {
	var b strings.Builder
	b.WriteString("contract wrong\nstate { a: string }\n")
	for i := range n {
		fmt.Fprintf(&b, "stage s%d { reed /a }\n", i)
	}
	return b.String()
}

// cut FILE BYTES shortens a file.
func cut(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: cut FILE BYTES")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(n)))
}
