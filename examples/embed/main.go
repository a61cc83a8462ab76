// Command embed shows how a program uses the runtime: it carries a compiled
// contract, keeps an instance of it in a file of SQLite, shows an actor its view,
// hands it the reply to each proposal, and stops when a proposal commits or the
// tries are used up. In the middle of that it stops and begins again, as a process
// that was killed does.
//
// Only package runtime and a store are linked; the compiler ran before, and wrote
// contract.popticc.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

//go:generate go run github.com/patchoptic/poptic/cmd/poptic build contract.poptic -o contract.popticc

//go:embed contract.popticc
var compiled []byte

//go:embed state.json
var state []byte

func main() {
	folder, err := os.MkdirTemp("", "embed")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	if err := run(context.Background(), os.Stdout, filepath.Join(folder, "questions.db")); err != nil {
		log.Fatal(err)
	}
}

// run answers a question in two sessions on one file. The first ends after one
// proposal, whatever came of it; all that the second knows is in the file, but for what
// the actor was told last.
func run(ctx context.Context, w io.Writer, file string) error {
	contract, err := runtime.Load(compiled)
	if err != nil {
		return err
	}
	a, reply := &scripted{}, json.RawMessage(nil)
	for _, proposals := range []int{1, 10} {
		if reply, err = session(ctx, w, contract, file, func(ctx context.Context, instance *runtime.Instance) (json.RawMessage, error) {
			return answer(ctx, w, instance, "Q1", a, reply, proposals)
		}); err != nil {
			return err
		}
	}
	return audit(ctx, w, contract, file)
}

// session opens the file, does something with the instance in it, and closes the file.
// The first session begins the instance.
func session(
	ctx context.Context, w io.Writer, contract *runtime.Contract, file string,
	do func(context.Context, *runtime.Instance) (json.RawMessage, error),
) (reply json.RawMessage, err error) {
	st, err := sqlite.Open(ctx, file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	instance, err := runtime.Open(ctx, contract, st, "questions")
	if errors.Is(err, store.ErrNotFound) {
		instance, err = runtime.Create(ctx, contract, st, "questions", state)
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, instance.Close(ctx)) }()
	fmt.Fprintf(w, "opened at version %d, after %d records\n", instance.Version(), instance.Head().Seq)
	return do(ctx, instance)
}

// An actor turns a task and a view into a patch. reply is the answer to its last
// proposal, nil at first.
type actor interface {
	propose(task string, view, reply json.RawMessage) (json.RawMessage, error)
}

// answer is the loop around an actor: view, propose, and again with the reply. It ends
// when there is nothing left to try, or after a number of proposals, with the last reply.
func answer(
	ctx context.Context, w io.Writer, instance *runtime.Instance, question string, a actor, reply json.RawMessage, proposals int,
) (json.RawMessage, error) {
	args := map[string]string{"question": question}
	for range proposals {
		view, err := instance.View(ctx, runtime.Request{Stage: "answer", Args: args, Role: "writer"})
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "the actor sees %s\n", view.Value)
		patch, err := a.propose(view.Task, view.Value, reply)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(w, "it proposes %s\n", patch)
		verdict, err := instance.Propose(ctx, runtime.Proposal{
			Stage: "answer", Args: args, Role: "writer", Base: view.Version, Patch: patch,
		})
		if err != nil {
			return nil, err
		}
		tell(w, verdict.Actor())
		if reply, err = json.Marshal(verdict.Actor()); err != nil {
			return nil, err
		}
		if !verdict.Actor().Retryable {
			break
		}
	}
	return reply, nil
}

// tell prints what the actor is told.
func tell(w io.Writer, v runtime.ActorVerdict) {
	fmt.Fprintf(w, "verdict: %s, attempt %d of %d\n", v.Verdict, v.Attempt, v.MaxAttempts)
	for _, violation := range v.Violations {
		fmt.Fprintf(w, "  %s: %s\n", violation.Code, violation.Message)
	}
	fmt.Fprintln(w)
}

// audit makes every decision in the file again, and prints the state that they lead to.
func audit(ctx context.Context, w io.Writer, contract *runtime.Contract, file string) (err error) {
	st, err := sqlite.OpenReadOnly(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	replayed, err := runtime.Replay(ctx, contract, st, "questions")
	if err != nil {
		return err
	}
	if d := replayed.Different; d != nil {
		return fmt.Errorf("record %d says %s of %s, and it is %s", d.Seq, d.Recorded, d.Member, d.Again)
	}
	fmt.Fprintf(w, "%d decisions made again, all as recorded\n", replayed.Decisions)
	last, err := runtime.At(ctx, contract, st, "questions", replayed.Version)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the state at version %d: %s\n", last.Version, last.State)
	return nil
}
