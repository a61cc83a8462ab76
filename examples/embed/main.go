// Command embed shows how a program uses the runtime: it carries a compiled
// contract, shows an actor its view, hands it the reply to each proposal, and
// stops when a proposal commits or the tries are used up.
//
// Only package runtime and a store are linked; the compiler ran before, and wrote
// contract.popticc.
package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

//go:generate go run github.com/patchoptic/poptic/cmd/poptic build contract.poptic -o contract.popticc

//go:embed contract.popticc
var compiled []byte

//go:embed state.json
var state []byte

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, w io.Writer) error {
	contract, err := runtime.Load(compiled)
	if err != nil {
		return err
	}
	instance, err := runtime.Create(ctx, contract, store.NewMemory(), "questions", state)
	if err != nil {
		return err
	}
	if err := answer(ctx, w, instance, "Q1", &scripted{}); err != nil {
		return err
	}
	after, err := instance.State(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "the state at version %d: %s\n", instance.Version(), after)
	return nil
}

// An actor turns a task and a view into a patch. reply is the answer to its last
// proposal, nil at first.
type actor interface {
	propose(task string, view, reply json.RawMessage) (json.RawMessage, error)
}

// answer is the loop around an actor: view, propose, and again with the reply.
func answer(ctx context.Context, w io.Writer, instance *runtime.Instance, question string, a actor) error {
	args := map[string]string{"question": question}
	var reply json.RawMessage
	for {
		view, err := instance.View(ctx, runtime.Request{Stage: "answer", Args: args, Role: "writer"})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "the actor sees %s\n", view.Value)
		patch, err := a.propose(view.Task, view.Value, reply)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "it proposes %s\n", patch)
		verdict, err := instance.Propose(ctx, runtime.Proposal{
			Stage: "answer", Args: args, Role: "writer", Base: view.Version, Patch: patch,
		})
		if err != nil {
			return err
		}
		tell(w, verdict.Actor())
		if !verdict.Actor().Retryable {
			return nil
		}
		if reply, err = json.Marshal(verdict.Actor()); err != nil {
			return err
		}
	}
}

// tell prints what the actor is told.
func tell(w io.Writer, v runtime.ActorVerdict) {
	fmt.Fprintf(w, "verdict: %s\n", v.Verdict)
	for _, violation := range v.Violations {
		fmt.Fprintf(w, "  %s: %s\n", violation.Code, violation.Message)
	}
	fmt.Fprintln(w)
}
