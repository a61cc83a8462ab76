package check

import (
	"slices"
	"strings"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
)

// describe names a type as an author would: its declared name, or its form.
func (c *checker) describe(id ir.TypeID) string {
	t := c.out.Type(id)
	if t.Name != "" {
		return t.Name
	}
	switch t.Kind {
	case ir.LiteralType:
		return t.Literal
	case ir.UnionType:
		var names []string
		for _, a := range t.Alternatives {
			names = append(names, c.describe(a))
		}
		return strings.Join(names, " | ")
	case ir.MapType, ir.ListType, ir.SetType, ir.LogType:
		return string(t.Kind) + " of " + c.describe(t.Elem)
	case ir.KeyedType:
		return "list of " + c.describe(t.Elem) + " by " + t.KeyField
	case ir.RefType:
		return "key of " + t.Target.Source()
	case ir.RecordType:
		return "record"
	}
	return string(t.Kind)
}

// describeSet names the types of a set.
func (c *checker) describeSet(set footprint.TypeSet) string {
	var names []string
	for _, id := range set {
		if n := c.describe(id); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, " or ")
}
