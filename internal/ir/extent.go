package ir

// Limits of the types of a contract. Types share what they use, so that a short
// text can describe a very large value; these bound what becomes of it where the
// places of a state are gone through one by one.
const (
	MaxPlaces      = 1 << 18 // places of a type: members, entries and alternatives, at every depth
	MaxLevels      = 256     // levels of a type
	MaxTypeEntries = 1 << 20 // types of a contract with their members, alternatives and constraints
)

// An Extent is how large the values are that a type describes. What two members
// share counts for each of them.
type Extent struct{ Places, Levels int }

// Exceeds reports whether a type of this extent is beyond the limits.
func (e Extent) Exceeds() bool { return e.Places > MaxPlaces || e.Levels > MaxLevels }

// Extent is the extent of t, given those of the types it uses. O(members).
func (t *Type) Extent(of func(TypeID) Extent) Extent {
	out := Extent{Places: 1}
	add := func(id TypeID, deeper int) {
		if id == NoType {
			return
		}
		below := of(id)
		out.Places = min(out.Places+below.Places, MaxPlaces+1)
		out.Levels = max(out.Levels, min(below.Levels+deeper, MaxLevels+1))
	}
	for _, a := range t.Alternatives {
		add(a, 0)
	}
	for _, m := range t.Members {
		add(m.Type, 1)
	}
	add(t.Rest, 1)
	add(t.Elem, 1)
	return out
}

// Entries is what a type adds to the table of types.
func (t *Type) Entries() int { return 1 + len(t.Members) + len(t.Alternatives) + len(t.Where) }
