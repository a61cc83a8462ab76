package runtime_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// Whatever bytes a log has, it is opened, checked and replayed without a panic, and
// what is not as it was written is an error.
func FuzzALogOfAnyBytes(f *testing.F) {
	in, st := busy(f, 12, 1)
	log := logOf(f, st)
	for i, r := range log {
		f.Add(i, r.Line, r.Sealed)
	}
	f.Add(0, log[0].Line, []byte(`{"key":"","state":null}`))
	f.Add(2, []byte(`{"kind":"decision","verdict":{}}`), []byte(`{"actor":1}`))
	contract := in.Contract()
	f.Fuzz(func(t *testing.T, i int, line, sealed []byte) {
		i = max(i, -i) % len(log)
		if i < 0 {
			return
		}
		changed := copyLog(log)
		changed[i].Line, changed[i].Sealed = line, sealed
		same := string(line) == string(log[i].Line) && string(sealed) == string(log[i].Sealed)
		given := &givenStore{store.NewMemory(), changed}
		_, err := runtime.CheckLog(ctx, given, "T-7", nil)
		require.Equal(t, same, err == nil)
		_, err = runtime.Replay(ctx, contract, given, "T-7")
		require.Equal(t, same, err == nil)
	})
}
