package main

import (
	"fmt"
	"strconv"
	"strings"
)

// plural counts things: "no files", "1 file", "2 files".
func plural(n int, noun string) string {
	switch n {
	case 0:
		return "no " + noun + "s"
	case 1:
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// listed joins names as a sentence does: "a", "a and b", "a, b and c".
func listed(names []string, conjunction string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " " + conjunction + " " + names[last]
}

// orElse is text, or otherwise if it is empty.
func orElse(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// when is text if condition holds, and empty if not.
func when(condition bool, text string) string {
	if condition {
		return text
	}
	return ""
}

// grouped writes a number with a comma after every three digits.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
