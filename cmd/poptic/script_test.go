package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
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

// record FILE records what happened at two desks, the same each time.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: record FILE")
	}
	recordDays(ts, args[0])
}

func recordDays(ts *testscript.TestScript, name string, opts ...runtime.Option) {
	ctx := context.Background()
	contract, err := contractArg{Contract: ts.MkAbs("desk.poptic")}.load(silent())
	ts.Check(err)
	loaded, err := runtime.Load(ir.Encode(contract))
	ts.Check(err)
	st, err := sqlite.Open(ctx, ts.MkAbs(name))
	ts.Check(err)
	defer st.Close()
	seconds := int64(1_700_000_000)
	clock := runtime.WithClock(func() time.Time { seconds++; return time.Unix(seconds, 0) })
	for _, id := range []string{"T-7", "T-8"} {
		random := runtime.WithRandom(bytes.NewReader(make([]byte, 32)))
		in, err := runtime.Create(ctx, loaded, st, id, []byte(ts.ReadFile("state.json")), append([]runtime.Option{clock, random}, opts...)...)
		ts.Check(err)
		if id == "T-7" {
			ts.Check(aDay(ctx, func() (*runtime.Instance, error) { // each time anew, so that no snapshot is left out
				if err := in.Close(ctx); err != nil {
					return nil, err
				}
				in, err = runtime.Open(ctx, loaded, st, id, append([]runtime.Option{clock}, opts...)...)
				return in, err
			}))
			ts.Check(in.Close(ctx))
		}
	}
}

// snapshot FILE records that day again at T-7, with snapshots.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: snapshot FILE")
	}
	ts.Check(os.Remove(ts.MkAbs(args[0])))
	recordDays(ts, args[0], runtime.WithSnapshotAfter(1))
}

// aDay is what happened at the desk T-7.
func aDay(ctx context.Context, open func() (*runtime.Instance, error)) error {
	args := map[string]string{"ticket": "T1"}
	in, err := open()
	if err != nil {
		return err
	}
	view, err := in.View(ctx, runtime.Request{Stage: "classify", Args: args, Role: "triage_bot"})
	if err != nil {
		return err
	}
	for _, patch := range []string{
		`[{"op":"test","path":"/tickets/T1/internal","value":"CANARY"}]`,
		`[{"op":"add","path":"/tickets/T1/labels/-","value":"urgent"},{"op":"add","path":"/history/-","value":"sorted"}]`,
		`[]`,
	} {
		if in, err = open(); err != nil {
			return err
		}
		p := runtime.Proposal{Stage: "classify", Args: args, Role: "triage_bot", Base: view.Version, Patch: []byte(patch)}
		if _, err := in.Propose(ctx, p); err != nil {
			return err
		}
	}
	if in, err = open(); err != nil {
		return err
	}
	if _, err := in.Advance(ctx, "review", "host"); err != nil {
		return err
	}
	if in, err = open(); err != nil {
		return err
	}
	_, err = in.Propose(ctx, runtime.Proposal{
		Stage: "refund", Args: map[string]string{"ticket": "T1", "id": "R1"}, Role: "human", Base: 2, Key: "pay-1",
		Patch: []byte(`[{"op":"add","path":"/refunds/R1","value":{"ticket":"T1","amount":40}}]`),
	})
	return err
}

// changeDatabase FILE STATEMENT changes a database behind the store's back.
func changeDatabase(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: sql FILE STATEMENT")
	}
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	defer db.Close()
	_, err = db.Exec(args[1])
	ts.Check(err)
}

// forge FILE LINE REGEXP TEXT rewrites what matches in a line of a trace, and gives the
// line the hash to go with it; the lines behind it are cut off.
func forge(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: forge FILE LINE REGEXP TEXT")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	lines := strings.SplitAfter(ts.ReadFile(args[0]), "\n")[:n]
	last := lines[n-1]
	body := regexp.MustCompile(args[2]).ReplaceAllString(last[:strings.LastIndex(last, `,"hash":`)], args[3])
	sum := sha256.Sum256([]byte(body + "}"))
	lines[n-1] = body + `,"hash":"sha256:` + hex.EncodeToString(sum[:]) + "\"}\n"
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(strings.Join(lines, "")), 0o644))
}

// anchorOfOutput VARIABLE keeps the anchor that the last command printed, and in CAPITALS
// the same with capital digits.
func anchorOfOutput(ts *testscript.TestScript, neg bool, args []string) {
	_, text, found := strings.Cut(ts.ReadFile("stdout"), "anchor ")
	if neg || len(args) != 1 || !found {
		ts.Fatalf("usage: anchor VARIABLE, after an audit")
	}
	text = strings.Fields(text)[0]
	ts.Setenv(args[0], text)
	number, hash, _ := strings.Cut(text, ":sha256:")
	ts.Setenv("CAPITALS", number+":sha256:"+strings.ToUpper(hash))
}

// flip FILE FROM TO flips a bit in each byte of a stretch of a file.
func flip(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: flip FILE FROM TO")
	}
	from, err := strconv.Atoi(args[1])
	ts.Check(err)
	to, err := strconv.Atoi(args[2])
	ts.Check(err)
	data := []byte(ts.ReadFile(args[0]))
	for i := from; i < to; i++ {
		data[i] ^= 0x40
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o644))
}

// recordLog records one commit of the contract c.popticc in a database.
func recordLog(t *testing.T, name string) {
	t.Helper()
	ctx := context.Background()
	compiled, err := os.ReadFile("c.popticc")
	require.NoError(t, err)
	loaded, err := runtime.Load(compiled)
	require.NoError(t, err)
	st, err := sqlite.Open(ctx, name)
	require.NoError(t, err)
	in, err := runtime.Create(ctx, loaded, st, "one", []byte(`{"notes": []}`))
	require.NoError(t, err)
	v, err := in.Propose(ctx, runtime.Proposal{Stage: "note", Patch: []byte(`[{"op":"add","path":"/notes/-","value":"x"}]`)})
	require.NoError(t, err)
	require.EqualValues(t, "commit", v.Verdict)
	require.NoError(t, st.Close())
}
