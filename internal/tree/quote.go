package tree

// Strings are written with the fewest escapes JSON allows, as RFC 8785 section
// 3.2.2.2 has it: the quote, the backslash and the control characters, the usual
// five of which have a short form.

const hexDigits = "0123456789abcdef"

func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\t':
		return 't'
	case '\n':
		return 'n'
	case '\f':
		return 'f'
	case '\r':
		return 'r'
	default:
		return 0
	}
}

// appendQuoted appends s, which must be UTF-8, as a JSON string.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		if short := shortEscape(c); short != 0 {
			dst = append(dst, '\\', short)
		} else {
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// quotedLen is the length of what appendQuoted appends.
func quotedLen(s string) int {
	n := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\' || c < 0x20 && shortEscape(c) != 0:
			n++
		case c < 0x20:
			n += len(`u0000`)
		}
	}
	return n
}
