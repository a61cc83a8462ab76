// Command demo is `poptic demo` alone, on contracts that were compiled before: without
// the compiler, a database and the other commands there is a third of the code to build,
// which counts on a machine that has built nothing yet.
package main

import (
	"context"
	"embed"
	"fmt"
	"os"

	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/demo"
	"github.com/patchoptic/poptic/internal/terminal"
)

//go:generate go run github.com/patchoptic/poptic/cmd/poptic build ../clinical/contract.poptic -o clinical.popticc
//go:generate go run github.com/patchoptic/poptic/cmd/poptic build ../release/contract.poptic -o release.popticc
//go:generate go run github.com/patchoptic/poptic/cmd/poptic build ../support/contract.poptic -o support.popticc

//go:embed *.popticc
var compiled embed.FS

func main() {
	name := examples.Names()[0]
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	contract, err := compiled.ReadFile(name + ".popticc")
	if err != nil {
		fmt.Fprintf(os.Stderr, "demo: there is no example %q\nusage: demo [EXAMPLE]; the examples are %v\n", name, examples.Names())
		os.Exit(2)
	}
	out := terminal.NewPlainWriter(os.Stdout, terminal.WantsColor("", os.Stdout))
	printer := &terminal.Printer{W: out, Paint: out.Painter(), Width: out.Width(nil)}
	surprises, err := demo.Tell(context.Background(), printer, name, contract)
	out.Flush()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(2)
	case surprises > 0:
		os.Exit(1)
	}
}
