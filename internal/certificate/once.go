package certificate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/ir"
)

// A certificate says everything once: which of two entries for one pair would count is
// nothing that a reader should have to find out. Nor has a claim lists that are not of
// its kind, which nobody would check.

// once reports what stands twice, and what no entry of its kind has. Cost: linear in the
// certificate, but for the sorting of names.
func (k *checker) once(pairs []Pair, claims []Claim) {
	seen := map[[2]string]bool{}
	for _, p := range pairs {
		about, key := fmt.Sprintf("%s commutes with %s", p.A, p.B), [2]string{min(p.A, p.B), max(p.A, p.B)}
		switch {
		case seen[key]:
			k.note(about, "the certificate has this pair twice")
		case repeats(p.Unless, Term.key):
			k.note(about, "one of its conditions stands twice")
		case slices.ContainsFunc(p.Unless, func(t Term) bool { return repeats(t, Equality.key) }):
			k.note(about, "an equality stands twice in one condition")
		}
		seen[key] = true
	}
	for _, c := range claims {
		kind := c.Claim.Kind
		switch {
		case repeats(c.Reached, func(r Reached) Reached { return r }),
			repeats(c.Phases, func(p string) string { return p }),
			repeats(c.Matches, func(m Match) string { return fmt.Sprintf("%q", m) }):
			k.note(c.Claim.Text, "something stands twice in a list of it")
		case len(c.Reached) > 0 && kind != ir.NoFlow, len(c.Matches) > 0 && kind != ir.WithinClaim, len(c.Phases) > 0 && kind != ir.PhaseBefore:
			k.note(c.Claim.Text, "it has a list that no claim of its kind has")
		}
	}
}

// key is the same for two equalities that say the same.
func (e Equality) key() string { return fmt.Sprintf("%q", []string{min(e[0], e[1]), max(e[0], e[1])}) }

// key is the same for two terms that say the same.
func (t Term) key() string {
	var keys []string
	for _, e := range t {
		keys = append(keys, e.key())
	}
	slices.Sort(keys)
	return strings.Join(slices.Compact(keys), " ")
}

// repeats reports whether two entries of a list have one key.
func repeats[T any, K comparable](list []T, key func(T) K) bool {
	seen := make(map[K]bool, len(list))
	for _, x := range list {
		if seen[key(x)] {
			return true
		}
		seen[key(x)] = true
	}
	return false
}
