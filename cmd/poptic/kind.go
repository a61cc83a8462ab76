package main

import (
	"bytes"
	"encoding/json"

	"github.com/patchoptic/poptic/internal/certificate"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/plan"
)

// A kind is what a verb writes. A file of that kind may be written anew; any other
// file is somebody's, and an empty one nobody's.
type kind struct {
	noun string
	is   func(data []byte) bool
}

var (
	compiledKind    = kind{"compiled contract", ir.IsCompiled}
	certificateKind = kind{"certificate", certificate.Is}
	drawingKind     = kind{"drawing of a contract", plan.IsDrawing}
)

// stateKind is a state document of c: an object without members that the state of c
// does not have. Whether it is a valid state does not matter.
func stateKind(c *ir.Contract) kind {
	return kind{"state of " + c.Name, func(data []byte) bool {
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil || members == nil {
			return false
		}
		t := c.Type(c.State)
		if t.Kind != ir.RecordType || t.Rest != ir.NoType {
			return true
		}
		for name := range members {
			if _, known := t.Member(name); !known {
				return false
			}
		}
		return true
	}}
}

// blank reports whether a file holds nothing that could be lost.
func blank(data []byte) bool { return len(bytes.TrimSpace(data)) == 0 }
