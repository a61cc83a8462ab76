package ir_test

import (
	"encoding/json"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

func TestWhatATerminalObeysIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"":                         "",
		"plain\ntext é 日 😀":        "plain\ntext é 日 😀",
		"a\x1b[2Jb":                `a\u001b[2Jb`,
		"\r\t\x00\x7f":             `\u000d\u0009\u0000\u007f`,
		"\u009b\u0085":             `\u009b\u0085`,
		"\u202e\u2066\u061c\u200f": `\u202e\u2066\u061c\u200f`,
		"\u2028\u2029\ufeff\u00ad": `\u2028\u2029\ufeff\u00ad`,
		"\U000e0041":               `\udb40\udc41`,
		"\x9b\xff\xf0\x9f":         `\ufffd\ufffd\ufffd\ufffd`,
		"\ufffd":                   "\ufffd",
	} {
		require.Equal(t, want, string(ir.AppendPlain(nil, []byte(text))), "%q", text)
		require.Equal(t, want, string(ir.Plain([]byte(text))), "%q", text)
		require.Equal(t, "x"+want, string(ir.AppendPlain([]byte("x"), []byte(text))), "%q", text)
	}
}

func FuzzAppendPlain(f *testing.F) {
	for _, seed := range []string{"", "a\u202eb\x1b[0m", "\xff\U000e0041", "{\"a\":1}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		plain := ir.AppendPlain(nil, text)
		for _, r := range string(plain) {
			require.False(t, r != '\n' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Bidi_Control)), "%q", plain)
		}
		require.True(t, utf8.Valid(plain))
		require.Equal(t, plain, ir.Plain(plain))
		if quoted, err := json.Marshal(string(text)); err == nil && utf8.Valid(text) {
			var back string
			require.NoError(t, json.Unmarshal(ir.AppendPlain(nil, quoted), &back))
			require.Equal(t, string(text), back)
		}
	})
}
