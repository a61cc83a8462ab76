package report_test

import (
	"log"
	"os"

	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/lang/source"
)

func ExampleText() {
	file := source.NewFile("ticket.poptic", "contract a\nstage s {\n  red /tickets\n}\n")
	at := source.Span{File: file, Start: 23, End: 26}
	err := report.Text(os.Stdout, []source.Diagnostic{{
		Code: "unknown_clause", Severity: source.Error, Message: "there is no clause `red`", Help: "did you mean `read`?", Span: at,
		Fixes: []source.Fix{{Title: "write read", Span: at, Text: "read"}},
	}}, report.Options{})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// ticket.poptic:3:3: error[unknown_clause]: there is no clause `red`
	//     |
	//   3 |   red /tickets
	//     |   ^^^
	//     = did you mean `read`?
	//     = write read
	//
	// 1 error
}
