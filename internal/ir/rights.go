package ir

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/patchoptic/poptic/internal/region"
)

// Rights are what a write grant lets happen at a place: that something comes to be where
// nothing was, that what is there becomes something else, that what was there is gone
// (spec/semantics.md section 2.1). A grant without rights is none.
type Rights uint8

// The rights.
const (
	Create Rights = 1 << iota
	Update
	Delete

	AllRights = Create | Update | Delete
)

// rightWords are the words of the rights, in the order in which they are written.
var rightWords = []string{"create", "update", "delete"}

// RightWords lists the words of all rights. The caller owns the list.
func RightWords() []string { return slices.Clone(rightWords) }

// EachRight lists the rights one by one, in the order in which they are written.
func EachRight() []Rights { return []Rights{Create, Update, Delete} }

// RightOf is the right of a word, none if it is the word of no right.
func RightOf(word string) Rights {
	if i := slices.Index(rightWords, word); i >= 0 {
		return 1 << i
	}
	return 0
}

// Has reports whether all of some rights are among r.
func (r Rights) Has(some Rights) bool { return r&some == some }

// Words lists the words of r, in the order in which they are written.
func (r Rights) Words() []string {
	var out []string
	for i, word := range rightWords {
		if r.Has(1 << i) {
			out = append(out, word)
		}
	}
	return out
}

// MarshalJSON writes r as the list of its words.
func (r Rights) MarshalJSON() ([]byte, error) { return json.Marshal(r.Words()) }

// UnmarshalJSON reads what MarshalJSON writes, in that one spelling.
func (r *Rights) UnmarshalJSON(data []byte) error {
	var words []string
	if err := json.Unmarshal(data, &words); err != nil {
		return err
	}
	*r = 0
	for _, word := range words {
		*r |= RightOf(word)
	}
	if len(words) == 0 || !slices.Equal(r.Words(), words) {
		return errors.New("these are no rights")
	}
	return nil
}

// RightsOf is what the grant of s.Write with an index lets happen.
func (s *Stage) RightsOf(grant int) Rights {
	if len(s.Rights) == 0 {
		return AllRights
	}
	return s.Rights[grant]
}

// Writing is where the stage's write grants, the blind ones aside, let all of some rights
// happen. It is not to be changed.
func (s *Stage) Writing(some Rights) region.Region {
	if len(s.Rights) == 0 {
		return s.Write
	}
	var out region.Region
	for i, g := range s.Write {
		if s.RightsOf(i).Has(some) {
			out = append(out, g)
		}
	}
	return out
}

// RightsCompared are the rights by which the write grants of some stages are to be
// compared: one by one, or all at once if every grant lets happen everything.
func RightsCompared(stages ...*Stage) []Rights {
	for _, s := range stages {
		if len(s.Rights) > 0 {
			return EachRight()
		}
	}
	return []Rights{AllRights}
}

// rightsWhole reports whether the stage says of each write grant what it lets happen; of
// none, if all let happen everything.
func (s *Stage) rightsWhole() bool {
	limits := func(r Rights) bool { return r != AllRights }
	return len(s.Rights) == 0 || len(s.Rights) == len(s.Write) && slices.ContainsFunc(s.Rights, limits) &&
		!slices.ContainsFunc(s.Rights, func(r Rights) bool { return r == 0 || r > AllRights })
}
