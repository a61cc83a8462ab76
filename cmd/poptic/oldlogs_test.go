package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

// The databases of testdata/oldlogs were written by older versions of the program, with the
// contract beside them: in each the instances "small" and "large", with views shown and
// refused, commits, noops and rejects, keys, repeats, moves of the host, secrets, lists, keyed
// lists, sets and logs, objects and sets of more than 32 members, and snapshots. first.db was
// written by the first version that kept logs (67444dd), last.db by the last one whose logs
// were of format 1 (before 5345512), second.db by one of format 2 that compared patches by
// their bytes (4df8e91); second.popticc is the contract as that version compiled it.

func inOldLogs(t *testing.T) {
	t.Helper()
	from, err := filepath.Abs("testdata/oldlogs")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	files, err := os.ReadDir(from)
	require.NoError(t, err)
	for _, f := range files {
		data, err := os.ReadFile(filepath.Join(from, f.Name()))
		require.NoError(t, err)
		if name, packed := strings.CutSuffix(f.Name(), ".gz"); packed {
			r, err := gzip.NewReader(bytes.NewReader(data))
			require.NoError(t, err)
			data, err = io.ReadAll(r)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(name, data, 0o600))
			continue
		}
		require.NoError(t, os.WriteFile(f.Name(), data, 0o600))
	}
	require.NoError(t, os.WriteFile("more.json", []byte(`[{"op":"add","path":"/notes/-","value":"today"}]`), 0o600))
}

func fine(t *testing.T, words ...string) string {
	t.Helper()
	code, out, errText := executeWith(words...)
	require.Equal(t, exitFine, code, "%q: %s%s", words, out, errText)
	return out
}

func TestALogOfFormat1HoldsAndComesToTheStatesThatWereRecorded(t *testing.T) {
	for _, db := range []string{"first.db", "last.db"} {
		t.Run(db, func(t *testing.T) {
			inOldLogs(t)
			before, err := os.ReadFile(db)
			require.NoError(t, err)
			require.Contains(t, fine(t, "audit", db, "--verify"), "large: 132 records, 58 commits; the chain holds")
			out := fine(t, "replay", db, "shop.poptic")
			for _, id := range []string{"small", "large"} {
				require.Contains(t, out, id+": 64 decisions of an older format, which came to the states that were recorded; they were not made again\n")
			}
			require.JSONEq(t, string(readFile(t, strings.TrimSuffix(db, ".db")+".large.json")), fine(t, "replay", db, "shop.poptic", "--instance", "large", "--at", "58"))
			fine(t, "replay", db, "shop.poptic", "--instance", "large", "--at", "0")
			require.NoError(t, os.WriteFile("trace.jsonl", []byte(fine(t, "audit", db, "--instance", "small", "--format", "json")), 0o600))
			require.Contains(t, fine(t, "audit", "trace.jsonl"), "small: 132 records, 58 commits; the chain holds")
			after, err := os.ReadFile(db)
			require.NoError(t, err)
			require.Equal(t, before, after, "to read a log changes nothing")
		})
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	return data
}

func TestALogOfFormat1IsGoneOnWith(t *testing.T) {
	for _, db := range []string{"first.db", "last.db"} {
		t.Run(db, func(t *testing.T) {
			inOldLogs(t)
			store := []string{"--store", "sqlite:" + db, "--instance", "large"}
			with := func(verb string, more ...string) []string {
				return append(append([]string{verb, "shop.poptic"}, store...), more...)
			}
			fine(t, with("migrate", "--to", "shop.poptic", "--principal", "ann")...)
			require.Contains(t, fine(t, with("apply", "--stage", "whole", "--patch", "more.json")...), "version   59 -> 60")
			require.Contains(t, fine(t, with("apply", "--stage", "whole", "--patch", "more.json", "--version", "60", "--key", "new")...), "version   60 -> 61")
			code, out, _ := executeWith(with("apply", "--stage", "whole", "--patch", "more.json", "--version", "58")...)
			require.Equal(t, exitNo, code)
			require.Contains(t, out, "stale", "what was seen before is another version")
			list := fine(t, "audit", db, "--instance", "large")
			require.Contains(t, list, "  133  ")
			require.Regexp(t, `133  .* migrate +to contract sha256:`, list)
			require.Contains(t, fine(t, "audit", db, "--verify"), "large: 140 records, 61 commits; the chain holds")
			out = fine(t, "replay", db, "shop.poptic")
			require.Contains(t, out, "large: 64 decisions of an older format")
			require.Contains(t, out, "large: 4 decisions made again")
			fine(t, with("view", "--stage", "take", "--arg", "order=fresh")...)

			// A key that was used before is answered as then.
			require.NoError(t, os.WriteFile("k3.json", []byte(`[{"value":{"cents":1,"id":"l0","text":"x"},"op":"add","path":"/lines/l0"},{"op":"remove","path":"/lines/l2"},{"op":"add","path":"/tags/-","value":"m"}]`), 0o600))
			require.Contains(t, fine(t, with("apply", "--stage", "whole", "--patch", "k3.json", "--key", "k3")...), "version   2 -> 3")
		})
	}
}

// Nobody puts a log of format 1 under a contract but who asks for it.
func TestALogOfFormat1IsLeftAsItIsUntilItIsMigrated(t *testing.T) {
	inOldLogs(t)
	source := string(readFile(t, "shop.poptic"))
	loose := strings.Replace(source, "token:    secret string", "token:    string", 1)
	require.NoError(t, os.WriteFile("loose.poptic", []byte(loose), 0o600))
	more := strings.Replace(source, "state {", "state {\n  added?: int", 1)
	require.NotEqual(t, source, more)
	require.NoError(t, os.WriteFile("more.poptic", []byte(more), 0o600))
	for _, db := range []string{"first.db", "last.db"} {
		of := []string{"--store", "sqlite:" + db, "--instance", "small"}
		for _, contract := range []string{"shop.poptic", "loose.poptic"} {
			before := readFile(t, db)
			with := func(verb string, words ...string) []string {
				return append(append([]string{verb, contract}, of...), words...)
			}
			fine(t, with("apply", "--stage", "whole", "--patch", "more.json", "--dry-run")...)
			for _, to := range []string{"shop.poptic", "loose.poptic", "more.poptic"} {
				require.Contains(t, fine(t, with("migrate", "--to", to, "--dry-run")...), "58 -> 59")
			}
			require.True(t, bytes.Equal(before, readFile(t, db)), "a dry run writes nothing")
			for _, words := range [][]string{
				with("view", "--stage", "take", "--arg", "order=zz"),
				with("apply", "--stage", "whole", "--patch", "more.json"),
				with("apply", "--stage", "whole", "--patch", "more.json", "--key", "other"),
			} {
				code, _, errText := executeWith(words...)
				require.Equal(t, exitBroken, code, "%q", words)
				require.Contains(t, errText, "written in format 1: migrate it first")
			}
		}
		require.Contains(t, fine(t, "audit", db, "--instance", "small"), "small: 132 records")
		fine(t, append([]string{"migrate", "shop.poptic", "--to", "more.poptic"}, of...)...)
		require.Contains(t, fine(t, "audit", db, "--instance", "small"), "small: 136 records, 60 commits")
		require.Contains(t, fine(t, "replay", db, "more.poptic", "shop.poptic", "--instance", "small"), "64 decisions of an older format")
	}
}

// Of several processes that migrate a log of format 1 one does, and all go on.
func TestALogOfFormat1IsMigratedOnce(t *testing.T) {
	inOldLogs(t)
	ctx := context.Background()
	contract, err := contractArg{Contract: "shop.poptic"}.load(silent())
	require.NoError(t, err)
	loaded, err := runtime.Load(ir.Encode(contract))
	require.NoError(t, err)
	var all []*runtime.Instance
	for range 6 {
		st, err := sqlite.Open(ctx, "last.db", sqlite.Existing())
		require.NoError(t, err)
		defer st.Close()
		in, err := runtime.Open(ctx, loaded, st, "small")
		require.NoError(t, err)
		require.Equal(t, uint64(58), in.Position().Version)
		_, err = in.View(ctx, runtime.Request{Stage: "take", Args: map[string]string{"order": "zz"}})
		require.ErrorAs(t, err, new(*runtime.OlderFormatError))
		all = append(all, in)
	}
	outcomes := make(chan error, len(all))
	for _, in := range all {
		go func() {
			_, v, err := in.Migrate(ctx, loaded, runtime.Migration{})
			if err == nil && v.Verdict != "commit" {
				err = errors.New(string(v.Verdict))
			}
			outcomes <- err
		}()
	}
	done := 0
	for range all {
		if err := <-outcomes; err != nil {
			require.ErrorAs(t, err, new(*runtime.SameContractError))
		} else {
			done++
		}
	}
	require.Equal(t, 1, done)
	for _, in := range all { // also those that were opened before
		_, err := in.View(ctx, runtime.Request{Stage: "take", Args: map[string]string{"order": "zz"}})
		require.NoError(t, err)
		require.Equal(t, uint64(59), in.Version())
		require.NoError(t, in.Close(ctx))
	}
	require.Contains(t, fine(t, "audit", "last.db", "--instance", "small", "--verify"), "59 commits")
	fine(t, "replay", "last.db", "shop.poptic", "--instance", "small")
}

// Whatever was changed in a log of format 1 shows, as in one of today.
func TestDamageToALogOfFormat1IsNamed(t *testing.T) {
	inOldLogs(t)
	ctx := context.Background()
	st, err := sqlite.OpenReadOnly(ctx, "first.db")
	require.NoError(t, err)
	defer st.Close()
	contract, err := contractArg{Contract: "shop.poptic"}.load(silent())
	require.NoError(t, err)
	loaded, err := runtime.Load(ir.Encode(contract))
	require.NoError(t, err)
	var log []store.Record
	for r, err := range st.Read(ctx, "small", 1, 0) {
		require.NoError(t, err)
		log = append(log, r)
	}
	check := func(i int, change func(r *store.Record)) {
		t.Helper()
		memory := store.NewMemory()
		changed := append([]store.Record{}, log...)
		r := changed[i]
		r.Line, r.Sealed = bytes.Clone(r.Line), bytes.Clone(r.Sealed)
		change(&r)
		changed[i] = r
		require.NoError(t, memory.Create(ctx, "small", changed...))
		_, err := runtime.CheckLog(ctx, memory, "small", nil)
		require.Error(t, err)
		_, err = runtime.Replay(ctx, loaded, memory, "small")
		require.ErrorAs(t, err, new(*runtime.CorruptLogError))
		_, err = runtime.Open(ctx, loaded, memory, "small")
		require.ErrorAs(t, err, new(*runtime.CorruptLogError))
	}
	for i := 0; i < len(log); i += 5 {
		check(i, func(r *store.Record) { r.Line[len(r.Line)/2] ^= 4 })
		if len(log[i].Sealed) > 0 {
			check(i, func(r *store.Record) { r.Sealed[len(r.Sealed)/2] ^= 4 })
		}
	}
}

// Whoever makes the chain anew must still tell every state that comes out.
func TestAForgedLogOfFormat1Differs(t *testing.T) {
	inOldLogs(t)
	ctx := context.Background()
	contract, err := contractArg{Contract: "shop.poptic"}.load(silent())
	require.NoError(t, err)
	loaded, err := runtime.Load(ir.Encode(contract))
	require.NoError(t, err)
	for _, db := range []string{"first.db", "last.db"} {
		st, err := sqlite.OpenReadOnly(ctx, db)
		require.NoError(t, err)
		defer st.Close()
		var log []store.Record
		for r, err := range st.Read(ctx, "small", 1, 0) {
			require.NoError(t, err)
			log = append(log, r)
		}
		replayed := func(i int, old, text string) (runtime.Replayed, error) {
			memory := store.NewMemory()
			require.NoError(t, memory.Create(ctx, "small", chainedAnew(t, log, i, old, text)...))
			return runtime.Replay(ctx, loaded, memory, "small")
		}
		got, err := replayed(0, "", "")
		require.NoError(t, err)
		require.Nil(t, got.Different)
		tried := map[string]int{}
		for i, r := range log {
			for name, other := range map[string]string{
				`"state_before":"[^"]*"`: `"state_before":"sha256:0"`, `"state_after":"[^"]*"`: `"state_after":"sha256:0"`, `"state":"[^"]*"`: `"state":"sha256:0"`,
				`"version_before":\d+`: `"version_before":77`, `"version_after":\d+`: `"version_after":77`, `"phase_before":"[^"]*"`: `"phase_before":"done"`,
				`"phase_after":"[^"]*"`: `"phase_after":"done"`, `"contract":"[^"]*"`: `"contract":"sha256:0"`, `"kind":"decision"`: `"kind":"pending"`,
				`"kind":"view"`: `"kind":"withdrawn"`, `"verdict":"commit"`: `"verdict":"noop"`, `"verdict":"reject"`: `"verdict":"commit"`, `"hash"`: `"format":2,"hash"`,
			} {
				if where := regexp.MustCompile(name); where.Match(r.Line) && (!strings.Contains(name, "view") || i%3 == 0) {
					if got, err := replayed(i, name, other); err == nil {
						require.NotNil(t, got.Different, "%s of record %d in %s", name, i+1, db)
					}
					tried[name]++
				}
			}
		}
		require.Len(t, tried, 13)
	}
}

// chainedAnew is a log in one record of which a text stands for another, with the hashes to go with it.
func chainedAnew(t *testing.T, log []store.Record, at int, old, text string) []store.Record {
	t.Helper()
	chained := append([]store.Record{}, log...)
	prev := strings.Repeat("0", 64)
	for i := range chained {
		line := string(chained[i].Line)
		line = line[:strings.LastIndex(line, `,"hash":`)]
		line = line[:strings.LastIndex(line, `,"prev":`)]
		if i == at && old != "" {
			line = strings.TrimSuffix(regexp.MustCompile(old).ReplaceAllString(line+`,"hash"`, text), `,"hash"`)
		}
		body := line + `,"prev":"sha256:` + prev + `"}`
		sum := sha256.Sum256([]byte(body))
		prev = hex.EncodeToString(sum[:])
		chained[i].Line = []byte(body[:len(body)-1] + `,"hash":"sha256:` + prev + `"}`)
	}
	return chained
}

// Another contract does not come to the same states.
func TestALogOfFormat1JudgesItsContractByWhatComesOut(t *testing.T) {
	inOldLogs(t)
	source := string(readFile(t, "shop.poptic"))
	for name, other := range map[string]string{
		"a set that is a list": strings.Replace(source, "tags:    set of string", "tags:    list of string", 1),
		"a list that is a set": strings.Replace(source, "notes:   list of string", "notes:   set of string", 1),
		"a member that is not": strings.Replace(source, "  budget:  number\n", "", 1),
	} {
		require.NotEqual(t, source, other)
		require.NoError(t, os.WriteFile("other.poptic", []byte(other), 0o600))
		code, out, errText := executeWith("replay", "first.db", "other.poptic")
		require.NotEqual(t, exitFine, code, "%s: %s%s", name, out, errText)
		code, _, _ = executeWith("apply", "other.poptic", "--store", "sqlite:first.db", "--instance", "small", "--stage", "whole", "--patch", "more.json")
		require.NotEqual(t, exitFine, code, name)
	}
	require.Contains(t, fine(t, "audit", "first.db"), "small: 132 records", "nothing was added")
}

func TestALogOfFormat2ThatComparedBytesComesOutAgain(t *testing.T) {
	inOldLogs(t)
	require.Contains(t, fine(t, "audit", "second.db", "--verify"), "large: 132 records, 58 commits; the chain holds")
	_, err := runtime.Load(readFile(t, "second.popticc"))
	var codec *runtime.CodecError
	if errors.As(err, &codec) && codec.Code == "version_unsupported" {
		t.Skip("the contract is of an older form")
	}
	var got []runtime.Replayed
	require.NoError(t, json.Unmarshal([]byte(fine(t, "replay", "second.db", "second.popticc", "--format", "json")), &got))
	require.Len(t, got, 2)
	for _, r := range got {
		require.Equal(t, []uint64{64, 3, 0, 58}, []uint64{r.Decisions, r.Views, r.Outcomes, r.Version})
	}
	before := readFile(t, "second.db")
	fine(t, "migrate", "second.popticc", "--store", "sqlite:second.db", "--instance", "small", "--to", "shop.poptic", "--dry-run")
	require.Equal(t, before, readFile(t, "second.db"), "a dry run leaves the tables as they are")
	fine(t, "apply", "second.popticc", "--store", "sqlite:second.db", "--instance", "small", "--stage", "whole", "--patch", "more.json")
	fine(t, "migrate", "second.popticc", "--store", "sqlite:second.db", "--instance", "small", "--to", "shop.poptic")
	fine(t, "apply", "shop.poptic", "--store", "sqlite:second.db", "--instance", "small", "--stage", "whole", "--patch", "more.json")
	fine(t, "replay", "second.db", "second.popticc", "shop.poptic")
	fine(t, "audit", "second.db", "--verify")
}
