package tree

import "unicode/utf8"

// ellipsis stands for what was cut off a text.
const ellipsis = "…"

// Shorten returns text if it has at most most bytes, else its beginning and an
// ellipsis, together at most that long. Neither a character nor an escape of a
// pointer (~0, ~1) is cut in two. It is for all that repeats what an actor sent.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := max(0, most-len(ellipsis))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	if end > 0 && text[end-1] == '~' {
		end--
	}
	return text[:end] + ellipsis
}
