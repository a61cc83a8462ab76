package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A forger writes lines as somebody does who can hash: every line has the hash of what
// it says, and the lines after one that was forged follow it.
type forger struct {
	t    *testing.T
	body [][]byte // lines up to "prev"
	prev []string // of each line, "" for the hash of the line before
}

var chainMembers = regexp.MustCompile(`,"prev":"[^"]*","hash":"[^"]*"\}$`)

func forging(t *testing.T, lines [][]byte) *forger {
	f := &forger{t: t}
	for _, line := range lines {
		f.body = append(f.body, chainMembers.ReplaceAll(line, nil))
	}
	f.prev = make([]string, len(lines))
	return f
}

// change rewrites a member of a line.
func (f *forger) change(i int, old, new string) {
	f.t.Helper()
	require.Contains(f.t, string(f.body[i]), old)
	f.body[i] = bytes.Replace(f.body[i], []byte(old), []byte(new), 1)
}

func (f *forger) lines() (lines [][]byte, hashes []string) {
	last := Origin
	for i, body := range f.body {
		if f.prev[i] != "" {
			last = f.prev[i]
		}
		text := fmt.Appendf(nil, `%s,"prev":"%s"}`, body, last)
		last = hashOf(text)
		lines = append(lines, fmt.Appendf(nil, `%s,"hash":"%s"}`, text[:len(text)-1], last))
		hashes = append(hashes, last)
	}
	return lines, hashes
}

func TestAForgedLineIsFoundThoughAllHashesAreRight(t *testing.T) {
	const n = 6
	for name, forge := range map[string]func(f *forger, i int, hashes []string){
		"prev: of the line before the last": func(f *forger, i int, hashes []string) { f.prev[i] = append([]string{Origin, Origin}, hashes...)[i] },
		"prev: of a later line":             func(f *forger, i int, hashes []string) { f.prev[i] = hashes[n-1] },
		"prev: of no line":                  func(f *forger, i int, _ []string) { f.prev[i] = strings.ReplaceAll(Origin, "0", "7") },
		"seq: of the line before": func(f *forger, i int, _ []string) {
			f.change(i, fmt.Sprintf(`{"seq":%d,`, i+1), fmt.Sprintf(`{"seq":%d,`, i))
		},
		"seq: of a later line": func(f *forger, i int, _ []string) {
			f.change(i, fmt.Sprintf(`{"seq":%d,`, i+1), fmt.Sprintf(`{"seq":%d,`, i+7))
		},
		"seq: none":            func(f *forger, i int, _ []string) { f.change(i, fmt.Sprintf(`{"seq":%d,`, i+1), `{`) },
		"instance: another":    func(f *forger, i int, _ []string) { f.change(i, `"instance":"T-7"`, `"instance":"T-8"`) },
		"principal: no object": func(f *forger, i int, _ []string) { f.change(i, `"principal":{`, `"principal":"ann","x":{`) },
		"principal: no texts": func(f *forger, i int, _ []string) {
			f.change(i, `"principal":{"subject":"bot-3"`, `"principal":{"subject":["bot-3"]`)
		},
		"instance: none": func(f *forger, i int, _ []string) { f.change(i, `"instance":"T-7",`, ``) },
	} {
		t.Run(name, func(t *testing.T) {
			honest, _ := sampleLines(n)
			_, hashes := forging(t, honest).lines()
			for i := 1; i < n; i++ {
				f := forging(t, honest)
				forge(f, i, hashes)
				lines, _ := f.lines()
				for _, line := range lines {
					body, hash, _, ok := cut(line)
					require.True(t, ok)
					require.Equal(t, hashOf(body), hash, "every line has its own hash")
				}
				require.Equal(t, i+1, brokenAt(t, joined(lines)))
			}
		})
	}
	honest, _ := sampleLines(n)
	lines, _ := forging(t, honest).lines()
	require.Equal(t, honest, lines, "what is not forged comes out as it was")
}

// The hash alone is wrong, and the next line follows the wrong one.
func TestAHashThatIsNotTheLinesOwnIsFound(t *testing.T) {
	honest, _ := sampleLines(5)
	for i := range honest {
		f := forging(t, honest)
		wrong := strings.ReplaceAll(Origin, "0", "7")
		if i+1 < len(honest) {
			f.prev[i+1] = wrong
		}
		lines, hashes := f.lines()
		lines[i] = bytes.Replace(lines[i], []byte(hashes[i]), []byte(wrong), 1)
		require.True(t, json.Valid(lines[i]))
		require.Equal(t, i+1, brokenAt(t, joined(lines)))
	}
}

func TestAForgedSealIsFoundThoughTheChainHolds(t *testing.T) {
	key := testKey(t, 1)
	for name, forged := range map[string]string{
		"of other bytes":       key.Seal([]byte("other")),
		"by another key":       testKey(t, 2).Seal([]byte("sealed")),
		"none":                 "",
		"of another use":       key.Snapshot([]byte("sealed")),
		"a hash without a key": hashOf([]byte("sealed")),
	} {
		line, _ := Start("x").Seal(&Record{Kind: Proposal, Seal: forged})
		_, _, err := CheckRecord(Start("x"), key, line, []byte("sealed"))
		require.EqualError(t, err, "record 1: "+sealedChanged, name)
		_, err = Start("x").Next(line)
		require.NoError(t, err, "the chain holds")
	}
}

// What lines say of each other holds in no forged trace, though every hash is right.
func TestLinesThatContradictEachOtherAreFoundThoughAllHashesAreRight(t *testing.T) {
	const n = 14
	honest, _ := sampleLines(n)
	is := func(i int, kind Kind) int { // the lines that are forged
		require.Contains(t, string(honest[i-1]), `"kind":"`+string(kind)+`"`)
		return i - 1
	}
	for name, c := range map[string]struct {
		line   int // of the break
		reason string
		forge  func(f *forger)
	}{
		"a second beginning":                {2, beginsAgain, func(f *forger) { f.change(is(2, View), `"kind":"view"`, `"kind":"create"`) }},
		"an advance that waits":             {6, cannotWait, func(f *forger) { f.change(is(6, Decision), `"kind":"decision"`, `"kind":"pending"`) }},
		"a migration that waits":            {12, cannotWait, func(f *forger) { f.change(is(12, Decision), `"kind":"decision"`, `"kind":"pending"`) }},
		"a view that is decided":            {3, DecidesNothing, func(f *forger) { f.change(is(3, Proposal), `"kind":"proposal"`, `"kind":"pending"`) }},
		"a migration without its decision":  {12, Undecided, func(f *forger) { f.change(is(12, Decision), `"kind":"decision"`, `"kind":"view"`) }},
		"another proposal that waits":       {9, otherPatch, func(f *forger) { f.change(is(9, Pending), `"verdict":`, `"digest":"hmac-sha256:other","verdict":`) }},
		"a proposal of which nothing waits": {9, otherPatch, func(f *forger) { f.change(is(8, Proposal), `"verdict":`, `"digest":"hmac-sha256:other","verdict":`) }},
		"a withdrawal of a view":            {10, waitsNot, func(f *forger) { f.change(is(10, Withdrawn), `"pending":9`, `"pending":7`) }},
		"a withdrawal of what is decided": {10, waitsNot, func(f *forger) {
			f.change(is(9, Pending), `"kind":"pending"`, `"kind":"decision"`)
			f.change(8, `"verdict":"pending"`, `"verdict":"noop"`)
		}},
		"no beginning":              {1, beginsNothing, func(f *forger) { f.change(0, `"kind":"create"`, `"kind":"view"`) }},
		"a beginning in the middle": {1, otherVersion, func(f *forger) { f.change(0, `"version":0`, `"version":3`) }},
		"a kind that none has":      {7, unknownKind, func(f *forger) { f.change(is(7, View), `"kind":"view"`, `"kind":"zzz"`) }},
		"no kind":                   {7, unknownKind, func(f *forger) { f.change(is(7, View), `"kind":"view"`, `"kind":""`) }},
		"a kind that none has in the place of an answer": {4, unknownKind, func(f *forger) { f.change(is(4, Decision), `"kind":"decision"`, `"kind":"answer"`) }},
		"a decision without verdict": {4, noVerdict, func(f *forger) {
			f.change(is(4, Decision), `"verdict":{"verdict":"commit","version_before":0,"version_after":1},`, ``)
		}},
		"a verdict that is none": {4, noVerdict, func(f *forger) { f.change(is(4, Decision), `"verdict":"commit"`, `"verdict":"allow"`) }},
		"a verdict that is no object": {4, noVerdict, func(f *forger) {
			f.change(is(4, Decision), `"verdict":{"verdict":"commit"`, `"verdict":7,"x":{"verdict":"commit"`)
		}},
		"a decision that waits":           {4, noVerdict, func(f *forger) { f.change(is(4, Decision), `"verdict":"commit"`, `"verdict":"pending"`) }},
		"a pending that commits":          {9, noVerdict, func(f *forger) { f.change(is(9, Pending), `"verdict":"pending"`, `"verdict":"commit"`) }},
		"a commit that counts nothing":    {4, otherVersion, func(f *forger) { f.change(is(4, Decision), `"version":1`, `"version":0`) }},
		"a commit that counts two":        {6, otherVersion, func(f *forger) { f.change(is(6, Decision), `"version":2`, `"version":3`) }},
		"a commit from another version":   {6, otherVersion, func(f *forger) { f.change(is(6, Decision), `"version_before":1`, `"version_before":0`) }},
		"a commit to another version":     {6, otherVersion, func(f *forger) { f.change(is(6, Decision), `"version_after":2`, `"version_after":3`) }},
		"a reject that counts":            {6, otherVersion, func(f *forger) { f.change(is(6, Decision), `"verdict":"commit"`, `"verdict":"reject"`) }},
		"a pending that counts":           {9, otherVersion, func(f *forger) { f.change(is(9, Pending), `"version":2`, `"version":3`) }},
		"a view of a version of before":   {7, otherVersion, func(f *forger) { f.change(is(7, View), `"version":2`, `"version":1`) }},
		"a proposal on a version to come": {8, otherVersion, func(f *forger) { f.change(is(8, Proposal), `"version":2`, `"version":3`) }},
		"a refused migration that is in force": {12, otherContract, func(f *forger) {
			f.change(is(11, Migrate), `"to":"sha256:c"`, `"to":"sha256:d"`)
			f.change(is(12, Decision), `"contract":"sha256:c","version":3`, `"contract":"sha256:d","version":2`)
			f.change(11, `"verdict":"commit","version_before":2,"version_after":3`, `"verdict":"reject","version_before":2,"version_after":2`)
		}},
		"a migration that committed and left the contract": {12, otherContract, func(f *forger) {
			f.change(is(11, Migrate), `"to":"sha256:c"`, `"to":"sha256:d"`)
		}},
		"a withdrawal of what comes":          {10, waitsNot, func(f *forger) { f.change(is(10, Withdrawn), `"pending":9`, `"pending":14`) }},
		"a withdrawal of nothing":             {10, waitsNot, func(f *forger) { f.change(is(10, Withdrawn), `"pending":9,`, ``) }},
		"another contract":                    {7, otherContract, func(f *forger) { f.change(is(7, View), `"contract":"sha256:c"`, `"contract":"sha256:d"`) }},
		"another contract than was asked for": {12, otherContract, func(f *forger) { f.change(is(12, Decision), `"contract":"sha256:c"`, `"contract":"sha256:d"`) }},
		"a contract asked for that is not in force afterwards": {13, otherContract, func(f *forger) {
			f.change(is(11, Migrate), `"to":"sha256:c"`, `"to":"sha256:d"`)
			f.change(is(12, Decision), `"contract":"sha256:c"`, `"contract":"sha256:d"`)
		}},
		"a format within the log":     {7, formatRises, func(f *forger) { f.change(is(7, View), `"contract"`, `"format":2,"contract"`) }},
		"a format that does not rise": {12, formatRises, func(f *forger) { f.change(is(12, Decision), `"contract"`, `"format":2,"contract"`) }},
		"a format of a migration": {11, formatRises, func(f *forger) {
			f.change(0, `"format":2,`, ``)
			f.change(is(11, Migrate), `"contract"`, `"format":2,"contract"`)
		}},
		"to: no text":        {11, notARecord, func(f *forger) { f.change(is(11, Migrate), `"to":"sha256:c"`, `"to":7`) }},
		"pending: no number": {10, notARecord, func(f *forger) { f.change(is(10, Withdrawn), `"pending":9`, `"pending":"9"`) }},
		"reason: no text":    {10, notARecord, func(f *forger) { f.change(is(10, Withdrawn), `"reason":"too late"`, `"reason":["too late"]`) }},
		"expires: no time":   {9, notARecord, func(f *forger) { f.change(is(9, Pending), `"expires":"1970-01-01T00:00:09Z"`, `"expires":"soon"`) }},
	} {
		t.Run(name, func(t *testing.T) {
			f := forging(t, honest)
			c.forge(f)
			lines, _ := f.lines()
			_, err := Verify(bytes.NewReader(joined(lines)))
			var broken *BrokenError
			require.ErrorAs(t, err, &broken)
			require.Equal(t, c.reason, broken.Reason)
			require.Equal(t, c.line, broken.Line)
		})
	}
	f := forging(t, honest)
	f.change(0, `"format":2,`, ``)
	f.change(is(12, Decision), `"contract"`, `"format":2,"contract"`)
	risen, _ := f.lines()
	_, err := Verify(bytes.NewReader(joined(risen)))
	require.NoError(t, err, "the decision of a migration raises the format")
	f.change(is(12, Decision), `"format":2`, `"format":3`)
	newer, _ := f.lines()
	_, err = Verify(bytes.NewReader(joined(newer)))
	var format *FormatError
	require.ErrorAs(t, err, &format)
	require.Equal(t, 3, format.Have)
}

// What is withdrawn is withdrawn once.
func TestAWithdrawalIsOfWhatStillWaits(t *testing.T) {
	var p Pairing
	waiting := Record{Kind: Pending, Verdict: json.RawMessage(`{"verdict":"pending"}`)}
	for seq, r := range []Record{{Kind: Create}, {Kind: Proposal}, waiting, {Kind: Proposal}, waiting, {Kind: Withdrawn, Waits: 3}, {Kind: View}, {Kind: Withdrawn, Waits: 5}} {
		r.Seq = uint64(seq + 1)
		require.NoError(t, p.Next(&r))
	}
	require.EqualError(t, p.Next(&Record{Kind: Withdrawn, Seq: 9, Waits: 3}), "record 9: "+waitsNot)
}
