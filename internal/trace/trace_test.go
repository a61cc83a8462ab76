package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// testKey is a key whose bytes are known.
func testKey(t testing.TB, seed byte) *Key {
	key, err := KeyOf(bytes.Repeat([]byte{seed}, KeySize))
	require.NoError(t, err)
	return key
}

// sampleLines seals n records of every kind in turn.
func sampleLines(n int) (lines [][]byte, head Head) {
	head = Start("T-7")
	kinds := []Kind{View, Proposal, Decision, Advance, Decision, View, Proposal, Pending, Withdrawn, Migrate, Decision, Proposal, Pending}
	commits := uint64(0)
	for i := range n {
		base := uint64(i)
		r := &Record{
			Time: time.Unix(int64(i), 5e6), Kind: kinds[(i+len(kinds)-1)%len(kinds)], Contract: "sha256:c",
			Stage: "draft", Role: "bot", Args: map[string]string{"b": "2", "a": "\"1\""}, Phase: "open",
			Principal: Principal{Subject: "bot-3", OnBehalf: "ann"},
			Base:      &base, Key: "k", Next: "closed", View: "sha256:v", State: "sha256:s",
			Patch: json.RawMessage(`[{"op":"remove","path":"/a"}]`), Size: 30, Verdict: json.RawMessage(`{"verdict":"commit"}`),
			Old: json.RawMessage(`[{"op":0,"path":"/a","value":1}]`), Redacted: []string{"/old/0", "/x"}, Seal: "s",
		}
		switch {
		case i == 0:
			r.Kind = Create
		case r.Kind == Pending:
			r.Expires = time.Unix(int64(i)+1, 0)
		case r.Kind == Withdrawn:
			r.Waits, r.Reason = uint64(i), "too late"
		case r.Kind == Migrate:
			r.To = "sha256:c"
		}
		if r.Version = commits; r.Kind.Answers() {
			r.Verdict = sampleVerdict(r, &commits)
		}
		var line []byte
		line, head = head.Seal(r)
		lines = append(lines, line)
	}
	return lines, head
}

// sampleVerdict is the verdict of an answer: every decision commits.
func sampleVerdict(r *Record, commits *uint64) json.RawMessage {
	verdict, before := waits, *commits
	if r.Kind == Decision {
		verdict = "commit"
		*commits++
	}
	r.Version = *commits
	return fmt.Appendf(nil, `{"verdict":"%s","version_before":%d,"version_after":%d}`, verdict, before, r.Version)
}

func joined(lines [][]byte) []byte {
	if len(lines) == 0 {
		return nil
	}
	return append(bytes.Join(lines, []byte("\n")), '\n')
}

func brokenAt(t *testing.T, text []byte) int {
	t.Helper()
	_, err := Verify(bytes.NewReader(text))
	var broken *BrokenError
	require.ErrorAs(t, err, &broken)
	return broken.Line
}

func TestALineIsJSONWithItsMembersInOrder(t *testing.T) {
	lines, _ := sampleLines(3)
	want := `{"seq":3,"time":"1970-01-01T00:00:02.005Z","instance":"T-7","kind":"proposal","contract":"sha256:c","version":0,` +
		`"stage":"draft","role":"bot","principal":{"subject":"bot-3","on_behalf":"ann"},"args":{"a":"\"1\"","b":"2"},"phase":"open","base":2,"key":"k","next":"closed",` +
		`"view":"sha256:v","state":"sha256:s","patch":[{"op":"remove","path":"/a"}],"size":30,"verdict":{"verdict":"commit"},` +
		`"old":[{"op":0,"path":"/a","value":1}],"redacted":["/old/0","/x"],"seal":"s","prev":"`
	require.Equal(t, want, string(lines[2])[:len(want)])
	for _, line := range lines {
		require.True(t, json.Valid(line))
		require.NotContains(t, string(line), "\n")
	}
}

func TestMembersThatDoNotApplyAreLeftOut(t *testing.T) {
	line, _ := Start("x").Seal(&Record{Kind: View, Contract: "c"})
	require.Regexp(t, `^\{"seq":1,"time":"[^"]+","instance":"x","kind":"view","format":2,"contract":"c","version":0,"prev":"[^"]+","hash":"[^"]+"\}$`, string(line))
}

func TestBytesThatAreNoTextStillMakeAWholeLine(t *testing.T) {
	line, head := Start("x").Seal(&Record{Kind: Create, Role: "a\xffb\n\"", Args: map[string]string{"p": "\xc3"}})
	require.True(t, json.Valid(line))
	got, err := Verify(bytes.NewReader(joined([][]byte{line})))
	require.NoError(t, err)
	require.Equal(t, head, got)
}

func TestAWholeTraceHolds(t *testing.T) {
	lines, head := sampleLines(20)
	got, err := Verify(bytes.NewReader(joined(lines)))
	require.NoError(t, err)
	require.Equal(t, head, got)
	require.Equal(t, uint64(20), got.Seq)
}

func TestAnEmptyTraceHolds(t *testing.T) {
	head, err := Verify(strings.NewReader(""))
	require.NoError(t, err)
	require.Equal(t, Start(""), head)
}

func TestATraceOfAnOlderFormatHoldsAndOfANewerOneIsRefusedByName(t *testing.T) {
	lines, _ := sampleLines(4)
	for text, have := range map[string]int{"": 1, `"format":1,`: 1, `"format":0,`: 1} {
		f := forging(t, lines)
		f.change(0, `"format":2,`, text)
		other, _ := f.lines()
		_, err := Verify(bytes.NewReader(joined(other)))
		require.NoError(t, err, have)
	}
	for text, have := range map[string]int{`"format":3,`: 3, `"format":12345,`: 12345} {
		f := forging(t, lines)
		f.change(0, `"format":2,`, text)
		other, _ := f.lines()
		_, err := Verify(bytes.NewReader(joined(other)))
		var format *FormatError
		require.ErrorAs(t, err, &format)
		require.Equal(t, have, format.Have)
		require.EqualError(t, err, fmt.Sprintf("written in format %d, this version reads 2", have))
		other[0] = bytes.Replace(other[0], []byte("T-7"), []byte("T-8"), 1)
		require.Equal(t, 1, brokenAt(t, joined(other)), "that it was changed comes first")
	}
}

// endless repeats a text, and counts the bytes that are read of it.
type endless struct {
	text string
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.text[(e.read+i)%len(e.text)]
	}
	e.read += len(p)
	return len(p), nil
}

func TestWhatCanBeNoLineIsReadNoFurther(t *testing.T) {
	for _, text := range []string{"\x00", "x{", " ", "[", "\xff"} {
		in := &endless{text: text}
		head, err := Verify(in)
		require.EqualError(t, err, "line 1 (record 1 expected): this is not a line of a trace")
		require.Zero(t, head.Seq)
		require.Less(t, in.read, 1<<16, "%q", text)
	}
	lines, head := sampleLines(2)
	in := &endless{text: "\x00"}
	got, err := Verify(io.MultiReader(bytes.NewReader(joined(lines)), in))
	require.ErrorContains(t, err, "line 3")
	require.Equal(t, head, got)
	require.Less(t, in.read, 1<<16)
}

func TestALineIsNoLongerThanItMayBe(t *testing.T) {
	const most = 100_000
	for length, whole := range map[int]bool{1: true, 4095: true, 4096: true, 4097: true, most: true, most + 1<<14: false} {
		text := "{" + strings.Repeat("x", length-1)
		line, err := readLine(bufio.NewReader(strings.NewReader(text+"\n{next")), most)
		require.NoError(t, err)
		require.Equal(t, whole, string(line) == text+"\n", length)
	}
	in := &endless{text: "{"}
	line, err := readLine(bufio.NewReader(in), most)
	require.NoError(t, err)
	require.Less(t, len(line), most+1<<13)
	require.Less(t, in.read, most+1<<14)
}

func TestALineThatNamesNoInstanceIsNone(t *testing.T) {
	line, _ := Start("").Seal(&Record{Kind: Create})
	_, err := Verify(bytes.NewReader(joined([][]byte{line})))
	require.ErrorContains(t, err, "the line names no instance")
}

func TestEveryChangedByteBreaksTheChainAtItsLine(t *testing.T) {
	lines, _ := sampleLines(4)
	text := joined(lines)
	for i := range text {
		for _, bit := range []int{0, 5} { // bit 5 turns a letter into the other case
			changed := bytes.Clone(text)
			changed[i] ^= 1 << bit
			want := 1 + bytes.Count(text[:i], []byte("\n"))
			require.Equal(t, want, brokenAt(t, changed), "byte %d bit %d", i, bit)
		}
	}
}

func TestADeletedLineBreaksTheChainThere(t *testing.T) {
	lines, _ := sampleLines(6)
	for i := range len(lines) - 1 {
		left := append(append([][]byte{}, lines[:i]...), lines[i+1:]...)
		require.Equal(t, i+1, brokenAt(t, joined(left)))
	}
}

func TestLinesMissingAtTheEndShowInTheHead(t *testing.T) {
	lines, head := sampleLines(6)
	got, err := Verify(bytes.NewReader(joined(lines[:4])))
	require.NoError(t, err)
	require.NotEqual(t, head, got)
	require.Equal(t, uint64(4), got.Seq)
}

func TestAQuestionWithoutItsDecisionBreaksATraceThere(t *testing.T) {
	lines, _ := sampleLines(6)
	for _, cut := range []int{3, 5} { // behind a proposal, behind an advance
		require.Equal(t, cut, brokenAt(t, joined(lines[:cut])))
	}
	var between Pairing
	require.NoError(t, between.Next(&Record{Kind: Create, Seq: 1}))
	require.EqualError(t, between.Next(&Record{Kind: Decision, Seq: 2}), "record 2: "+DecidesNothing)
	require.NoError(t, between.End())
	require.NoError(t, between.Next(&Record{Kind: Proposal, Seq: 2}))
	require.EqualError(t, between.Next(&Record{Kind: View, Seq: 3}), "record 2: "+Undecided)
	require.EqualError(t, new(Pairing).Next(&Record{Kind: Decision, Seq: 1}), "record 1: "+beginsNothing)
}

func TestReorderedAndRepeatedLinesBreakTheChain(t *testing.T) {
	lines, _ := sampleLines(5)
	for i := range lines {
		for j := range i {
			swapped := append([][]byte{}, lines...)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			require.Equal(t, j+1, brokenAt(t, joined(swapped)))
		}
		repeated := append(append(append([][]byte{}, lines[:i+1]...), lines[i]), lines[i+1:]...)
		require.Equal(t, i+2, brokenAt(t, joined(repeated)))
	}
}

func TestATraceCutWithinALineBreaksThere(t *testing.T) {
	lines, _ := sampleLines(2)
	text := joined(lines)
	for end := len(lines[0]) + 2; end < len(text); end++ {
		require.Equal(t, 2, brokenAt(t, text[:end]))
	}
}

func TestALineOfAnotherInstanceBreaksTheChain(t *testing.T) {
	lines, head := sampleLines(1)
	head.Instance = "other"
	foreign, _ := head.Seal(&Record{Kind: View})
	require.Equal(t, 2, brokenAt(t, joined([][]byte{lines[0], foreign})))
}

func TestABrokenChainIsReportedWithoutContent(t *testing.T) {
	lines, _ := sampleLines(2)
	text := bytes.Replace(joined(lines), []byte("draft"), []byte("CANARY"), 1)
	_, err := Verify(bytes.NewReader(text))
	require.EqualError(t, err, "line 1 (record 1 expected): the line was changed: its hash is another")
}

func TestASealedPartBelongsToItsLine(t *testing.T) {
	key := testKey(t, 1)
	line, want := Start("x").Seal(&Record{Kind: Create, Seal: key.Seal([]byte("state"))})
	got, _, err := CheckRecord(Start("x"), key, line, []byte("state"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	for _, sealed := range [][]byte{nil, []byte("State"), []byte("state ")} {
		_, _, err := CheckRecord(Start("x"), key, line, sealed)
		require.EqualError(t, err, "record 1: the sealed part was changed: its seal is another")
	}
	_, _, err = CheckRecord(Start("x"), testKey(t, 2), line, []byte("state"))
	require.Error(t, err)
}

func TestWriteGivesWhatVerifyReads(t *testing.T) {
	lines, head := sampleLines(7)
	var out bytes.Buffer
	require.NoError(t, Write(&out, each(lines, nil)))
	require.Equal(t, joined(lines), out.Bytes())
	got, err := Verify(&out)
	require.NoError(t, err)
	require.Equal(t, head, got)
}

func TestWriteStopsAtTheFirstError(t *testing.T) {
	lines, _ := sampleLines(1)
	broken := errors.New("disk")
	require.ErrorIs(t, Write(&bytes.Buffer{}, each(lines, broken)), broken)
	require.ErrorIs(t, Write(failingWriter{broken}, each(lines, nil)), broken)
}

func each(lines [][]byte, end error) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, line := range lines {
			if !yield(line, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }

func TestKeysOfAnotherLengthAreRefused(t *testing.T) {
	for _, n := range []int{0, KeySize - 1, KeySize + 1} {
		_, err := KeyOf(make([]byte, n))
		require.Error(t, err)
	}
	_, err := NewKey(strings.NewReader("short"))
	require.Error(t, err)
}

func FuzzVerify(f *testing.F) {
	lines, _ := sampleLines(3)
	f.Add(joined(lines))
	f.Add([]byte("{}\n"))
	f.Add(fmt.Appendf(nil, `{"prev":"%s","hash":"%s"}`+"\n", Origin, Origin))
	f.Fuzz(func(t *testing.T, text []byte) {
		head, err := Verify(bytes.NewReader(text))
		if err == nil && uint64(bytes.Count(text, []byte("\n"))) != head.Seq {
			t.Fatalf("a trace of %d lines ends at %d", bytes.Count(text, []byte("\n")), head.Seq)
		}
	})
}

func TestEveryFieldOfARecordIsAMemberOfItsLine(t *testing.T) {
	r := &Record{}
	fields := map[any]bool{}
	for _, m := range r.members() {
		fields[reflect.ValueOf(m.field).Pointer()] = true
	}
	of := reflect.ValueOf(r).Elem()
	require.Len(t, r.members(), of.NumField())
	for i := range of.NumField() {
		require.True(t, fields[of.Field(i).Addr().Pointer()], of.Type().Field(i).Name)
	}
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	base := uint64(3)
	full := Record{
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Kind: Proposal, Contract: "c", Version: 7,
		Stage: "s \"q\" \u202e", Role: "r", Args: map[string]string{"b": "\n", "a": "é"}, Phase: "p", Base: &base, Key: "k", Next: "n",
		View: "v", State: "st", Patch: json.RawMessage(`[{"op":"test","path":"","value":1e2}]`), Size: 1024, Digest: "d",
		Verdict: json.RawMessage(`{"verdict":"commit"}`), Old: json.RawMessage(`[]`), Redacted: []string{"/a", "/b"}, Seal: "x",
	}
	empty := Record{Kind: Proposal}
	for _, head := range []Head{Start("x"), {Instance: "x", Seq: 9, Hash: Origin}} {
		for _, want := range []Record{full, empty} {
			line, next := head.Seal(&want)
			got, err := ReadRecord(line)
			require.NoError(t, err)
			require.Equal(t, want, *got)
			require.Equal(t, next.Hash, got.Hash)
			require.Equal(t, head.Hash, got.Prev)
			require.Equal(t, head.Seq == 0, got.Format == Format)
			again, _ := head.Seal(got)
			require.Equal(t, string(line), string(again))
		}
	}
}

func TestALineWithAMemberOfAnotherKindIsNoRecord(t *testing.T) {
	for _, member := range []string{`"version":"1"`, `"args":[]`, `"time":"yesterday"`, `"base":-1`, `"redacted":{}`} {
		r, err := ReadRecord([]byte(`{"seq":4,` + member + `,"stage":"s"}`))
		require.EqualError(t, err, notARecord, member)
		require.Equal(t, uint64(4), r.Seq)
		require.Equal(t, "s", r.Stage, "the others are read")
	}
	for _, text := range []string{``, `[]`, `{`, `{"seq":1}}`, `{"seq":}`, `{"seq":1} {}`, `7`} {
		r, err := ReadRecord([]byte(text))
		require.EqualError(t, err, notALine, text)
		require.Nil(t, r)
	}
	r, err := ReadRecord([]byte(`{"seq":4,"more":[{}],"seal":null}`))
	require.NoError(t, err, "what no record has is passed over")
	require.Equal(t, Record{Seq: 4}, *r)
}

func TestTextsAreReadHoweverTheyAreSpelled(t *testing.T) {
	for spelled, want := range map[string]string{`"plain é"`: "plain é", `"a\u0062\n"`: "ab\n", `"\ud83d\ude00"`: "😀", "\"\xff\"": "\ufffd", `null`: "", `""`: ""} {
		r, err := ReadRecord([]byte(`{"stage":` + spelled + `}`))
		require.NoError(t, err, spelled)
		require.Equal(t, want, r.Stage)
	}
}

func TestALineThatIsNoRecordBreaksTheChainThoughItsHashIsRight(t *testing.T) {
	for was, is := range map[string]string{
		`"version":0`:  `"version":"0"`,
		`"stage":"s"`:  `"stage":["s"]`,
		`"time":"1970`: `"time":"soon`,
		`"args":{`:     `"redacted":{`,
	} {
		line, _ := Start("x").Seal(&Record{Time: time.Unix(1, 0), Kind: View, Stage: "s", Args: map[string]string{"a": "b"}})
		body, hash, _, ok := cut(line)
		require.True(t, ok)
		forged := bytes.Replace(body, []byte(was), []byte(is), 1)
		require.NotEqual(t, body, forged)
		line = bytes.Replace(line, body[:len(body)-1], forged[:len(forged)-1], 1)
		line = bytes.Replace(line, []byte(hash), []byte(hashOf(forged)), 1)
		_, err := Start("x").Next(line)
		require.EqualError(t, err, "record 1: "+notARecord, is)
	}
}
