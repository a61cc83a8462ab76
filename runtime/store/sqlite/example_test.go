package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// An instance in a file outlives the process that began it.
func ExampleOpen() {
	ctx := context.Background()
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	compiled, err := os.ReadFile("../../../examples/embed/contract.popticc") // written by "poptic build"
	if err != nil {
		log.Fatal(err)
	}
	contract, err := runtime.Load(compiled)
	if err != nil {
		log.Fatal(err)
	}

	st, err := sqlite.Open(ctx, filepath.Join(folder, "instances.db"))
	if err != nil {
		log.Fatal(err)
	}
	if _, err := runtime.Create(ctx, contract, st, "questions", []byte(`{"answered": [], "questions": {}}`)); err != nil {
		log.Fatal(err)
	}
	if err := st.Close(); err != nil {
		log.Fatal(err)
	}

	st, err = sqlite.Open(ctx, filepath.Join(folder, "instances.db"))
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	instance, err := runtime.Open(ctx, contract, st, "questions")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(instance.ID(), "is at version", instance.Version())
	// Output: questions is at version 0
}
