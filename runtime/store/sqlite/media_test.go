//go:build unix

package sqlite_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// childAudit names a file that a child process audits.
const childAudit = "POPTIC_TEST_CHILD_AUDIT"

// auditChild says how many records the instances of a file have, which it checks.
func auditChild(name string) {
	st, err := sqlite.OpenReadOnly(ctx, name)
	fatal(err)
	fatal(st.Check(ctx))
	for e, err := range st.Instances(ctx, "") {
		fatal(err)
		head, err := runtime.CheckLog(ctx, st, e.ID, nil)
		fatal(err)
		fatal(runtime.CheckSnapshots(ctx, st, e.ID))
		say("%s %d", e.ID, head.Seq)
	}
	fatal(st.Close())
}

// auditedByNobody has a file audited by a user who may write nowhere.
func auditedByNobody(t *testing.T, dir, name string) string {
	t.Helper()
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	binary := filepath.Join(dir, "audit")
	require.NoError(t, os.WriteFile(binary, program, 0o755))
	require.NoError(t, os.Chmod(binary, 0o755))
	cmd := exec.Command(binary)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), childAudit+"="+name)
	if os.Geteuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	return strings.TrimSpace(string(out))
}

// Who may only read the file and its folder reads all of it, and whatever lies beside it: it was closed,
// its user was killed, or somebody is using it.
func TestWhoMayWriteNowhereReadsALog(t *testing.T) {
	inUse, log := aLog(t, false)
	ended, _ := aLog(t, true)
	records := fmt.Sprintf("a %d", len(log))
	for what, c := range map[string]struct {
		name string
		want string
	}{
		"closed":                       {evidence(t, ended, ""), records},
		"abandoned":                    {evidence(t, inUse, "", "-wal"), records},
		"abandoned, with an old index": {evidence(t, inUse, "", "-wal", "-shm"), records},
		"a WAL of zeros":               {withWAL(t, evidence(t, ended, ""), make([]byte, 5000)), records},
		"in use":                       {inUse, records},
		"with older tables":            {old(t, 2), "a 16\nb 16"},
	} {
		t.Run(what, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "media")
			require.NoError(t, err)
			t.Cleanup(func() { os.RemoveAll(dir) })
			require.NoError(t, os.Chmod(dir, 0o755))
			folder := filepath.Join(dir, "media")
			if c.name == inUse { // where it is: its user goes on
				require.NoError(t, os.Rename(filepath.Dir(inUse), folder))
				t.Cleanup(func() { os.Rename(folder, filepath.Dir(inUse)) })
			} else {
				require.NoError(t, os.Rename(filepath.Dir(c.name), folder))
			}
			files, err := os.ReadDir(folder)
			require.NoError(t, err)
			for _, f := range files {
				require.NoError(t, os.Chmod(filepath.Join(folder, f.Name()), 0o444))
			}
			require.NoError(t, os.Chmod(folder, 0o555))
			defer os.Chmod(folder, 0o755)
			before := listed(t, folder)
			require.Equal(t, c.want, auditedByNobody(t, dir, filepath.Join(folder, filepath.Base(c.name))))
			require.Equal(t, before, listed(t, folder))
		})
	}
}
