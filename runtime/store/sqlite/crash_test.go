//go:build unix

package sqlite_test

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// A child process of a test is told by its environment what to do: to commit in the
// file named there until it is killed, or until there is no room.
const (
	childFile = "POPTIC_TEST_CHILD_FILE"
	childRoom = "POPTIC_TEST_CHILD_ROOM" // bytes that its files may have
)

func TestMain(m *testing.M) {
	if name := os.Getenv(childFile); name != "" {
		child(name)
		return
	}
	if name := os.Getenv(childAudit); name != "" {
		auditChild(name)
		return
	}
	os.Exit(m.Run())
}

// counters is how many instances a child commits to at once.
const counters = 4

// child commits to several instances at once, and says so after each commit.
func child(name string) {
	limitFiles()
	st, err := sqlite.Open(ctx, name)
	fatal(err)
	contract := counter()
	var wait sync.WaitGroup
	for i := range counters {
		wait.Go(func() { countOn(contract, st, fmt.Sprint(i)) })
	}
	wait.Go(func() { keepLedger(st) })
	wait.Wait()
}

const ledger = "ledger"

// keepLedger creates or opens an instance, and has all its writers count until they fail.
func keepLedger(st store.Store) {
	snapshots := runtime.WithSnapshotAfter(8 << 10)
	contract := sqlite.LedgerContract()
	in, err := runtime.Open(ctx, contract, st, ledger, snapshots)
	if errors.Is(err, store.ErrNotFound) {
		in, err = runtime.Create(ctx, contract, st, ledger, sqlite.LedgerState(strings.Repeat("f", 2000)), snapshots)
	}
	if err != nil {
		say("broken %s %v", ledger, err)
		return
	}
	l := sqlite.Ledger{Instance: in}
	lines, err := l.Lines(ctx)
	fatal(err)
	together(sqlite.LedgerWriters, func(w int) {
		n := lines[w]
		version := in.Version()
		if n > 0 { // again, under a key that is known
			if err := l.Count(ctx, w, n); err != nil {
				say("broken %s a retry of %d by writer %d after version %d: %v", ledger, n, w, version, err)
			}
		}
		for {
			n++
			if err := l.Count(ctx, w, n); err != nil {
				say("failed %s %v", ledger, err)
				return
			}
			say("acked %s-%d %d", ledger, w, n)
		}
	})
}

// countOn creates or opens an instance and counts until it fails.
func countOn(contract *runtime.Contract, st store.Store, id string) {
	snapshots := runtime.WithSnapshotAfter(8 << 10)
	in, err := runtime.Open(ctx, contract, st, id, snapshots)
	if errors.Is(err, store.ErrNotFound) {
		in, err = runtime.Create(ctx, contract, st, id, counterState(strings.Repeat("f", 2000)), snapshots)
	}
	if err != nil {
		say("broken %s %v", id, err)
		return
	}
	answerAgain(in)
	for {
		version := in.Version()
		v, err := in.Propose(ctx, counting(version, "t"))
		switch {
		case err != nil:
			say("failed %s %v", id, err)
			return
		case v.Verdict != verify.Commit:
			say("broken %s %s", id, v.Verdict)
			return
		}
		say("acked %s %d", id, v.VersionAfter)
	}
}

// answerAgain proposes again what led to the current version: its key must be known.
func answerAgain(in *runtime.Instance) {
	version := in.Version()
	if version == 0 {
		return
	}
	v, err := in.Propose(ctx, counting(version-1, "t"))
	if err != nil || v.Verdict != verify.Commit || v.VersionAfter != version {
		say("broken %s a retry of version %d: %v %v %d", in.ID(), version, err, v.Verdict, v.VersionAfter)
	}
}

// say writes a line in one call, so that a kill leaves whole lines.
func say(format string, args ...any) { os.Stdout.Write(fmt.Appendf(nil, format+"\n", args...)) }

func fatal(err error) {
	if err != nil {
		say("broken - %v", err)
		os.Exit(1)
	}
}

// limitFiles keeps the child's files from growing beyond what its environment says.
func limitFiles() {
	var room uint64
	if _, err := fmt.Sscan(os.Getenv(childRoom), &room); err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	fatal(syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: room, Max: room}))
}

// A run is a child process and what it said.
type run struct {
	cmd   *exec.Cmd
	out   *bufio.Scanner
	acked map[string]uint64 // the last version acknowledged, by instance
	other []string          // whatever else it said
}

func startChild(t *testing.T, name string, env ...string) *run {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), append(env, childFile+"="+name)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return &run{cmd: cmd, out: bufio.NewScanner(out), acked: map[string]uint64{}}
}

// listen reads what the child says until it ends.
func (r *run) listen(first func()) {
	for r.out.Scan() {
		var id string
		var version uint64
		if _, err := fmt.Sscanf(r.out.Text(), "acked %s %d", &id, &version); err != nil {
			r.other = append(r.other, r.out.Text())
			continue
		}
		if len(r.acked) == 0 {
			first()
		}
		r.acked[id] = version
	}
	r.cmd.Wait()
}

func TestNothingThatWasAcknowledgedIsLostWhenTheProcessIsKilled(t *testing.T) {
	t.Parallel()
	const perFile = 20
	random := rand.New(rand.NewSource(1))
	contract := counter()
	name := ""
	acked := map[string]uint64{}
	for i := range size(2000, 200, 10) {
		if i%perFile == 0 {
			name, acked = newFile(t), map[string]uint64{}
		}
		r := startChild(t, name)
		r.listen(func() {
			time.Sleep(time.Duration(random.Intn(15_000)) * time.Microsecond)
			r.cmd.Process.Kill()
		})
		require.Empty(t, r.other)
		for id, version := range r.acked {
			acked[id] = version
		}
		afterKill(t, contract, name, acked, i%perFile == perFile-1)
	}
}

// afterKill checks what is in the file: all that was acknowledged, and of each
// instance at most the one commit more that was under way.
func afterKill(t *testing.T, contract *runtime.Contract, name string, acked map[string]uint64, thoroughly bool) {
	t.Helper()
	st, err := sqlite.Open(ctx, name)
	require.NoError(t, err)
	defer st.Close()
	require.NoError(t, st.Check(ctx))
	ledgerAfterKill(t, st, acked, thoroughly)
	for id, version := range acked {
		if strings.HasPrefix(id, ledger) {
			continue
		}
		in, err := runtime.Open(ctx, contract, st, id)
		require.NoError(t, err)
		require.GreaterOrEqual(t, in.Version(), version, "of instance %s", id)
		require.LessOrEqual(t, in.Version(), version+1, "of instance %s", id)
		state, err := in.State(ctx)
		require.NoError(t, err)
		require.Contains(t, string(state), fmt.Sprintf(`"n":%d,`, in.Version()))
		acked[id] = in.Version()
		if thoroughly {
			sound(t, st, in)
			continue
		}
		head, err := runtime.CheckLog(ctx, st, id, nil)
		require.NoError(t, err)
		require.Equal(t, in.Head(), head)
	}
}

// ledgerAfterKill checks that of each writer all is there that was acknowledged to it, and at
// most one commit more; and that nothing was counted twice.
func ledgerAfterKill(t *testing.T, st store.Store, acked map[string]uint64, thoroughly bool) {
	t.Helper()
	in, err := runtime.Open(ctx, sqlite.LedgerContract(), st, ledger)
	if errors.Is(err, store.ErrNotFound) {
		for id := range acked {
			require.NotContains(t, id, ledger)
		}
		return
	}
	require.NoError(t, err)
	lines, err := sqlite.Ledger{Instance: in}.Lines(ctx)
	require.NoError(t, err)
	sum := 0
	for w, n := range lines {
		id := fmt.Sprintf("%s-%d", ledger, w)
		require.GreaterOrEqual(t, n, int(acked[id]), "of writer %d", w)
		require.LessOrEqual(t, n, int(acked[id])+1, "of writer %d", w)
		acked[id] = uint64(n)
		sum += n
	}
	require.Equal(t, sum, int(in.Version()), "each was counted once")
	if thoroughly {
		sound(t, st, in)
		return
	}
	head, err := runtime.CheckLog(ctx, st, ledger, nil)
	require.NoError(t, err)
	require.Equal(t, in.Head(), head)
}

func TestNothingIsLostWhenAFileMayNotGrow(t *testing.T) {
	t.Parallel()
	name := newFile(t)
	r := startChild(t, name, childRoom+"=2000000")
	r.listen(func() {})
	require.Len(t, r.other, counters+sqlite.LedgerWriters, "each instance failed once, and each writer of the ledger: %v", r.other)
	for _, text := range r.other {
		require.True(t, strings.HasPrefix(text, "failed "), text)
	}
	require.NotEmpty(t, r.acked, "how many of them came to count is the scheduler's affair")
	afterKill(t, counter(), name, r.acked, true)
	st := open(t, name)
	for id := range r.acked {
		if strings.HasPrefix(id, ledger) {
			continue
		}
		in, err := runtime.Open(ctx, counter(), st, id)
		require.NoError(t, err)
		commits(t, in, counting(in.Version(), "there is room again"))
		sound(t, st, in)
	}
}
