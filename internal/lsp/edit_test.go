package lsp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/compiler/lint"
	"github.com/patchoptic/poptic/examples"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/lang/source"
)

// checked is what "poptic check" says of a text, as findings are shown here. Positions are
// counted by other code than the server's: over the text in UTF-16.
func checked(t testing.TB, name, text string, beside map[string]string, utf8Positions bool) []string {
	t.Helper()
	files := fstest.MapFS{name: {Data: []byte(text)}}
	for other, text := range beside {
		files[other] = &fstest.MapFile{Data: []byte(text)}
	}
	out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: name, Replay: replay.New(replay.Options{})})
	require.NoError(t, err)
	found, err := lint.Findings(t.Context(), lint.Input{Output: out, FS: files, Path: name})
	require.NoError(t, err)
	var all []string
	for _, d := range found {
		if d.Span.File == nil || d.Span.File.Name != name {
			continue
		}
		all = append(all, fmt.Sprintf("%s %s-%s", d.Code, spot(d.Span.File, d.Span.Start, utf8Positions), spot(d.Span.File, d.Span.End, utf8Positions)))
	}
	return all
}

// spot is a byte of a file as "line:character".
func spot(f *source.File, offset int, utf8Positions bool) string {
	before := f.Text[:offset]
	if strings.HasSuffix(before, "\r") && strings.HasPrefix(f.Text[offset:], "\n") {
		before = before[:len(before)-1]
	}
	before = strings.ReplaceAll(strings.ReplaceAll(before, "\r\n", "\n"), "\r", "\n")
	line := before[strings.LastIndexByte(before, '\n')+1:]
	units := len(utf16.Encode([]rune(line)))
	if utf8Positions {
		units = len(line)
	}
	return fmt.Sprintf("%d:%d", strings.Count(before, "\n"), units)
}

func TestPositionsCountUTF16(t *testing.T) {
	text := "contract c\nstate { a: int  \"😀😀\": Nix }\n# 😀\nstage s { read /\"😀😀\"/x }\n"
	for name, lineEnd := range map[string]string{"LF": "\n", "CRLF": "\r\n"} {
		t.Run(name, func(t *testing.T) {
			text := strings.ReplaceAll(text, "\n", lineEnd)
			c := open(t, nil)
			c.didOpen("c.poptic", text)
			require.Equal(t, []string{"unknown_type 1:24-1:27"}, c.findings("c.poptic", 1))
			c.edit("c.poptic", 2, change(1, 24, 1, 27, "int"), change(1, 17, 1, 21, "🌞"))
			require.Equal(t, []string{"unknown_member 3:16-3:22"}, c.findings("c.poptic", 2))
			c.edit("c.poptic", 3, change(3, 16, 3, 22, "\"🌞\""))
			require.Equal(t, []string{"no_such_path 3:21-3:22"}, c.findings("c.poptic", 3))
			// A place within a character is before it, one behind a line at its end.
			c.edit("c.poptic", 4, change(3, 18, 3, 99, "b\" }"), change(1, 18, 1, 19, "b"))
			require.Equal(t, checked(t, "c.poptic", "contract c\nstate { a: int  \"b\": int }\n# 😀\nstage s { read /\"b\" }\n", nil, false), c.findings("c.poptic", 4))
		})
	}
}

func TestClientsThatCountBytesMay(t *testing.T) {
	c := start(t)
	result := c.call("initialize", map[string]any{"rootUri": c.uri(""), "capabilities": map[string]any{"general": map[string]any{"positionEncodings": []string{"utf-32", "utf-16", "utf-8"}}}})
	require.Equal(t, "utf-8", result.(map[string]any)["capabilities"].(map[string]any)["positionEncoding"])
	c.didOpen("c.poptic", "contract c\nstate { \"😀\": Nix }\n")
	require.Equal(t, []string{"unknown_type 1:16-1:19"}, c.findings("c.poptic", 1))
	c.edit("c.poptic", 2, change(1, 16, 1, 19, "int"))
	require.Empty(t, c.findings("c.poptic", 2))
}

// Whatever is typed, what is published in the end is what a fresh check finds.
func TestAnyEditsEndInWhatCheckFinds(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	contracts := map[string]string{"desk": desk, "notes": notes}
	for _, name := range []string{"support", "clinical", "release"} {
		text, err := examples.FS.ReadFile(name + "/contract.poptic")
		require.NoError(t, err)
		contracts[name] = string(text)
	}
	if wrong, err := os.ReadFile("../../examples/support/testdata/wrong.poptic"); err == nil {
		contracts["wrong"] = string(wrong)
	}
	for name, text := range contracts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range rounds {
				typeAnything(t, text, uint64(seed))
			}
		})
	}
}

func typeAnything(t *testing.T, text string, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 7))
	inBytes := seed%2 == 1
	if seed%3 == 2 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	c := start(t)
	encodings := []string{"utf-16"}
	if inBytes {
		encodings = append(encodings, "utf-8")
	}
	beside := map[string]string{"common.poptic": common}
	c.write(beside)
	c.call("initialize", map[string]any{"rootUri": c.uri(""), "capabilities": map[string]any{"general": map[string]any{"positionEncodings": encodings}}})
	c.didOpen("c.poptic", text)
	for version := 2; version < 40; version++ {
		before := text
		start, end, by := edit(random, text)
		text = text[:start] + by + text[end:]
		f := source.NewFile("", before)
		if random.IntN(8) == 0 {
			c.didChange("c.poptic", version, text)
		} else {
			at := func(offset int) map[string]any {
				var line, character int
				fmt.Sscanf(spot(f, offset, inBytes), "%d:%d", &line, &character)
				return map[string]any{"line": line, "character": character}
			}
			c.edit("c.poptic", version, map[string]any{"text": by, "range": map[string]any{"start": at(start), "end": at(end)}})
		}
		if random.IntN(4) == 0 { // what a pointer that wanders over it asks
			for _, method := range []string{"hover", "definition", "documentSymbol", "foldingRange", "completion", "codeAction", "semanticTokens/full", "inlayHint", "codeLens", "references"} {
				params := c.place("c.poptic", text, safe(text, random.IntN(len(text)+1)))
				params["range"] = map[string]any{"start": params["position"], "end": params["position"]}
				params["context"] = map[string]any{"diagnostics": []any{}}
				if _, failure := c.answer(c.ask("textDocument/"+method, params)); failure != nil {
					require.NotEqual(t, float64(-32603), failure["code"], "%s on\n%s", method, text)
				}
			}
		}
		if version%13 == 0 {
			want := checked(t, "c.poptic", text, beside, inBytes)
			c.settled("c.poptic", want)
			require.Equal(t, want, c.findings("c.poptic", version), "seed %d:\n%s", seed, text)
		}
	}
	require.Equal(t, 0, c.ends(true))
}

// edit is a change such as people make: a letter, a word, a line gone, doubled or moved.
func edit(random *rand.Rand, text string) (start, end int, by string) {
	start = safe(text, random.IntN(len(text)+1))
	end = safe(text, min(len(text), start+random.IntN(12)))
	switch random.IntN(6) {
	case 0:
		end = start
		letters := []rune("abcxyz{}()[]\"'/|&=:,.#*\n\r é😀")
		by = string(letters[random.IntN(len(letters))])
	case 1:
		words := []string{"stage ", "read /", " where { ", "\nstate {", "except ", "\n}\n", "state.", " && ", "\"", "/*", "**", "type T = ", "each x in /", "\ntest \"t\" {", "prove ", "-> ", "1e5", "`a`"}
		end, by = start, words[random.IntN(len(words))]
	case 2:
		// gone
	case 3:
		end = start + max(0, strings.IndexByte(text[start:], '\n')) // the rest of the line
	case 4:
		end = start
		from := safe(text, random.IntN(len(text)+1))
		by = text[from:safe(text, min(len(text), from+random.IntN(80)))]
	case 5:
		by = text[start:end] + text[start:end]
	}
	return start, end, by
}

// safe is a byte at or before one at which a place can be: not within a character, and not
// within a line end.
func safe(text string, at int) int {
	for at > 0 && at < len(text) && (text[at]&0xC0 == 0x80 || text[at] == '\n' && text[at-1] == '\r') {
		at--
	}
	return at
}

// A server that cannot make sense of a message says so, and goes on.
func FuzzMessages(f *testing.F) {
	f.Add(`{"textDocument":{"uri":"file:///c.poptic"},"position":{"line":-1,"character":99999999}}`)
	f.Add(`{"textDocument":{"uri":"%zz"},"position":{}}`)
	f.Add(`[]`)
	f.Add(`{"textDocument":{"uri":"untitled:1","version":1,"text":"contract c\n"},"contentChanges":[{"range":{"start":{"line":5,"character":1},"end":{"line":0,"character":0}},"text":"x"}]}`)
	f.Fuzz(func(t *testing.T, params string) {
		if !json.Valid([]byte(params)) {
			t.Skip()
		}
		var log bytes.Buffer
		c := within(t, &log)
		c.greets()
		c.didOpen("c.poptic", notes)
		for _, method := range []string{"didOpen", "didChange", "hover", "definition", "references", "rename", "completion", "semanticTokens/full", "inlayHint", "codeAction", "codeLens", "didClose"} {
			if strings.HasPrefix(method, "did") {
				c.notify("textDocument/"+method, json.RawMessage(params))
				continue
			}
			if _, failure := c.answer(c.ask("textDocument/"+method, json.RawMessage(params))); failure != nil {
				require.NotEqual(t, float64(-32603), failure["code"], method)
			}
		}
		c.call("shutdown", nil)
		require.NotContains(t, log.String(), "goroutine", "something panicked")
	})
}
