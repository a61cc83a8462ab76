package ir

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// AppendPlain appends text with every character that a terminal obeys, or that makes
// text look other than it is, as \uXXXX: control characters but for line breaks, and
// Unicode's format characters, among them those that change the direction of text.
// Bytes that are no UTF-8 become \ufffd. In JSON that is indented by spaces, such
// characters are within strings, where the escape means the same. Names, texts and
// comments of contracts, states and patches get onto a screen in this form only.
func AppendPlain(dst, text []byte) []byte {
	kept := 0 // up to where text is appended
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if r == utf8.RuneError && size == 1 || Unplain(r) {
			dst = appendEscape(append(dst, text[kept:i]...), r)
			kept = i + size
		}
		i += size
	}
	return append(dst, text[kept:]...)
}

// Plain is AppendPlain for text that is not needed any more: it returns text itself if
// there is nothing to escape.
func Plain(text []byte) []byte {
	for i := 0; i < len(text); i++ {
		if b := text[i]; b >= 0x7f || b < 0x20 && b != '\n' {
			return AppendPlain(make([]byte, 0, len(text)+64), text)
		}
	}
	return text
}

// Unplain reports whether AppendPlain escapes a character.
func Unplain(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\n'
	case r < 0x7f:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

func appendEscape(dst []byte, r rune) []byte {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Appendf(dst, `\u%04x\u%04x`, high, low)
	}
	return fmt.Appendf(dst, `\u%04x`, r)
}
