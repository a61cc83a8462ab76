package trace

import (
	"bufio"
	"errors"
	"io"
	"iter"
)

// Verify reads a trace, one line after the other, and checks its chain, and that every
// proposal and advance has its decision. The head
// it returns is that of the last line that holds; compare it with one known from
// elsewhere to notice lines missing at the end. The error is a *BrokenError that
// names the first broken line, a *FormatError, or what reading reported. An empty trace holds.
// Memory is that of the longest line, which has MaxLine bytes at most.
func Verify(r io.Reader) (Head, error) {
	return Scan(r, func([]byte) error { return nil })
}

// Scan is Verify that gives each line that holds to each, without its line break.
// The line is each's only until it returns; its error ends the reading.
func Scan(r io.Reader, each func(line []byte) error) (Head, error) {
	head := Start("")
	var pairing Pairing
	in := bufio.NewReader(r)
	for number := 1; ; number++ {
		line, err := readLine(in, MaxLine)
		if errors.Is(err, io.EOF) && len(line) == 0 {
			return head, at(number-1, pairing.End())
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return head, err
		}
		next, l, err := checkLine(head, line)
		if err == nil {
			err = pairing.Next(l.Kind, next.Seq)
		}
		if err != nil {
			return head, at(number, err)
		}
		head = next
		if err := each(line[:len(line)-1]); err != nil {
			return head, err
		}
	}
}

// MaxLine is how long a line of a trace may be. Patches, what they replace and verdicts are
// all limited: no line that is written comes near it.
const MaxLine = 256 << 20

// readLine reads up to a line break, and no further than there can still be a line: what
// does not begin as one, or is longer than most, is cut off.
func readLine(in *bufio.Reader, most int) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
		if line[0] != '{' || len(line) > most {
			return line, nil
		}
	}
}

// checkLine insists on the line break: a trace that ends within a line was cut.
func checkLine(head Head, line []byte) (Head, linked, error) {
	if line[len(line)-1] != '\n' {
		return head, linked{}, head.broken(notALine)
	}
	return head.next(line[:len(line)-1])
}

func at(number int, err error) error {
	var broken *BrokenError
	if errors.As(err, &broken) {
		broken.Line = number
	}
	return err
}

// Write writes the lines of a log as a trace. It stops at the first error of lines
// or of w.
func Write(w io.Writer, lines iter.Seq2[[]byte, error]) error {
	out := bufio.NewWriter(w)
	for line, err := range lines {
		if err != nil {
			return err
		}
		out.Write(line)
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
	}
	return out.Flush()
}
