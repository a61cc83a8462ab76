package main

import (
	"bytes"
	"context"
	"io/fs"
	"strings"
	"time"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/examples/walk"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/spell"
	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

type demoVerb struct {
	Name string `arg:"" optional:"" help:"Which example: ${examples}. The first one if left out."`
}

// Help is printed by --help.
func (demoVerb) Help() string {
	return `Compiles an example that is part of the program, starts an instance of it and walks it from beginning to end: what each actor saw, which proposals committed, which did not and why, and the log that remains.

Examples:

    poptic demo
    poptic demo clinical

Exit codes:

    0  every step ended as the example says it does
    1  a step ended otherwise
    2  no such example`
}

// Run implements the verb.
func (v *demoVerb) Run(c *console) error {
	name, err := exampleNamed(v.Name)
	if err != nil {
		return err
	}
	scenario, err := walk.Read(examples.FS, name)
	if err != nil {
		return err
	}
	instance, err := startExample(c, name)
	if err != nil {
		return err
	}
	story, err := walk.Run(c.ctx, instance, scenario)
	if err != nil {
		return err
	}
	log, err := auditedTrace(c.ctx, instance)
	if err != nil {
		return err
	}
	if surprises := c.outText().story(name, scenario, story, log); surprises > 0 {
		return errNo
	}
	return nil
}

func exampleNamed(name string) (string, error) {
	known := examples.Names()
	if name == "" {
		return known[0], nil
	}
	for _, k := range known {
		if k == name {
			return k, nil
		}
	}
	return "", fail(didYouMean("example", spell.Nearest(name, known), known), "there is no example %q", name)
}

// startExample compiles an embedded example and creates an instance of it. Clock
// and key are fixed, so that the demonstration is the same every time.
func startExample(c *console, name string) (*runtime.Instance, error) {
	dir, err := fs.Sub(examples.FS, name)
	if err != nil {
		return nil, err
	}
	out, err := compiler.Compile(c.ctx, compiler.Input{FS: dir, Path: "contract.poptic"})
	if err != nil {
		return nil, err
	}
	contract, err := c.accept(name+"/contract.poptic", out)
	if err != nil {
		return nil, err
	}
	loaded, err := runtime.Load(ir.Encode(contract))
	if err != nil {
		return nil, err
	}
	state, err := fs.ReadFile(dir, "state.json")
	if err != nil {
		return nil, err
	}
	return runtime.Create(c.ctx, loaded, store.NewMemory(), name, state,
		runtime.WithClock(ticking()), runtime.WithRandom(strings.NewReader(strings.Repeat("demonstration key", 64))))
}

// ticking is a clock that goes on by a second whenever it is looked at.
func ticking() func() time.Time {
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// auditedTrace is the instance's trace, line by line, after its chain was checked.
func auditedTrace(ctx context.Context, in *runtime.Instance) ([][]byte, error) {
	var b bytes.Buffer
	if err := in.Trace(ctx, &b); err != nil {
		return nil, err
	}
	if _, err := trace.Verify(bytes.NewReader(b.Bytes())); err != nil {
		return nil, err
	}
	return bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n")), nil
}
