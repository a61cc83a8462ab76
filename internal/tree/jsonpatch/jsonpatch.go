// Package jsonpatch is the one door to evanphx/json-patch. That library deviates
// from RFC 6902 (spec/semantics.md section 2) and is not trusted not to panic, so it
// is no interpreter here. It is what the interpreter of internal/tree is compared with
// on inputs where it follows the RFC, and it is part of the pipeline that costs are
// measured against (TestCostTable).
package jsonpatch

import (
	"errors"

	library "github.com/evanphx/json-patch/v5"
)

// ErrRefused says that the library did not apply a patch, or panicked. Its own
// message could hold values of the document.
var ErrRefused = errors.New("the patch could not be applied")

// Apply applies a JSON Patch (RFC 6902) to a document, as strictly as the library
// can. Both, and the result, are JSON text.
func Apply(document, patch []byte) (result []byte, err error) {
	return guarded(func() ([]byte, error) {
		decoded, err := library.DecodePatch(patch)
		if err != nil {
			return nil, err
		}
		options := library.NewApplyOptions()
		options.SupportNegativeIndices = false
		options.EscapeHTML = false
		return decoded.ApplyWithOptions(document, options)
	})
}

func guarded(f func() ([]byte, error)) (result []byte, err error) {
	defer func() {
		if recover() != nil {
			result, err = nil, ErrRefused
		}
	}()
	if result, err = f(); err != nil {
		return nil, ErrRefused
	}
	return result, nil
}
