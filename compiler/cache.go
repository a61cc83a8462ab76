package compiler

import (
	"slices"
	"sync"

	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// A Cache keeps parsed files from one compilation to the next: a file is parsed again only
// if its text has changed. It keeps the last text of each file, by the name that messages
// give it, and what was parsed; the zero value is empty. It is safe for concurrent use, and
// so are the diagnostics that share its files.
type Cache struct {
	mu    sync.Mutex
	files map[string]parsed // by name
}

// parsed is a file's tree, of the text that it holds, and what parsing found.
type parsed struct {
	tree  *syntax.File
	found []source.Diagnostic
}

// Forget drops a file that is not going to be compiled any more.
func (c *Cache) Forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.files, name)
}

// parse is syntax.Parse, of the cache's file where that has the text. Trees are read by
// those that get them, never changed. A nil cache keeps nothing.
func (c *Cache) parse(name, text string) (*syntax.File, []source.Diagnostic) {
	if c == nil {
		return syntax.Parse(source.NewFile(name, text))
	}
	c.mu.Lock()
	kept, ok := c.files[name]
	c.mu.Unlock()
	if !ok || kept.tree.Source.Text != text {
		kept.tree, kept.found = syntax.Parse(source.NewFile(name, text))
		c.mu.Lock()
		if c.files == nil {
			c.files = map[string]parsed{}
		}
		c.files[name] = kept
		c.mu.Unlock()
	}
	return kept.tree, slices.Clone(kept.found)
}
