package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// watchedOutput is a buffer that may be read while a verb writes to it.
type watchedOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *watchedOutput) Write(data []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(data)
}

func (o *watchedOutput) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func TestWatchedTestsRunAgainWhenAFileChangesThatTheyDependOn(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("c.poptic", "contract c\nstate { a: int }\nstage s { read /a  write /a }\n")
	write("state.json", `{"a": 1}`)
	write("c_test.poptic", "test \"t\" {\n  state \"state.json\"\n  stage s\n  expect view = { \"a\": 1 }\n}\n")
	ctx, cancel := context.WithCancel(t.Context())
	var out, errOut watchedOutput
	ended := make(chan int)
	go func() { ended <- run(ctx, []string{"test", "--watch", dir}, strings.NewReader(""), &out, &errOut) }()
	shows := func(text string, times int) {
		require.Eventually(t, func() bool { return strings.Count(out.String()+errOut.String(), text) == times }, 20*time.Second, 20*time.Millisecond, "%s%s", &out, &errOut)
	}
	shows("c_test.poptic: 1 test\n", 1)
	shows("waiting for a change of 3 files", 1)
	write("state.json", `{"a": 22}`) // a fixture
	shows("1 of 1 test failed", 1)
	shows("waiting for a change of 3 files", 2)
	write("c.poptic", "contract c\nstate { a: nothing }\n") // the contract, which is no good for a while
	shows("unknown_type", 1)
	shows("waiting for a change of ", 3)
	write("c.poptic", "contract c\nstate { a: int }\nstage s { read /a }\n")
	shows("1 of 1 test failed", 2)
	write("state.json", `{"a": 1}`)
	shows("c_test.poptic: 1 test\n", 2)
	write("d_test.poptic", "import \"./c.poptic\"\ntest \"t\" {\n  state \"state.json\"\n  stage s\n  expect noop\n}\n") // a test file that comes
	shows("d_test.poptic: 1 test\n", 1)
	cancel()
	require.Equal(t, exitFine, <-ended)
}
