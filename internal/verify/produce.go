package verify

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/tree"
)

// checkProduce checks that what the stage must produce is there. An append to a
// log counts if this patch made it.
func (v *verification) checkProduce() []finding {
	var found []finding
	for i := range v.stage.Produce {
		p := v.stage.Produce[i].Bind(v.args)
		if v.produced(p) {
			continue
		}
		f := say.notProduced(v.stage.Name, p.Source()).of(ir.ProduceGate, "")
		f.typed = v.stage.Produce[i]
		f.reads = region.Region{{Include: []region.Pattern{p}}}
		found = append(found, f)
	}
	return found
}

func (v *verification) produced(p region.Pattern) bool {
	last := len(p.Segments) - 1
	if last < 0 || p.Segments[last].Kind != region.FreshSegment {
		there := false
		eachMatch(v.p.watch, v.after, p, func(region.Word, *tree.Node) bool { there = true; return false })
		return there
	}
	grew := false
	eachMatch(v.p.watch, v.after, region.Pattern{Segments: p.Segments[:last]}, func(w region.Word, n *tree.Node) bool {
		grew = n.Len() > tree.NodeAt(v.snapshot.State, w).Len()
		return !grew
	})
	return grew
}
