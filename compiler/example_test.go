package compiler_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/lang/report"
)

const exampleNotes = `# Notes that a model tidies up.
contract tidy.notes

state { notes: map of { title: string  body: secret string } }

# Give one note a better title.
stage retitle(note in /notes) {
  by    editor
  read  /notes/{note} except secrets
  write /notes/{note}/title
}

prove no flow from secrets to /notes/*/title
`

// Compile a contract, and keep its compiled form for package runtime.
func ExampleCompile() {
	files := fstest.MapFS{"notes.poptic": {Data: []byte(exampleNotes)}} // or os.DirFS
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "notes.poptic"})
	if err != nil {
		log.Fatal(err)
	}
	compiled, ok := out.Compiled()
	fmt.Println(ok, len(out.Diagnostics), "findings,", out.Unproved(), "claims not proved")
	fmt.Printf("%.17s\n", compiled)
	// Output:
	// true 0 findings, 0 claims not proved
	// poptic-contract 2
}

// Check a contract, and show what is wrong with it.
func ExampleCompile_check() {
	files := fstest.MapFS{"notes.poptic": {Data: []byte("contract tidy.notes\n\nstate { notes: map of strong }\n")}}
	out, err := compiler.Compile(context.Background(), compiler.Input{FS: files, Path: "notes.poptic"})
	if err != nil {
		log.Fatal(err)
	}
	if err := report.Text(os.Stdout, out.Diagnostics, report.Options{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// notes.poptic:3:23: error[unknown_type]: there is no type called strong
	//     |
	//   3 | state { notes: map of strong }
	//     |                       ^^^^^^
	//     = did you mean `string`?
	//     = write `string`
	//
	// 1 error
}
