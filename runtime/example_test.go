package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// exampleContract is the contract of examples/embed as "poptic build" wrote it: questions
// that a writer answers, one at a time.
func exampleContract() *runtime.Contract {
	compiled, err := os.ReadFile("../examples/embed/contract.popticc")
	if err != nil {
		log.Fatal(err)
	}
	contract, err := runtime.Load(compiled)
	if err != nil {
		log.Fatal(err)
	}
	return contract
}

const exampleState = `{
  "answered": [],
  "questions": {"Q1": {"asker": "rosa@example.com", "status": "open", "text": "How long is a day on Mars?"}}
}`

// exampleInstance is an instance called "questions" that has just begun.
func exampleInstance(ctx context.Context, st store.Store) *runtime.Instance {
	instance, err := runtime.Create(ctx, exampleContract(), st, "questions", []byte(exampleState))
	if err != nil {
		log.Fatal(err)
	}
	return instance
}

// An answer is what an actor proposes.
const exampleAnswer = `[
  {"op": "add", "path": "/questions/Q1/answer", "value": "24 hours and 37 minutes."},
  {"op": "replace", "path": "/questions/Q1/status", "value": "answered"}
]`

var exampleQ1 = map[string]string{"question": "Q1"}

// Load a contract, begin an instance, show an actor its view, and decide what it proposes.
func Example() {
	ctx := context.Background()
	compiled, err := os.ReadFile("../examples/embed/contract.popticc") // written by "poptic build"
	if err != nil {
		log.Fatal(err)
	}
	contract, err := runtime.Load(compiled)
	if err != nil {
		log.Fatal(err)
	}
	instance, err := runtime.Create(ctx, contract, store.NewMemory(), "questions", []byte(exampleState))
	if err != nil {
		log.Fatal(err)
	}
	args := map[string]string{"question": "Q1"}
	view, err := instance.View(ctx, runtime.Request{Stage: "answer", Args: args, Role: "writer"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(view.Task)
	fmt.Println(string(view.Value)) // the actor sees this, and answers with a patch
	verdict, err := instance.Propose(ctx, runtime.Proposal{
		Stage: "answer", Args: args, Role: "writer", Base: view.Version, Patch: []byte(exampleAnswer),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(verdict.Verdict, "makes version", verdict.VersionAfter)
	// Output:
	// Answer the question in one sentence and set its status to "answered".
	// {"questions":{"Q1":{"status":"open","text":"How long is a day on Mars?"}}}
	// commit makes version 1
}

func ExampleLoad() {
	_, err := runtime.Load([]byte("contract embed.answers\n"))
	var codec *runtime.CodecError
	fmt.Println(errors.As(err, &codec), codec.Code)
	// Output: true not_compiled
}

func ExampleContract_Stages() {
	for _, s := range exampleContract().Stages() {
		fmt.Println("stage  ", s.Name, "by", s.By)
		for _, p := range s.Parameters {
			fmt.Println("given  ", p.Name, p.Kind, p.Of)
		}
		fmt.Println("reads  ", strings.Join(s.Reads, "\n        "))
		fmt.Println("changes", strings.Join(s.Writes, "\n        "))
	}
	// Output:
	// stage   answer by [writer]
	// given   question in /questions
	// reads   /questions/{question} except /questions/*/asker
	// changes /questions/{question}/answer
	//         /questions/{question}/status
	//         /answered/-
}

// A state that breaks the contract begins nothing.
func ExampleCreate() {
	ctx := context.Background()
	st := store.NewMemory()
	_, err := runtime.Create(ctx, exampleContract(), st, "questions", []byte(`{"answered": [], "questions": {"Q1": {}}}`))
	var unfit *runtime.StateError
	if errors.As(err, &unfit) {
		for _, p := range unfit.Problems {
			fmt.Println(p.Path, p.Message)
		}
	}
	instance, err := runtime.Create(ctx, exampleContract(), st, "questions", []byte(exampleState))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("version", instance.Version(), "in phase", instance.Phase())
	_, err = runtime.Create(ctx, exampleContract(), st, "questions", []byte(exampleState))
	fmt.Println(errors.Is(err, store.ErrExists))
	// Output:
	// /questions/Q1/text record Question needs this member
	// /questions/Q1/asker record Question needs this member
	// /questions/Q1/status record Question needs this member
	// version 0 in phase main
	// true
}

// What a stage's actor sees depends on the stage alone; who may not run it sees nothing.
func ExampleInstance_View() {
	ctx := context.Background()
	instance := exampleInstance(ctx, store.NewMemory())
	view, err := instance.View(ctx, runtime.Request{Stage: "answer", Args: exampleQ1, Role: "writer"})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(view.Value))
	fmt.Println("may change", view.Writes)

	_, err = instance.View(ctx, runtime.Request{Stage: "answer", Args: exampleQ1, Role: "reader"})
	var refused *runtime.ViewRefusedError
	if errors.As(err, &refused) {
		fmt.Println(refused.Verdict.Violations[0].Code)
	}
	// Output:
	// {"questions":{"Q1":{"status":"open","text":"How long is a day on Mars?"}}}
	// may change [/questions/Q1/answer /questions/Q1/status /answered/-]
	// unauthorised
}

// A proposal that is refused changes nothing, and tells its actor what to mend.
func ExampleInstance_Propose() {
	ctx := context.Background()
	instance := exampleInstance(ctx, store.NewMemory())
	for _, patch := range []string{
		`[{"op": "replace", "path": "/questions/Q1/text", "value": "How long is a Martian day?"}]`,
		exampleAnswer,
	} {
		verdict, err := instance.Propose(ctx, runtime.Proposal{
			Stage: "answer", Args: exampleQ1, Role: "writer", Base: instance.Version(), Patch: []byte(patch),
		})
		if err != nil {
			log.Fatal(err) // nothing was decided
		}
		switch reply := verdict.Actor(); reply.Verdict { // what the actor may be told
		case runtime.Reject:
			fmt.Println(reply.Violations[0].Code, "at", *reply.Violations[0].Path)
		default:
			fmt.Println(reply.Verdict)
		}
	}
	// Output:
	// patch_write_scope_violation at /questions/Q1/text
	// commit
}

func ExampleInstance_Runnable() {
	ctx := context.Background()
	instance := exampleInstance(ctx, store.NewMemory())
	for _, role := range []string{"writer", "reader"} {
		stages, err := instance.Runnable(ctx, role)
		if err != nil {
			log.Fatal(err)
		}
		for _, s := range stages {
			fmt.Println(role, "runs", s.Stage, s.Runs)
		}
	}
	// Output:
	// writer runs answer true
	// reader runs answer false
}

// An instance goes on from its log, in this process or in another one.
func ExampleOpen() {
	ctx := context.Background()
	st := store.NewMemory() // one of package sqlite outlives the process
	_, err := exampleInstance(ctx, st).Propose(ctx, runtime.Proposal{
		Stage: "answer", Args: exampleQ1, Role: "writer", Patch: []byte(exampleAnswer),
	})
	if err != nil {
		log.Fatal(err)
	}
	instance, err := runtime.Open(ctx, exampleContract(), st, "questions")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("version", instance.Version())
	// Output: version 1
}

// An auditor makes every decision again.
func ExampleReplay() {
	ctx := context.Background()
	st := store.NewMemory()
	_, err := exampleInstance(ctx, st).Propose(ctx, runtime.Proposal{
		Stage: "answer", Args: exampleQ1, Role: "writer", Patch: []byte(exampleAnswer),
	})
	if err != nil {
		log.Fatal(err)
	}
	replayed, err := runtime.Replay(ctx, exampleContract(), st, "questions")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(replayed.Decisions, "decision again, up to version", replayed.Version)
	if replayed.Different != nil {
		fmt.Println("the log says otherwise at record", replayed.Different.Seq)
	}
	before, err := runtime.At(ctx, exampleContract(), st, "questions", 0)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(before.State))
	// Output:
	// 1 decision again, up to version 1
	// {"answered":[],"questions":{"Q1":{"asker":"rosa@example.com","status":"open","text":"How long is a day on Mars?"}}}
}

// A trace can be checked by who has neither the contract nor the log.
func ExampleCheckTrace() {
	ctx := context.Background()
	instance := exampleInstance(ctx, store.NewMemory())
	var trace strings.Builder
	if err := instance.Trace(ctx, &trace); err != nil {
		log.Fatal(err)
	}
	head, err := runtime.CheckTrace(strings.NewReader(trace.String()))
	fmt.Println(err, head == instance.Head())
	_, err = runtime.CheckTrace(strings.NewReader(strings.Replace(trace.String(), "main", "past", 1)))
	fmt.Println(err)
	// Output:
	// <nil> true
	// line 1 (record 1 expected): the line was changed: its hash is another
}
