package footprint

import (
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// Carries finds a path that a run of one stage may write and a run of another sees, is
// told or takes from, for some values of their parameters; ok is false if there is none.
func (m *Model) Carries(from, to *ir.Stage) (path region.Word, ok bool) {
	x := m.reachOf()
	c := m.meetsSeen(x.stages[to.Name], x.written(from), region.Interior)
	if c.Never() {
		return nil, false
	}
	return c.Any[0].Witness, true
}
