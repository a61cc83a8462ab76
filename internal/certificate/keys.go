package certificate

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// keysKnown is the key fields of keyed lists whose values a run knows as names of
// entries or from references, unless there are reasons why it sees none of these.
func (k *checker) keysKnown(s *ir.Stage) []side {
	if out, known := k.keyFields[s]; known {
		return out
	}
	t := k.touch(s, runA)
	var out []side
	k.eachNode(region.Pattern{}, k.contract.State, func(at region.Pattern, list *ir.Type) {
		if list.Kind != ir.KeyedType {
			return
		}
		entry := longer(at, region.Segment{Kind: region.AnyKey})
		known := !k.areApart(t.sees, side{include: entry, whole: true})
		k.eachNode(region.Pattern{}, k.contract.State, func(from region.Pattern, reference *ir.Type) {
			if reference.Kind == ir.RefType && reference.Target.String() == at.String() {
				known = known || !k.areApart(append(append([]side{}, t.sees...), t.takes...), side{include: from})
			}
		})
		if known {
			out = append(out, side{include: longer(entry, region.Segment{Kind: region.KeyLiteral, Text: list.KeyField})})
		}
	})
	k.keyFields[s] = out[:len(out):len(out)]
	return out
}

// areApart reports whether there are reasons why some sides share nothing with another.
func (k *checker) areApart(some []side, other side) bool {
	e := &evidence{issuing: true}
	for _, s := range some {
		k.reason(e, s, other, nil)
	}
	return !e.failed()
}
