package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/terminal"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store/sqlite"
)

func TestWrappedLinesKeepToTheWidthAndLoseNoWord(t *testing.T) {
	text := "the quick brown fox jumps over the lazy dog, naïvely and with an unreasonablylongwordinside"
	for width := 1; width <= utf8.RuneCountInString(text)+1; width++ {
		lines := terminal.Wrap(text, width)
		require.Equal(t, strings.Fields(text), strings.Fields(strings.Join(lines, " ")))
		for _, l := range lines {
			if strings.Contains(l, " ") {
				require.LessOrEqual(t, utf8.RuneCountInString(l), width, "%q", l)
			}
		}
	}
}

func TestWrappingBreaksOnlyWhereItMust(t *testing.T) {
	require.Equal(t, []string{"one two", "three"}, terminal.Wrap("one two three", 7))
	require.Equal(t, []string{"one two three"}, terminal.Wrap("one two three", 13))
	require.Equal(t, []string{""}, terminal.Wrap("", 10))
}

func TestFieldsAlignUnderTheirValue(t *testing.T) {
	var b strings.Builder
	p := terminal.Printer{W: &b, Width: 30}
	p.Field("  ", 7, "rule", "a rule that is longer than a line")
	p.Field("  ", 7, "hint", "")
	require.Equal(t, "  rule     a rule that is\n           longer than a line\n", b.String())
}

func TestColourIsThereOnlyWhenWanted(t *testing.T) {
	require.Equal(t, "<1;31>no", (&terminal.Printer{Paint: func(style, text string) string { return "<" + style + ">" + text }}).Red("no"))
	require.Equal(t, "no", (&terminal.Printer{}).Red("no"))
}

func TestNamesAreListedAsASentenceDoes(t *testing.T) {
	require.Equal(t, "", terminal.Listed(nil, "or"))
	require.Equal(t, "a", terminal.Listed([]string{"a"}, "or"))
	require.Equal(t, "a or b", terminal.Listed([]string{"a", "b"}, "or"))
	require.Equal(t, "a, b or c", terminal.Listed([]string{"a", "b", "c"}, "or"))
	require.Equal(t, []string{"no files", "1 file", "2 files"}, []string{terminal.Plural(0, "file"), terminal.Plural(1, "file"), terminal.Plural(2, "file")})
}

func TestATerminalObeysNothingThatAnActorWrote(t *testing.T) {
	require.Equal(t, `/a\u001b[31m\u009b\u202e`+"\né日", terminal.Visible("/a\x1b[31m\u009b\u202e\né日"))
	var out strings.Builder
	path := "/\x1b[2J"
	writeViolation(&terminal.Printer{W: &out, Width: 80}, "", verify.Violation{Path: &path, Message: path, Rule: path, Hint: path})
	require.NotContains(t, out.String(), "\x1b")
	require.Equal(t, 4, strings.Count(out.String(), `/\u001b[2J`))
}

// evil has one of each kind of character that must not reach a screen, between letters.
const evil = "a\u009b31mb\u202ec\u2066d\u200fe\u061cf\u2028g\u00adh\ufeffi\u200bj\U000e0041k\x7fl"

// reallyEvil is for where a language lets control characters through.
const reallyEvil = evil + "m\x1b[2Jn\x07o\x1b]0;p\x07q\bq\rr\x1b[31ms\x1b[4mt\x1b[0;31mu"

// colours are the sequences that the program paints with itself.
var colours = regexp.MustCompile(`\x1b\[(0|1|2|1;3[1-4])m`)

// requirePlain fails with what stands around the first character that is not plain.
func requirePlain(t *testing.T, text string) {
	t.Helper()
	for i, r := range text {
		bad := r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Cf, unicode.Zl, unicode.Zp))
		require.False(t, bad, "%U after %q", r, text[max(0, i-80):i])
	}
}

func evilContract(doc string) string {
	return `# ` + doc + `
contract c
state {
  # ` + doc + `
  notes: map of { text: string  "` + doc + `"?: string }
  limit: int
}
type Unused = string
phases {
  # ` + doc + `
  open -> done by host
  done
}
# ` + doc + `
invariant small "at most ten ` + doc + `" { state.limit <= 10 || "` + doc + `" == "x" }
# ` + doc + `
stage edit(n in /notes) {
  in open by bot
  read /notes/{n}, /limit
  write /notes/{n}, /limit
}
# ` + doc + `
stage every { in open read /** write /notes, /notes/"` + doc + `" }
prove no stage reads secrets "` + doc + `"
`
}

// inEvil moves the test into a folder whose files are full of what must not reach a
// screen. It returns the key under which a note is kept.
func inEvil(t *testing.T) (key string) {
	t.Helper()
	t.Chdir(t.TempDir())
	key = reallyEvil + "/~"
	quoted := func(text string) string {
		data, err := json.Marshal(text)
		require.NoError(t, err)
		return string(data)
	}
	write := func(name, text string) { require.NoError(t, os.WriteFile(name, []byte(text), 0o644)) }
	write("good.poptic", strings.Replace(strings.Replace(evilContract(evil), "\nprove", "\n# prove", 1), ", /notes/\""+evil+"\"", "", 1))
	write("bad.poptic", evilContract(reallyEvil))
	write("worse.poptic", "contract c\nstate { "+reallyEvil+": strin }\nstage s { in nowhere read /"+reallyEvil+" }\n")
	write(evil+".poptic", "contract c\nstate { a: strin }\n")
	write("state.json", `{"notes": {`+quoted(key)+`: {"text": `+quoted(evil)+`, `+quoted(evil)+`: "x"}}, "limit": 3}`)
	write("unfit.json", `{"notes": {`+quoted(key)+`: 3, "k": {`+quoted(reallyEvil)+`: 1}}, "limit": "x", `+quoted(reallyEvil)+`: 1}`)
	pointer := strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
	write("patch.json", `[{"op":"replace","path":`+quoted("/notes/"+pointer+"/text")+`,"value":`+quoted(reallyEvil)+`}]`)
	write("refused.json", `[{"op":"replace","path":`+quoted("/nowhere/"+pointer)+`,"value":1},{"op":"add","path":`+quoted("/notes/x"+pointer)+`,"value":1}]`)
	write("rule.json", `[{"op":"replace","path":"/limit","value":11}]`)
	write("malformed.json", `[{"op":`+quoted(reallyEvil)+`,"path":"/x"},{`+quoted(reallyEvil)+`:1}]`)
	write("broken.json", `[{"op":"add",`+reallyEvil+`}]`+reallyEvil)
	write("merge.json", `{`+quoted(reallyEvil)+`: 1}`)
	mustRun(t, "build good.poptic -o good.popticc")
	recordEvil(t, key)
	return key
}

func recordEvil(t *testing.T, key string) {
	t.Helper()
	ctx := context.Background()
	data, err := os.ReadFile("good.popticc")
	require.NoError(t, err)
	loaded, err := runtime.Load(data)
	require.NoError(t, err)
	st, err := sqlite.Open(ctx, "log.db")
	require.NoError(t, err)
	defer st.Close()
	state, err := os.ReadFile("state.json")
	require.NoError(t, err)
	in, err := runtime.Create(ctx, loaded, st, "id\u202e\u2066", state)
	require.NoError(t, err)
	for _, name := range []string{"patch.json", "refused.json", "malformed.json", "broken.json", "rule.json"} {
		patch, err := os.ReadFile(name)
		require.NoError(t, err)
		for _, role := range []string{"bot", reallyEvil} {
			_, err = in.Propose(ctx, runtime.Proposal{Stage: "edit", Args: map[string]string{"n": key}, Role: role, Base: in.Version(), Patch: patch, Key: name + role + evil})
			require.NoError(t, err)
			in.View(ctx, runtime.Request{Stage: "edit", Args: map[string]string{"n": key}, Role: role})
		}
	}
}

func TestNoVerbSendsAControlCharacterToAScreen(t *testing.T) {
	key := inEvil(t)
	run := func(stdin string, args ...string) (code int, out, errText string) {
		in := os.Stdin
		if stdin != "" {
			f, err := os.Open(stdin)
			require.NoError(t, err)
			defer f.Close()
			in = f
		}
		var o, e bytes.Buffer
		code = run(context.Background(), args, in, &o, &e)
		return code, o.String(), e.String()
	}
	on := []string{"good.poptic", "--state", "state.json", "--stage", "edit", "--arg", "n=" + key, "--role", "bot"}
	with := func(verb string, more ...string) []string {
		return append(append([]string{verb}, on...), more...)
	}
	commands := [][]string{
		{"check", "good.poptic"}, {"check", "bad.poptic"}, {"check", "worse.poptic"}, {"check", evil + ".poptic"}, {"check", "--format", "json", "bad.poptic"},
		{"check", "--format", "json", "worse.poptic"}, {"check", reallyEvil}, {"build", "worse.poptic", "-o", "-"}, {"build", "good.poptic", "-o", "-"},
		{"build", "good.poptic", "-o", "no/" + evil}, {"build", "good.poptic", "-o", evil + ".popticc"},
		{"explain", "good.poptic"}, {"explain", "good.poptic", "--stage", reallyEvil}, {"explain", "good.popticc"}, {"explain", "good.poptic", "--stage", "edit"},
		{"prove", "good.poptic"}, {"prove", "good.poptic", "--format", "json"}, {"prove", "bad.poptic"}, {"prove", "good.poptic", "--cert", "-"},
		{"plan", "good.poptic"}, {"plan", "good.poptic", "--format", "mermaid"}, {"plan", "good.poptic", "--format", "json"},
		{"graph", "good.poptic"}, {"graph", "good.poptic", "--format", "mermaid"}, {"graph", "good.poptic", "--format", "svg"},
		{"graph", "good.poptic", "--format", "html"}, {"graph", "good.poptic", "--format", "json"},
		{"diff", "good.poptic", "good.popticc"}, {"diff", "good.poptic", "good.poptic", "--format", "json"},
		with("view"), with("view", "--format", "envelope"), with("view", "--format", "prompt"), with("view", "--phase", "done"), with("view", "--role", reallyEvil),
		with("view", "--phase", reallyEvil), with("view", "--stage", reallyEvil), with("view", "--arg", reallyEvil+"=x"), with("view", "--arg", reallyEvil),
		with("view", "--state", "unfit.json"), with("view", "--state", "broken.json"), {reallyEvil}, {"view", "--" + reallyEvil},
		{"audit", "log.db"}, {"audit", "log.db", "--verify"}, {"audit", "log.db", "--format", "json"}, {"audit", "log.db", "--verify", "--format", "json"},
		{"audit", "log.db", "--instance", reallyEvil}, {"audit", "log.db", "--stage", reallyEvil}, {"audit", "log.db", "--anchor", reallyEvil}, {"audit", "broken.json"},
		{"replay", "log.db", "good.poptic"}, {"replay", "log.db", "good.poptic", "--format", "json"}, {"replay", "log.db", "good.poptic", "--at", "1"},
		{"replay", "log.db", "good.poptic", "--at", "1", "--format", "json"}, {"replay", "log.db", "bad.poptic"}, {"demo", reallyEvil}, {"version"},
		{"backtest", "good.poptic", "--store", "sqlite:log.db"}, {"backtest", "good.poptic", "--store", "sqlite:log.db", "--format", "json"},
	}
	for _, patch := range []string{"patch.json", "refused.json", "malformed.json", "broken.json", "rule.json", reallyEvil} {
		for _, form := range [][]string{nil, {"--actor"}, {"--format", "json"}, {"--actor", "--format", "json"}, {"--next", reallyEvil}, {"--lenient", "fence"}, {"--lenient", "stringified"}} {
			more := append([]string{"--patch", patch}, form...)
			commands = append(commands, with("verify", more...), with("apply", more...))
		}
	}
	commands = append(commands, with("verify", "--merge-patch", "--patch", "merge.json"), with("apply", "--merge-patch", "--patch", "merge.json"))
	shown := 0
	for _, args := range commands {
		for _, color := range []string{"never", "always"} {
			t.Run(fmt.Sprintf("%q %s", args, color), func(t *testing.T) {
				_, out, errText := run("", append([]string{"--color", color}, args...)...)
				require.NotEmpty(t, out+errText)
				for _, text := range []string{out, errText} {
					if color == "always" {
						text = colours.ReplaceAllString(text, "")
					}
					requirePlain(t, text)
					shown += strings.Count(text, `\u202e`)
				}
			})
		}
	}
	require.Greater(t, shown, 300, "what was escaped is there")
}

// Escapes do not change what JSON says, and what is hashed is hashed as it is printed.
func TestWhatIsEscapedIsTheSame(t *testing.T) {
	key := inEvil(t)
	_, out, _ := execute(t, "", "replay log.db good.poptic --at 1")
	var printed struct{ Notes map[string]map[string]string }
	require.NoError(t, json.Unmarshal([]byte(out), &printed))
	require.Equal(t, map[string]map[string]string{key: {"text": reallyEvil, evil: "x"}}, printed.Notes)

	_, compiled, _ := execute(t, "", "build good.poptic -o -")
	file, err := os.ReadFile("good.popticc")
	require.NoError(t, err)
	require.Equal(t, string(file), compiled)
	contract, err := ir.Decode(file)
	require.NoError(t, err)
	require.Contains(t, contract.Stage("edit").Doc, evil)

	_, cert, _ := execute(t, "", "prove good.poptic --cert -")
	require.NoError(t, os.WriteFile("printed.cert", []byte(cert), 0o644))
	mustRun(t, "prove --check printed.cert good.popticc")

	_, trace, _ := execute(t, "", "audit log.db --format json")
	require.NoError(t, os.WriteFile("trace.jsonl", []byte(trace), 0o644))
	mustRun(t, "audit trace.jsonl --verify")
	mustRun(t, "audit log.db --verify")
	mustRun(t, "replay log.db good.poptic")
}

// Whatever text is written, in whatever pieces, comes out plain and the same.
func TestPiecesOfTextComeOutAsTheWholeDoes(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	alphabet := []string{"a", "\n", "\x1b", "[1;31m", "[8m", "\xff", "\xf0\x9f", "\x98\x80", "é", "\u009b", "\u202e", "\U000e0041", "\t", "日"}
	for range 3000 {
		var text []byte
		for range random.Intn(12) {
			text = append(text, alphabet[random.Intn(len(alphabet))]...)
		}
		var out bytes.Buffer
		w := terminal.NewPlainWriter(&out, random.Intn(2) == 0)
		for rest := text; len(rest) > 0; {
			n := 1 + random.Intn(min(5, len(rest)))
			written, err := w.Write(rest[:n])
			require.NoError(t, err)
			require.Equal(t, n, written)
			rest = rest[n:]
		}
		require.NoError(t, w.Flush())
		require.Equal(t, string(ir.AppendPlain(nil, text)), out.String())
		requirePlain(t, out.String())
	}
}

// What the program paints is coloured, in whatever pieces it is written, and data that looks
// like a colour of the program's own is not.
func TestOnlyTheProgramsOwnPaintIsColour(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	alphabet := []string{"a", "m", "<", ">", "\x1b[1;31m", "\x1b[0m", "\x1b", "[1m", "0m", "\xf0\x9f", "é", "\n"}
	for range 3000 {
		var out bytes.Buffer
		w := terminal.NewPlainWriter(&out, true)
		data := func() (text string) {
			for range random.Intn(6) {
				text += alphabet[random.Intn(len(alphabet))]
			}
			return text + "|"
		}
		before, painted, after := data(), data(), data()
		text := before + w.Painter()("1;31", painted) + after
		for rest := text; len(rest) > 0; {
			n := 1 + random.Intn(min(9, len(rest)))
			_, err := w.Write([]byte(rest[:n]))
			require.NoError(t, err)
			rest = rest[n:]
		}
		require.NoError(t, w.Flush())
		require.Equal(t, terminal.Visible(before)+"\x1b[1;31m"+terminal.Visible(painted)+"\x1b[0m"+terminal.Visible(after), out.String())
	}
}

func TestDataInTheProgramsOwnColoursIsEscaped(t *testing.T) {
	t.Chdir(t.TempDir())
	red := "\x1b[1;31mok\x1b[0m"
	quoted, err := json.Marshal(red)
	require.NoError(t, err)
	contract := "# " + red + "\ncontract c\nstate { a: string  b?: int }\n# " + red + "\nstage s { read /a  write /a }\n"
	for name, text := range map[string]string{
		"c.poptic": contract, "wrong.poptic": contract + "prove no stage reads /a\n# " + red + red + " prove\nstage t { read /" + string(quoted) + " }\n",
		"s.json": `{"a": ` + string(quoted) + `}`, "p.json": `[{"op":"replace","path":"/a","value":` + string(quoted) + `}]`,
		"q.json": `[{"op":"test","path":"/a","value":` + string(quoted) + `},{"op":"add","path":` + strings.Replace(string(quoted), `"`, `"/`, 1) + `,"value":1}]`,
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	for _, command := range []string{
		"explain c.poptic", "check wrong.poptic", "prove wrong.poptic", "view c.poptic --state s.json --stage s", "view c.poptic --state s.json --stage s --format prompt",
		"apply c.poptic --state s.json --stage s --patch p.json", "verify c.poptic --state s.json --stage s --patch q.json", "graph c.poptic", "plan c.poptic", "diff c.poptic c.poptic --format json",
	} {
		var out, errText bytes.Buffer
		run(context.Background(), append([]string{"--color", "always"}, strings.Fields(command)...), strings.NewReader(""), &out, &errText)
		require.NotContains(t, out.String()+errText.String(), "\x1b[1;31mok", command)
	}
}
