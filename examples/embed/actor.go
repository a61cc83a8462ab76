package main

import "encoding/json"

// operation is an operation of a JSON Patch, as the scripted actor writes it.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// scripted stands in for a language model. It makes the two mistakes models make
// most: it touches what it was not asked to, and it replaces what is not there.
// It mends its patch by what the reply says, operation by operation.
type scripted struct {
	patch []operation
}

func (a *scripted) propose(_ string, _, reply json.RawMessage) (json.RawMessage, error) {
	if reply == nil {
		a.patch = []operation{
			{"replace", "/questions/Q1/answer", "A day on Mars lasts 24 hours and 37 minutes."},
			{"replace", "/questions/Q1/status", "answered"},
			{"replace", "/questions/Q1/text", "How long is a Martian day?"},
			{"add", "/answered/-", "Q1"},
		}
		return json.Marshal(a.patch)
	}
	if err := a.mend(reply); err != nil {
		return nil, err
	}
	return json.Marshal(a.patch)
}

// mend drops the operations that are outside the region, and adds what cannot be
// replaced.
func (a *scripted) mend(reply json.RawMessage) error {
	var verdict struct {
		Violations []struct {
			Code    string `json:"code"`
			OpIndex int    `json:"op_index"`
		} `json:"violations"`
	}
	if err := json.Unmarshal(reply, &verdict); err != nil {
		return err
	}
	drop := map[int]bool{}
	for _, v := range verdict.Violations {
		switch v.Code {
		case "patch_write_scope_violation":
			drop[v.OpIndex] = true
		case "path_missing":
			a.patch[v.OpIndex].Op = "add"
		}
	}
	var kept []operation
	for i, op := range a.patch {
		if !drop[i] {
			kept = append(kept, op)
		}
	}
	a.patch = kept
	return nil
}
