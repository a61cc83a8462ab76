// Package block reads the fenced code blocks of Markdown files, so that tests can
// execute what the documentation shows. Read gives the blocks of a file, Sessions
// those that a shell runs, and Session.Run runs one.
package block

import (
	"os"
	"strings"
)

// A Block is one fenced code block.
type Block struct {
	File     string
	Line     int      // of the opening fence, from 1
	Language string   // the first word after the fence, "" if there is none
	Words    []string // the other words
	Text     string   // what stands between the fences, ending in a line break
	Adjacent bool     // nothing but white space stands between the block before and this one
}

// fence opens and closes a block.
const fence = "```"

// Read lists the fenced code blocks of a Markdown file in order.
func Read(path string) ([]Block, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, string(data)), nil
}

// Parse lists the fenced code blocks of Markdown text; path is only for messages.
// A block that is never closed ends with the text.
func Parse(path, text string) []Block {
	var blocks []Block
	var open *Block
	adjacent := false
	line := 0
	for content := range strings.Lines(text) {
		line++
		marker, isFence := strings.CutPrefix(strings.TrimRight(content, " \r\n"), fence)
		switch {
		case open == nil && isFence:
			open = newBlock(path, line, marker, adjacent)
		case open == nil:
			adjacent = adjacent && strings.TrimSpace(content) == ""
		case isFence && marker == "":
			blocks = append(blocks, *open)
			open, adjacent = nil, true
		default:
			open.Text += content
		}
	}
	if open != nil {
		blocks = append(blocks, *open)
	}
	return blocks
}

func newBlock(path string, line int, info string, adjacent bool) *Block {
	b := &Block{File: path, Line: line, Adjacent: adjacent}
	if words := strings.Fields(info); len(words) > 0 {
		b.Language, b.Words = words[0], words[1:]
	}
	return b
}

// Has reports whether word stands after the language.
func (b Block) Has(word string) bool {
	for _, w := range b.Words {
		if w == word {
			return true
		}
	}
	return false
}

// Value returns what stands after "name=" among the words, "" if it does not.
func (b Block) Value(name string) string {
	for _, w := range b.Words {
		if value, ok := strings.CutPrefix(w, name+"="); ok {
			return value
		}
	}
	return ""
}
