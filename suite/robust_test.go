package suite_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/suite"
)

// loads loads a text as a test file beside desk, and runs what is left of it.
func loads(t *testing.T, text string) {
	t.Helper()
	files := fstest.MapFS{"desk.poptic": {Data: []byte(desk)}, "desk_test.poptic": {Data: []byte(text)}}
	s, _, err := suite.Load(t.Context(), suite.Input{FS: files, Path: "desk_test.poptic"})
	require.NoError(t, err)
	if s != nil {
		var c suite.Coverage
		_, err := s.Run(t.Context(), suite.Options{Cover: &c, Parallel: 1})
		require.NoError(t, err)
	}
}

// everything has each form of what a test can say.
const everything = ready + `given later = ready with [{"op": "replace", "path": "/limit", "value": 5}]
test "t" {
  state ready with "one.json"
  phase day  role bot  actor "ada"  now "2026-02-01T00:00:00Z"
  stage work(ticket: "$k", said: 2)
  next night
  patch {"patch": []}
  expect commit { after.limit == 3 }
  expect reject invariant few "m" at /a  expect reply "m"  expect reject next night
  expect phase day  expect state = {}  expect view = "one.json"  expect view { view.limit == 3 }
  expect shown /limit, /rest  expect hidden /tickets/{ticket}/note  expect no /log/*  expect /limit = -3.5  expect { open > 0 }
  advance night
  expect noop
  case "a" (k: "T1", n: null) { state later  expect /tickets/T1/subject = "$n" }
  case "b" (k: {"x": []})
}
`

func TestAHalfWrittenTestFileIsCheckedWithoutHarm(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 13
	}
	for i := 0; i <= len(everything); i += step {
		loads(t, everything[:i])
		loads(t, everything[i:])
		loads(t, everything[:i]+everything[min(len(everything), i+7):])
	}
	words := strings.Fields(everything)
	for i := range words {
		if i%step == 0 {
			loads(t, strings.Join(append(append([]string{}, words[:i]...), words[i+1:]...), " "))
			loads(t, strings.Join(append(append(append([]string{}, words[:i]...), words[len(words)-1-i]), words[i:]...), "\n"))
		}
	}
}

func FuzzTestFiles(f *testing.F) {
	f.Add(everything)
	f.Add(ready)
	f.Add(measured + exercising)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 1<<13 {
			loads(t, text)
		}
	})
}
