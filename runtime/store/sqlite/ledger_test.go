package sqlite

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
)

// A Ledger is an instance that several writers write to at the same time, each counting up
// a line of its own:
//
//	state { lines: map of int  filling: string }
//	stage count(w in /lines) { read /lines/{w}  write /lines/{w} }
type Ledger struct{ *runtime.Instance }

// LedgerWriters is how many there are.
const LedgerWriters = 16

// LedgerContract is its contract.
func LedgerContract() *runtime.Contract {
	c := &ir.Contract{Name: "ledger", Types: make([]ir.Type, 1), Phases: []ir.Phase{{Name: "main"}}}
	add := func(t ir.Type) ir.TypeID {
		c.Types = append(c.Types, t)
		return ir.TypeID(len(c.Types) - 1)
	}
	lines := add(ir.Type{Kind: ir.MapType, Elem: add(ir.Type{Kind: ir.IntType})})
	c.State = add(ir.Type{Kind: ir.RecordType, Members: []ir.Member{
		{Name: "lines", Type: lines}, {Name: "filling", Type: add(ir.Type{Kind: ir.StringType})}}})
	c.Stages = []ir.Stage{{Name: "count", In: []string{"main"},
		Params: []ir.Param{{Name: "w", Kind: ir.ExistingParam, Of: region.MustParse("/:lines")}},
		Read:   region.Of("/lines/{w}"), Write: region.Of("/lines/{w}")}}
	loaded, err := runtime.Load(ir.Encode(c))
	if err != nil {
		panic(err)
	}
	return loaded
}

// LedgerState is the state that it begins with.
func LedgerState(filling string) []byte {
	lines := map[string]int{}
	for w := range LedgerWriters {
		lines[fmt.Sprint("w", w)] = 0
	}
	text, err := json.Marshal(map[string]any{"lines": lines, "filling": filling})
	if err != nil {
		panic(err)
	}
	return text
}

// Lines is how far each writer has come.
func (l Ledger) Lines(ctx context.Context) (lines [LedgerWriters]int, err error) {
	text, err := l.State(ctx)
	if err != nil {
		return lines, err
	}
	var state struct{ Lines map[string]int }
	if err := json.Unmarshal(text, &state); err != nil {
		return lines, err
	}
	for w := range lines {
		lines[w] = state.Lines[fmt.Sprint("w", w)]
	}
	return lines, nil
}

// Count makes a writer's line n, under the key that this has.
func (l Ledger) Count(ctx context.Context, writer, n int) error {
	w := fmt.Sprint("w", writer)
	v, err := l.Propose(ctx, runtime.Proposal{
		Stage: "count", Args: map[string]string{"w": w}, Base: l.Version(), Key: fmt.Sprint(w, " ", n),
		Patch: fmt.Appendf(nil, `[{"op":"replace","path":"/lines/%s","value":%d}]`, w, n),
	})
	if err == nil && v.Verdict != verify.Commit {
		err = fmt.Errorf("%s %d: %s", w, n, v.Verdict)
	}
	return err
}
