// Package assembled applies patches as a program does that is put together from the
// usual libraries: text in, text out. The project's own costs are measured against
// it (TestCostTable); nothing else may use it, for the library deviates from RFC
// 6902 (spec/semantics.md section 2).
package assembled

import jsonpatch "github.com/evanphx/json-patch/v5"

// Apply applies a JSON Patch to a document. Both, and the result, are JSON text.
func Apply(document, patch []byte) ([]byte, error) {
	p, err := jsonpatch.DecodePatch(patch)
	if err != nil {
		return nil, err
	}
	return p.Apply(document)
}
