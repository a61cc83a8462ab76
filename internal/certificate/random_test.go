package certificate_test

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/lang/source"
)

// world is a state with one of everything that keeps stages apart or does not.
const world = `contract world
state {
  m: map of E
  n: map of F
  l: list of G
  k: list of H by id
  g: log of L
  s: set of string
  r: { a: int  b: int  c?: string }
  u: { x: string } | { y: int }
  o: (map of int) where { size(self) < 4 }
}
type E { a: int  b: int where { self >= 0 }  f: key of /n  h?: secret string }
type F = { p: int  q: int } where { self.p + self.q <= 10 }
type G = { a: int  b: int } where { self.a <= self.b }
type H { id: string  v: int where { self > 0 } }
type L { f: key of /n  t: string where { self != "" } }
phases { one -> two  two -> one, three  three }
invariant sums each e in /m/* { e.a + e.b <= 10 }
invariant few { size(state.n) <= 3 }
invariant odd { !("x" in state.m) || state.m["x"].a < 5 }
invariant mine unique /k/*/v
stage go1 { in one next two }
stage go2 { in two next one, three }
`

var written = []string{
	"/m/{i}", "/m/{i}/a", "/m/{i}/b", "/m/{i}/(a|h)", "/m/x", "/m/x/a", "/m/y/b", "/m/*", "/m/*/a", "/m", "/m/{i} except /m/{i}/a",
	"/m/* except secrets", "/m/*/b except /m/{i}/b", "/n/{j}", "/n/{j}/p", "/n/{j}/q", "/n/x/p", "/n/*/q", "/n", "/l", "/l/*/a", "/l/*/b", "/l/0/a",
	"/k/{e}", "/k/{e}/v", "/k/*", "/s/-", "/s", "/g/-", "/r", "/r/a", "/r/b", "/r/(a|c)", "/r except /r/b", "/u", "/u/x", "/o", "/o/z",
	"/** except (/m, /g, /s, /n)", "/m/**/a",
}

// drawing makes contracts of the world with stages at random.
type drawing struct{ *rand.Rand }

func (d drawing) one(of []string) string { return of[d.Intn(len(of))] }

func (d drawing) stage(name string) string {
	write, see := []string{}, []string{}
	for range d.Intn(3) {
		write = append(write, d.one(written))
	}
	for range d.Intn(3) {
		p := d.one(written)
		see = append(see, strings.NewReplacer("/-", "", "/l/0/", "/l/*/").Replace(p))
	}
	for _, p := range write {
		if p != "/g/-" {
			see = append(see, strings.NewReplacer("/-", "", "/l/0/", "/l/*/").Replace(p))
		}
	}
	text := "stage " + name + "(i in /m, j in /n, e in /k"
	if d.Intn(3) == 0 {
		text += ", w = /m/{i}/f"
	}
	text += ") { in one"
	switch d.Intn(10) {
	case 0:
		text += ", two"
	case 1:
		text += " next two"
	}
	text += d.one([]string{"", "", "", " by u", " by u, v", " attempts 2"})
	if len(see) > 0 {
		text += " read " + strings.Join(see, ", ")
	}
	if len(write) > 0 {
		text += " write " + strings.Join(write, ", ")
	}
	switch d.Intn(8) {
	case 0:
		text += " require { before.r.a > 0 }"
	case 1:
		text += " ensure { after.m[i].b < 7 }"
	}
	if d.Intn(4) == 0 { // parameters of other names
		text = strings.NewReplacer("j in", "jj in", "{j}", "{jj}", "e in", "key in", "{e}", "{key}").Replace(text)
	}
	return text + " }\n"
}

func (d drawing) contract(stages int) string {
	text := world
	for i := range stages {
		text += d.stage(fmt.Sprintf("s%d", i))
	}
	for range 3 {
		text += d.claim(stages)
	}
	return text
}

func (d drawing) claim(stages int) string {
	a, b := fmt.Sprintf("s%d", d.Intn(stages)), fmt.Sprintf("s%d", d.Intn(stages))
	from, to := strings.ReplaceAll(d.one(written), "{", "%"), strings.ReplaceAll(d.one(written), "{", "%")
	if strings.Contains(from+to, "%") || strings.Contains(from+to, "-") {
		from, to = d.one([]string{"secrets", "/k/*/id"}), d.one([]string{"/r/c", "/k/*/id"})
	}
	switch d.Intn(6) {
	case 0:
		return fmt.Sprintf("prove %s within %s\n", a, b)
	case 1:
		return fmt.Sprintf("prove no stage except %s writes %s\n", a, from)
	case 2:
		return fmt.Sprintf("prove no stage except %s reads %s\n", a, to)
	case 3:
		return fmt.Sprintf("prove no flow from %s to %s%s\n", from, to, d.one([]string{"", " with memory"}))
	case 4:
		return fmt.Sprintf("prove %s commutes with %s when i differs\n", a, b)
	}
	return fmt.Sprintf("prove %s commutes with %s\n", a, b)
}

func compileText(text string) compiler.Output {
	out, _ := compiler.Compile(context.Background(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(text)}}, Path: "c.poptic"})
	return out
}

// A tally counts how often prover and checker agree.
type tally struct{ certified, provedOnly, refused int }

func (n *tally) add(certified, proved bool) {
	switch {
	case certified:
		n.certified++
	case proved:
		n.provedOnly++
	default:
		n.refused++
	}
}

// requireUsual demands that nearly all that is proved is certified, and that much is
// refused.
func (n tally) requireUsual(t *testing.T, what string) {
	t.Logf("%s: %d certified, %d proved only, %d neither", what, n.certified, n.provedOnly, n.refused)
	require.Less(t, n.provedOnly*20, n.certified)
	require.Greater(t, n.refused*5, n.certified)
}

func TestWhatIsCertifiedIsProvedOnRandomContracts(t *testing.T) {
	t.Parallel()
	contracts := 40
	if testing.Short() {
		contracts = 6
	}
	var pairs, claims tally
	for seed := range contracts {
		text := drawing{rand.New(rand.NewSource(int64(seed)))}.contract(5)
		out := compileText(text)
		if slices.ContainsFunc(out.Diagnostics, func(d source.Diagnostic) bool { return d.Code == "given_back" }) {
			continue // a comma where an exception would have been meant
		}
		require.NotNil(t, out.Lowered, "seed %d: %v\n%s", seed, out.Diagnostics, text)
		comparePairs(t, out.Lowered, &pairs)
		compareClaims(t, out, &claims)
	}
	pairs.requireUsual(t, "pairs")
	claims.requireUsual(t, "claims")
}

func TestWhatIsCertifiedIsProvedInAwkwardCorners(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../suite/replay/testdata/corners/*.poptic")
	require.NoError(t, err)
	var pairs tally
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		comparePairs(t, compileText(string(text)).Lowered, &pairs)
	}
	pairs.requireUsual(t, "pairs")
}

// comparePairs looks for evidence that stages commute without any condition, whatever
// the prover says.
func comparePairs(t *testing.T, c *ir.Contract, n *tally) {
	always := func(a, b *ir.Stage) ([]certificate.Term, bool) { return nil, true }
	cert, err := certificate.Decode(certificate.Issue(c, always))
	require.NoError(t, err)
	certified := map[[2]string]bool{}
	for _, p := range cert.Pairs {
		certified[[2]string{p.A, p.B}] = true
	}
	m := footprint.New(c)
	for i := range c.Stages {
		for j := i; j < len(c.Stages); j++ {
			a, b := &c.Stages[i], &c.Stages[j]
			if len(a.Next)+len(b.Next) > 0 {
				continue
			}
			conflicts, shown := m.Commutation(a, b), certified[[2]string{a.Name, b.Name}]
			if shown {
				require.Empty(t, conflicts, "%s and %s are certified", a.Name, b.Name)
			}
			n.add(shown, len(conflicts) == 0)
		}
	}
}

func compareClaims(t *testing.T, out compiler.Output, n *tally) {
	missing := map[string]bool{}
	for _, p := range certificate.Check(footprint.New(out.Lowered).Certificate(), out.Lowered) {
		missing[p.About] = true
	}
	for i, claim := range out.Lowered.Claims {
		_, proved := out.Results[i].(footprint.Proved)
		if !missing[claim.Text] {
			require.True(t, proved, "%q is certified and not proved", claim.Text)
		}
		n.add(!missing[claim.Text], proved)
	}
}
