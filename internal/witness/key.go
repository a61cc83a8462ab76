package witness

import (
	"slices"
	"strconv"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// newKey is a key for a container that is none of taken: t1 for /tickets, or what
// the key field of a keyed list may be.
func (m *maker) newKey(container region.Word, taken []string) string {
	for _, id := range m.at(container) {
		if t := m.contract.Type(id); t.Kind == ir.KeyedType {
			if key, ok := m.newField(t, taken); ok {
				return key
			}
		}
	}
	prefix := "k"
	if n := len(container); n > 0 && container[n-1].Kind == region.KeyLetter {
		if c := container[n-1].Name; c != "" && c[0] >= 'a' && c[0] <= 'z' {
			prefix = c[:1]
		}
	}
	for i := 1; ; i++ {
		if key := prefix + strconv.Itoa(i); !slices.Contains(taken, key) {
			return key
		}
	}
}

func (m *maker) newField(t *ir.Type, taken []string) (string, bool) {
	member, _ := m.contract.Type(t.Elem).Member(t.KeyField)
	if m.contract.Type(member.Type).Kind == ir.StringType && len(m.wheres[member.Type]) == 0 {
		return "", false // any key will do
	}
	for _, v := range m.values(member.Type) {
		if key, ok := v.(string); ok && key != "" && !slices.Contains(taken, key) {
			return key, true
		}
	}
	return "", false
}
