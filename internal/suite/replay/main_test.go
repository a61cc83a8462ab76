package replay_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// The properties make many small values that live briefly: collecting them more rarely
// saves a third of the time.
func TestMain(m *testing.M) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
	os.Exit(m.Run())
}
