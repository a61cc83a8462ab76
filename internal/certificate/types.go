package certificate

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// below lists the types of the nodes that lie one step below nodes of the given
// types, on a letter that all segments match. It may list too many.
func (k *checker) below(types []ir.TypeID, segments []region.Segment) []ir.TypeID {
	var out []ir.TypeID
	for _, id := range types {
		t := k.contract.Type(id)
		switch t.Kind {
		case ir.AnyType:
			out = append(out, id)
		case ir.UnionType:
			out = append(out, k.below(t.Alternatives, segments)...)
		case ir.RecordType:
			for _, m := range t.Members {
				if admitKey(segments, m.Name) {
					out = append(out, m.Type)
				}
			}
			if t.Rest != ir.NoType && admitSome(segments, keys) {
				out = append(out, t.Rest)
			}
		case ir.MapType, ir.KeyedType:
			if admitSome(segments, keys) {
				out = append(out, t.Elem)
			}
		case ir.ListType, ir.SetType, ir.LogType:
			if admitSome(segments, positions) {
				out = append(out, t.Elem)
			}
		}
	}
	return distinct(out)
}

func admitKey(segments []region.Segment, key string) bool {
	for _, s := range segments {
		if x := keys(s); x.kind == nothing || x.kind == one && x.text != key {
			return false
		}
	}
	return true
}

func admitSome(segments []region.Segment, of func(region.Segment) part) bool {
	for _, s := range segments {
		if of(s).kind == nothing {
			return false
		}
	}
	return true
}

func distinct(ids []ir.TypeID) []ir.TypeID {
	seen := map[ir.TypeID]bool{}
	var out []ir.TypeID
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			out = append(out, id)
		}
	}
	return out
}

// isLog reports whether every node at a list of segments without "**" is a log.
func (k *checker) isLog(path []region.Segment) bool {
	at := []ir.TypeID{k.contract.State}
	for _, s := range path {
		if s.Kind == region.AnyDepth {
			return false
		}
		at = k.below(at, []region.Segment{s})
	}
	for _, id := range at {
		if k.contract.Type(id).Kind != ir.LogType {
			return false
		}
	}
	return len(at) > 0
}

// mayGrow reports whether some node at a list of segments may be a set or log.
func (k *checker) mayGrow(path []region.Segment) bool {
	at := []ir.TypeID{k.contract.State}
	for _, s := range path {
		if s.Kind == region.AnyDepth {
			return true
		}
		at = k.below(at, []region.Segment{s})
	}
	for len(at) > 0 {
		t := k.contract.Type(at[0])
		if t.Kind == ir.SetType || t.Kind == ir.LogType {
			return true
		}
		at = append(at[1:], t.Alternatives...)
	}
	return false
}
