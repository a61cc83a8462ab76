package check

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/region"
)

// wordText writes a witness as an author would; the root is "the whole state".
func wordText(w region.Word) string {
	if len(w) == 0 {
		return "the whole state"
	}
	return w.Pointer()
}

// jsonString is the canonical JSON text of a string.
func jsonString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
