package suite_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/patchoptic/poptic/lang/report"
	"github.com/patchoptic/poptic/suite"
)

func ExampleSuite_Run() {
	files := fstest.MapFS{
		"counter.poptic": {Data: []byte(`contract counter
state { n: int }
change grows "a counter only grows" { after.n > before.n }
stage count { read /n  write /n }
`)},
		"counter_test.poptic": {Data: []byte(`
test "a counter grows" {
  state { "n": 1 }
  stage count
  patch [{"op": "replace", "path": "/n", "value": "$to"}]
  case "by one" (to: 2)  { expect commit }
  case "not back" (to: 0) { expect commit }
}
`)},
	}
	tests, _, err := suite.Load(context.Background(), suite.Input{FS: files, Path: "counter_test.poptic"})
	if err != nil || tests == nil {
		fmt.Println("the tests cannot be run")
		return
	}
	result, err := tests.Run(context.Background(), suite.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	out := suite.Report{Suites: []suite.Result{result}}
	out.Text(os.Stdout, report.Options{})
	// Output:
	// FAIL a counter grows/not back
	// counter_test.poptic:7: step 1, stage count: expected commit, and the proposal was refused
	//     |
	//   7 |   case "not back" (to: 0) { expect commit }
	//     |                                    ^^^^^^
	//     change_violation, change grows, at /n: a counter only grows
	//
	// FAIL counter_test.poptic: 1 of 2 tests failed
	// 2 tests in 1 file: 1 passed, 1 failed
}
