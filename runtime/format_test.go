package runtime_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// inFormat is a log as another version wrote it: its first line tells another format, in
// the given text, and what it seals is not what this version seals.
func inFormat(log []store.Record, text string) []store.Record {
	log, last := copyLog(log), trace.Origin
	for i := range log {
		line := string(log[i].Line)
		body := line[:strings.LastIndex(line, `,"prev":`)]
		if i == 0 {
			body = strings.Replace(body, fmt.Sprintf(`"format":%d,`, trace.Format), text, 1)
			log[i].Sealed = []byte("sealed otherwise")
		}
		body += fmt.Sprintf(`,"prev":%q`, last)
		last = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body+"}")))
		log[i].Line = fmt.Appendf(nil, `%s,"hash":%q}`, body, last)
	}
	return log
}

func TestALogOfAnotherFormatIsRefusedByNameByAllThatReadsIt(t *testing.T) {
	in, st := begin(t, runtime.WithSnapshotAfter(1<<30))
	wander(t, in, 6, 3)
	for text, have := range map[string]int{"": 1, `"format":1,`: 1, `"format":3,`: 3} {
		log := &givenStore{store.NewMemory(), inFormat(logOf(t, st), text)}
		_, opened := runtime.Open(ctx, in.Contract(), log, "T-7")
		_, replayed := runtime.Replay(ctx, in.Contract(), log, "T-7")
		_, past := runtime.At(ctx, in.Contract(), log, "T-7", 1)
		_, checked := runtime.CheckLog(ctx, log, "T-7", nil)
		for _, err := range []error{opened, replayed, past, checked, runtime.CheckSnapshots(ctx, log, "T-7")} {
			var other *runtime.FormatError
			require.ErrorAs(t, err, &other)
			require.Equal(t, have, other.Have)
			require.EqualError(t, err, fmt.Sprintf(`instance "T-7": written in format %d, this version reads %d`, have, trace.Format))
		}
	}
	same := &givenStore{store.NewMemory(), inFormat(logOf(t, st), fmt.Sprintf(`"format":%d,`, trace.Format))}
	_, err := runtime.Open(ctx, in.Contract(), same, "T-7")
	require.NotErrorAs(t, err, new(*runtime.FormatError), "what was sealed otherwise in this format is damage")
	require.ErrorAs(t, err, new(*runtime.CorruptLogError))
}

func TestASnapshotOfAnotherFormatIsNotUsed(t *testing.T) {
	for _, format := range []any{nil, 1, 3} {
		in, st := begin(t, runtime.WithSnapshotAfter(1))
		wander(t, in, 12, 3)
		s, err := st.Snapshot(ctx, "T-7", in.Version())
		require.NoError(t, err)
		require.True(t, bytes.Contains(s.Data, fmt.Appendf(nil, `"format":%d`, trace.Format)))
		snapshotAnew(t, in, &s, func(c map[string]any) {
			if c["format"] = format; format == nil {
				delete(c, "format")
			}
		})
		require.NoError(t, st.PutSnapshot(ctx, "T-7", s))
		_, err = runtime.Open(ctx, in.Contract(), st, "T-7")
		require.ErrorAs(t, err, new(*runtime.FormatError))
	}
}
