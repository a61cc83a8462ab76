package runtime_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
	"github.com/stretchr/testify/require"
)

// vaultIR is the sample with a map whose names are secret, and a stage that is bound
// to one of them:
//
//	state { ..., vault: secret map of string }
//	stage unlock(v in /vault) { read /vault/{v} write /vault/{v}, /draft }
func vaultIR(t testing.TB) *ir.Contract {
	c := sampleIR(t)
	text := slices.IndexFunc(c.Types, func(t ir.Type) bool { return t.Kind == ir.StringType && !t.Secret })
	state, vault := c.Types[c.State], c.State
	c.Types[vault] = ir.Type{Kind: ir.MapType, Elem: ir.TypeID(text), Secret: true}
	state.Members = append(state.Members, member("vault", vault))
	c.Types = append(c.Types, state)
	c.State = ir.TypeID(len(c.Types) - 1)
	c.Secrets = append(c.Secrets, region.Of("/:vault")...)
	c.Stages = append(c.Stages,
		ir.Stage{Name: "unlock", In: []string{"open"},
			Params: []ir.Param{{Name: "v", Kind: ir.ExistingParam, Of: region.MustParse("/:vault")}},
			Read:   region.Of("/vault/{v}", "/draft"), Write: region.Of("/vault/{v}", "/draft")},
		ir.Stage{Name: "keep", In: []string{"open"},
			Read: region.Of("/vault", "/internal", "/draft"), Write: region.Of("/vault", "/internal", "/draft"), Source: region.Of("/vault", "/internal", "/draft")})
	return c
}

// A twin is one of two instances that differ in secrets alone: their names, their
// values and the lengths of both.
type twin struct {
	*runtime.Instance
	contract *runtime.Contract
	store    *store.Memory
	secrets  *strings.Replacer // from placeholders
}

func newTwin(t *testing.T, token, card, name string) *twin {
	t.Helper()
	contract, err := runtime.Load(ir.Encode(vaultIR(t)))
	require.NoError(t, err)
	w := &twin{contract: contract, store: store.NewMemory(), secrets: strings.NewReplacer("<token>", token, "<card>", card, "<name>", name)}
	w.Instance, err = runtime.Create(ctx, contract, w.store, "T-7", []byte(w.secrets.Replace(vaultState)), w.options()...)
	require.NoError(t, err)
	return w
}

func (w *twin) options() []runtime.Option {
	return []runtime.Option{runtime.WithClock(fixedClock), runtime.WithRandom(bytes.NewReader(make([]byte, 32))), runtime.WithSnapshotAfter(1)}
}

var vaultState = strings.Replace(sampleState, `"history"`, `"vault": {"<name>": "<token>", "other": "o"}, "history"`, 1)

// secretly is what happens to twins, with placeholders for secrets.
var secretly = []runtime.Proposal{
	{Stage: "unlock", Args: map[string]string{"v": "<name>"}, Patch: []byte(`[{"op":"test","path":"/vault/<name>","value":"<token>"},{"op":"replace","path":"/draft/text","value":"t%d"}]`)},
	{Stage: "unlock", Args: map[string]string{"v": "<name>"}, Patch: []byte(`[{"op":"replace","path":"/draft/text","value":"u%d"},{"op":"remove","path":"/nowhere"}]`)},
	{Stage: "unlock", Args: map[string]string{"v": "<name>%d"}, Patch: []byte(`[{"op":"replace","path":"/vault/<name>","value":"<card>"}]`)},
	{Stage: "unlock", Args: map[string]string{"v": "<name>"}, Key: "k", Patch: []byte(`[{"op":"replace","path":"/vault/<name>","value":"<token>%d"}]`)},
	{Stage: "keep", Patch: []byte(`[{"op":"add","path":"/vault/<name>%d","value":"<card>"},{"op":"replace","path":"/internal/token","value":"<token>"}]`)},
	{Stage: "keep", Patch: []byte(`[{"op":"replace","path":"/vault/<name>x%d","value":"<card>"}]`)},
	{Stage: "keep", Patch: []byte(`[{"op":"replace","path":"/vault","value":{"<name>":"<token>","other":"%d"}}]`)},
	{Stage: "keep", Patch: []byte(`[{"op":"replace","path":"/internal","value":{"margin":0.%d,"token":"<token>"}}]`)},
	{Stage: "keep", Patch: []byte(`[{"op":"replace","path":"/internal","value":{"margin":7.%d,"token":"<token>"}}]`)},
	{Stage: "keep", Patch: []byte(`[{"op":"add","path":"/vault/<name>","value":"<token>"},{"op":"ad","path":"/x%d"}]`)},
	{Stage: "keep", Patch: []byte(`[{"op":"add","path":"/vault/<name>","value":"<token>"},{"op":"add","path":"/x%d","value":`)},
	{Stage: "keep", Patch: []byte(`{"<token>":%d,"patch":[]}`)},
	{Stage: "keep", Patch: []byte(`{"patch":[],"next":"<token>%d"}`)},
	{Stage: "keep", Patch: []byte(`[{"op":"add","path":"/vault/<name>%d~","value":"<token>"}]`)},
	{Stage: "decide", Role: "bot", Patch: []byte(`[{"op":"add","path":"/vault/<name>%d","value":"<token>"}]`)},
	{Stage: "all", Patch: []byte(`[{"op":"add","path":"/customers/eve","value":{"name":"E%d","card":"<card>"}}]`)},
	{Stage: "all", Patch: []byte(`[{"op":"add","path":"/customers/bob/card","value":{"<card>":%d}}]`)},
	{Stage: "all", Patch: []byte(`[{"op":"copy","from":"/customers/ann/card","path":"/customers/bob/card"},{"op":"test","path":"/customers/bob/card","value":"<card>%d"}]`)},
	{Stage: "all", Patch: []byte(`[{"op":"replace","path":"/customers/ann","value":{"name":"A%d","card":"<card>"}}]`)},
	{Stage: "all", Patch: []byte(`[{"op":"replace","path":"/customers","value":{"ann":{"name":"A","card":"<card>"},"bob":{"name":"%d"}}}]`)},
	{Stage: "all", Patch: []byte(`[{"op":"add","path":"/customers/fat","value":{"name":"` + strings.Repeat("x", 480) + `","card":"<card>"}},{"op":"replace","path":"/draft/text","value":"f%d"}]`)},
	{Stage: "all", Patch: []byte(`[{"op":"remove","path":"/customers/fat"}]`)},
	{Stage: "root", Role: "admin", Patch: []byte(`[{"op":"move","from":"/vault/<name>","path":"/draft/text"},{"op":"test","path":"/x","value":%d}]`)},
}

// act makes a random step, the same for both twins; half of them are late or said
// before.
func (w *twin) act(t *testing.T, random *rand.Rand) {
	t.Helper()
	p := secretly[random.Intn(len(secretly))]
	n, back := random.Intn(3), uint64(random.Intn(3))
	restart := random.Intn(10) == 0
	p.Patch = []byte(w.secrets.Replace(strings.ReplaceAll(string(p.Patch), "%d", fmt.Sprint(n))))
	args := map[string]string{}
	for name, value := range p.Args {
		args[name] = w.secrets.Replace(strings.ReplaceAll(value, "%d", fmt.Sprint(n)))
	}
	p.Args, p.Base = args, w.Version()-min(w.Version(), back/2)
	if p.Key != "" {
		p.Key += fmt.Sprint(n)
	}
	_, err := w.Propose(ctx, p)
	require.NoError(t, err)
	_, err = w.View(ctx, runtime.Request{Stage: p.Stage, Args: args, Role: p.Role})
	var refused *runtime.ViewRefusedError
	if err != nil {
		require.ErrorAs(t, err, &refused)
	}
	if restart {
		w.Instance, err = runtime.Open(ctx, w.contract, w.store, "T-7", w.options()...)
		require.NoError(t, err)
	}
}

var (
	keyedDigest = regexp.MustCompile(`hmac-sha256:[0-9a-f]{64}`)
	chained     = regexp.MustCompile(`"(prev|hash)":"sha256:[0-9a-f]{64}"`)
)

// numbered replaces keyed digests by the order in which they first appear, and drops
// the chain, which is over lines.
func numbered(text string) string {
	seen := map[string]int{}
	text = keyedDigest.ReplaceAllStringFunc(text, func(digest string) string {
		if _, known := seen[digest]; !known {
			seen[digest] = len(seen)
		}
		return fmt.Sprintf("keyed %d", seen[digest])
	})
	return chained.ReplaceAllString(text, "")
}

func TestTracesOfInstancesThatDifferInSecretsAloneDifferInKeyedDigestsAlone(t *testing.T) {
	codes := map[string]bool{}
	for seed := range int64(12) {
		short, long := newTwin(t, "1234", "7", "a"), newTwin(t, strings.Repeat("long ", 20), "4111 1111 1111 1111", "a much longer name/~")
		// A pointer spells the name of the other twin with escapes.
		long.secrets = strings.NewReplacer("/vault/<name>", "/vault/a much longer name~1~0", "<token>", strings.Repeat("long ", 20),
			"<card>", "4111 1111 1111 1111", "<name>", "a much longer name/~")
		for i := range int64(60) {
			short.act(t, rand.New(rand.NewSource(seed*1000+i)))
			long.act(t, rand.New(rand.NewSource(seed*1000+i)))
		}
		a, b := traceOf(t, short.Instance), traceOf(t, long.Instance)
		lines, others := strings.Split(numbered(a), "\n"), strings.Split(numbered(b), "\n")
		for i := range lines {
			require.Equal(t, lines[i], others[i])
		}
		require.Len(t, others, len(lines))
		for _, w := range []*twin{short, long} {
			got, err := runtime.Replay(ctx, w.contract, w.store, "T-7")
			require.NoError(t, err)
			require.Nil(t, got.Different)
			_, err = runtime.CheckLog(ctx, w.store, "T-7", nil)
			require.NoError(t, err)
		}
		for _, l := range linesOf(t, short.Instance) {
			if l.Verdict != nil {
				for _, v := range l.Verdict.Violations {
					codes[string(v.Code)] = true
				}
			}
		}
	}
	for _, code := range []string{"patch_syntax", "pointer_syntax", "unauthorised", "argument_violation", "transition_violation", "stale",
		"repeat", "attempts_exhausted", "patch_write_scope_violation", "path_missing", "test_failed", "schema_violation", "invariant_violation"} {
		require.True(t, codes[code], code)
	}
}

func TestWhetherAnOldValueIsShownDoesNotTellHowLongTheSecretInItIs(t *testing.T) {
	fat := strings.Repeat("x", 480)
	var last []string
	for _, card := range []string{"7", "4111 1111 1111 1111", strings.Repeat("4", 600)} {
		w := newTwin(t, "t", card, "n")
		for _, patch := range []string{
			`[{"op":"add","path":"/customers/fat","value":{"name":"` + fat + `","card":"<card>"}},{"op":"add","path":"/customers/thin","value":{"name":"x","card":"<card>"}}]`,
			`[{"op":"remove","path":"/customers/fat"},{"op":"remove","path":"/customers/thin"},{"op":"remove","path":"/customers/ann"}]`,
		} {
			commits(t, proposeAs(t, w.Instance, runtime.Proposal{Stage: "all", Base: w.Version(), Patch: []byte(w.secrets.Replace(patch))}))
		}
		old := lastLine(t, w.Instance).Old
		require.Contains(t, string(old[0].Value), "hmac-sha256:")
		require.NotContains(t, string(old[0].Value), "x")
		require.Contains(t, string(old[1].Value), `"name":"x"`)
		lines := strings.Split(traceOf(t, w.Instance), "\n")
		last = append(last, numbered(lines[len(lines)-2]))
	}
	require.Equal(t, last[0], last[1])
	require.Equal(t, last[0], last[2])
}

func TestNoHashInATraceTellsWhetherAGuessAtAShortSecretIsRight(t *testing.T) {
	w := newTwin(t, "4711", "4711", "n")
	for seed := range int64(200) {
		w.act(t, rand.New(rand.NewSource(seed)))
	}
	text := traceOf(t, w.Instance)
	for line := range strings.Lines(text) {
		var l struct {
			Contract, Prev, Hash string
			Verdict              struct{ Contract string }
		}
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		rest := strings.NewReplacer(l.Contract, "", l.Prev, "", l.Hash, "").Replace(line)
		require.NotContains(t, keyedDigest.ReplaceAllString(rest, ""), "sha256:", "what is hashed without the key holds no secret")
	}
	hashes := map[string]bool{}
	hash := regexp.MustCompile(`[0-9a-f]{64}`)
	for _, found := range hash.FindAllString(text, -1) {
		hashes[found] = true
	}
	require.NotContains(t, hash.ReplaceAllString(text, ""), "4711", "outside of hashes, which have it by chance")
	state, program := stateOf(t, w.Instance), w.contract.Program()
	for guess := range 10_000 {
		pin := fmt.Sprintf("%04d", guess)
		guessed := strings.ReplaceAll(state, "4711", pin)
		root, err := program.Import([]byte(guessed))
		require.NoError(t, err)
		candidates := []string{pin, `"` + pin + `"`, guessed, `{"v":"` + pin + `"}`, root.Digest().String()}
		for _, p := range secretly {
			candidates = append(candidates, strings.NewReplacer("<token>", pin, "<card>", pin, "<name>", "n", "%d", "0").Replace(string(p.Patch)))
		}
		for _, c := range candidates {
			sum := sha256.Sum256([]byte(c))
			require.False(t, hashes[hex.EncodeToString(sum[:])])
			require.False(t, hashes[strings.TrimPrefix(c, "sha256:")])
		}
	}
}

func TestEveryCodeThatAProposalCanEarnIsAmongTheRejections(t *testing.T) {
	in, _ := begin(t, runtime.WithAttempts(0))
	earned := map[verify.Code]bool{}
	for _, r := range everyRejection() {
		rejects(t, proposeAs(t, in, r.Proposal), r.code)
		earned[r.code] = true
	}
	commits(t, propose(t, in, `[{"op":"add","path":"/draft/refs/-","value":"r"}]`))
	for _, r := range laterRejections() {
		rejects(t, proposeAs(t, in, r.Proposal), r.code)
		earned[r.code] = true
	}
	for _, entry := range verify.Codes() {
		if !slices.Contains([]verify.Code{verify.Repeat, verify.AttemptsExhausted, verify.Refused}, entry.Code) {
			require.True(t, earned[entry.Code], entry.Code)
		}
	}
}

// outputs is all that an engine says.
type outputs struct {
	said     bytes.Buffer // errors, as text and JSON, and the log
	verdicts bytes.Buffer // verdicts of both kinds, as JSON
	trace    string
}

func (o *outputs) say(t *testing.T, err error) {
	text, failed := json.Marshal(err)
	require.NoError(t, failed)
	o.said.Write(append(text, '\n'))
	if err != nil {
		o.said.WriteString(err.Error() + "\n")
	}
}

func (o *outputs) tell(t *testing.T, v runtime.Verdict, err error) {
	o.say(t, err)
	for _, rendering := range []any{v, v.Actor()} {
		text, failed := json.Marshal(rendering)
		require.NoError(t, failed)
		o.verdicts.Write(append(text, '\n'))
	}
}

// provoke runs every rejection, refused view and error on one instance.
func provoke(t *testing.T) *outputs {
	out := &outputs{}
	logger := slog.New(slog.NewJSONHandler(&out.said, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
	in, st := begin(t, runtime.WithLogger(logger), runtime.WithAttempts(0), runtime.WithSnapshotAfter(1))
	run := func(all []rejection) {
		for _, r := range all {
			v, err := in.Propose(ctx, r.Proposal)
			out.tell(t, v, err)
		}
	}
	run(everyRejection())
	v, err := in.Propose(ctx, commitWithCanaries())
	require.Equal(t, verify.Commit, v.Verdict, "%+v", v.Violations)
	out.tell(t, v, err)
	run(laterRejections())
	for _, stage := range []string{"decide", "edit", "root", "nowhere"} {
		_, err := in.View(ctx, runtime.Request{Stage: stage, Role: "bot"})
		require.Error(t, err)
		out.say(t, err)
	}
	v, err = in.Advance(ctx, "closed", "host")
	out.tell(t, v, err)
	for _, state := range brokenStates() {
		_, err := runtime.Create(ctx, in.Contract(), st, "other", []byte(state))
		require.Error(t, err, state)
		out.say(t, err)
	}
	out.say(t, openDamaged(t, in, st))
	out.trace = traceOf(t, in)
	return out
}

// withoutTime leaves out when something was said: its digits may be those of a value.
func withoutTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

// commitWithCanaries replaces secrets by other secrets, among plain changes.
func commitWithCanaries() runtime.Proposal {
	return reject("", "all", `[
		{"op":"replace","path":"/draft/refs","value":["#"]},
		{"op":"replace","path":"/customers/ann/card","value":"new $"},
		{"op":"add","path":"/customers/eve","value":{"name":"#","card":"$"}},
		{"op":"copy","from":"/customers/eve/card","path":"/customers/bob/card"},
		{"op":"remove","path":"/customers/eve"}]`).Proposal
}

func brokenStates() []string {
	secret := `"` + secretCanary + `"`
	return []string{
		secret, `{"ticket":` + secret, `{"ticket":"` + secretCanary, `{"ticket":1` + secret + `}`, `{"tickets":` + secret + `}`,
		strings.Replace(sampleState, `"T-7"`, `["`+secretCanary+`"]`, 1),
		strings.Replace(sampleState, `"open"`, secret, 1),
		strings.Replace(sampleState, `"margin": 0.31`, `"margin": 1.31`, 1),
		strings.Replace(sampleState, `"Bob"`, `"Bob","crad":`+secret, 1),
		strings.Replace(sampleState, `"name": "Bob"`, `"name": "Bob","name":`+secret, 1),
		strings.Replace(sampleState, `["y", "x"]`, `[`+secret+`,`+secret+`]`, 1),
	}
}

// openDamaged opens a copy of the instance's log in which a state was changed.
func openDamaged(t *testing.T, in *runtime.Instance, st store.Store) error {
	damaged := store.NewMemory()
	for r, err := range st.Read(ctx, in.ID(), 1, 0) {
		require.NoError(t, err)
		if r.Seq == 1 {
			require.NoError(t, damaged.Create(ctx, in.ID(), r))
			continue
		}
		r.Sealed = bytes.Replace(r.Sealed, []byte("new "), []byte("bad "), 1)
		require.NoError(t, damaged.Append(ctx, in.ID(), r.Seq-1, r))
	}
	_, err := runtime.Open(ctx, in.Contract(), damaged, in.ID())
	var corrupt *runtime.CorruptLogError
	require.ErrorAs(t, err, &corrupt)
	return err
}

// absent fails with what stands around the first place where text has canary.
func absent(t *testing.T, text, canary string) {
	t.Helper()
	if at := strings.Index(text, canary); at >= 0 {
		require.Fail(t, canary, "...%s...", text[max(0, at-200):min(len(text), at+80)])
	}
}

func TestRow2B22SecretsNeverAppearInTraceVerdictErrorOrLog(t *testing.T) {
	out := provoke(t)
	absent(t, out.said.String(), secretCanary)
	absent(t, out.said.String(), pathCanary)
	absent(t, out.verdicts.String(), secretCanary)
	absent(t, out.trace, secretCanary)
	absent(t, out.trace, pathCanary)
	require.Contains(t, out.trace, "hmac-sha256:", "the trace has keyed digests in their place")
	require.Contains(t, out.trace, plainCanary, "what is not secret is there")
}

func TestRow2B23NoErrorVerdictOrLogLineContainsStateValues(t *testing.T) {
	out := provoke(t)
	for _, value := range []string{plainCanary, "CANARY-BROKEN", "tok-", "4111", "0.31", "1.31", "Ann", "begun"} {
		absent(t, out.said.String(), value)
		absent(t, out.verdicts.String(), value)
	}
	require.Contains(t, out.said.String(), "patch_write_scope_violation")
}
