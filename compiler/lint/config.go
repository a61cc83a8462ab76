package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/spell"
)

// ConfigFile is the name of a configuration. The one nearest to a contract, in its folder
// or the nearest one above, holds for it; there is no merging.
const ConfigFile = "poptic.yaml"

// A Config sets the levels of rules. A nil Config leaves all as they are.
//
//	rules:
//	  performance: off          # a category
//	  whole_state_rule: error   # a rule, which goes before its category
type Config struct {
	levels map[string]Level // by code or category
}

// Level is that of a rule.
func (c *Config) Level(r Rule) Level {
	if c == nil {
		return r.Level
	}
	if l, ok := c.levels[r.Code]; ok {
		return l
	}
	if l, ok := c.levels[string(r.Category)]; ok {
		return l
	}
	return r.Level
}

// A ConfigError says what is wrong with a configuration, and where. Line and Column count
// from 1, and are 0 where the file as a whole is meant.
type ConfigError struct {
	File         string
	Line, Column int
	Message      string
	Help         string
}

func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
}

// NearestConfig reads the configuration that holds for files in a folder: the first
// poptic.yaml upwards from it, nil if there is none. The error is a *ConfigError, or that
// of reading.
func NearestConfig(dir string) (*Config, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for shown := dir; ; shown = filepath.Join(shown, "..") {
		data, err := os.ReadFile(filepath.Join(abs, ConfigFile))
		if err == nil {
			return ParseConfig(filepath.Join(shown, ConfigFile), data)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if up := filepath.Dir(abs); up == abs {
			return nil, nil
		} else {
			abs = up
		}
	}
}

// ParseConfig reads a configuration; name is what messages call it. Every key and value
// that is not known is an error (*ConfigError), with the nearest one that is.
func ParseConfig(name string, data []byte) (*Config, error) {
	c := &Config{levels: map[string]Level{}}
	if strings.TrimSpace(string(data)) == "" {
		return c, nil
	}
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		wrong := &ConfigError{File: name, Message: "it is not YAML: " + strings.SplitN(err.Error(), "\n", 2)[0]}
		var at yaml.Error
		if errors.As(err, &at) && at.GetToken() != nil {
			wrong.Line, wrong.Column = at.GetToken().Position.Line, at.GetToken().Position.Column
			wrong.Message = "it is not YAML: " + at.GetMessage()
		}
		return nil, wrong
	}
	r := configReader{name: name}
	for _, doc := range file.Docs {
		for _, kv := range r.mapping(doc.Body, "the configuration") {
			if r.key(kv, []string{"rules"}, "key") {
				for _, rule := range r.mapping(kv.Value, "rules") {
					r.rule(rule, c)
				}
			}
		}
	}
	if r.err != nil {
		return nil, r.err
	}
	return c, nil
}

// A configReader keeps the first thing that is wrong.
type configReader struct {
	name string
	err  *ConfigError
	seen map[string]bool
}

func (r *configReader) fail(at ast.Node, help, format string, args ...any) {
	if r.err != nil {
		return
	}
	r.err = &ConfigError{File: r.name, Message: fmt.Sprintf(format, args...), Help: help}
	if t := firstToken(at); t != nil && t.Position != nil {
		r.err.Line, r.err.Column = t.Position.Line, t.Position.Column
	}
}

func firstToken(n ast.Node) *token.Token {
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		return firstToken(m.Values[0])
	}
	if kv, ok := n.(*ast.MappingValueNode); ok {
		return kv.Key.GetToken()
	}
	return n.GetToken()
}

// mapping lists the members of a node; one with nothing but comments has none.
func (r *configReader) mapping(n ast.Node, what string) []*ast.MappingValueNode {
	switch n := n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return nil
	case *ast.MappingNode:
		return n.Values
	case *ast.MappingValueNode:
		return []*ast.MappingValueNode{n}
	default:
		r.fail(n, "write `NAME: VALUE` on lines of their own", "%s is no mapping", what)
		return nil
	}
}

// key reports whether a member has a name that is known, and for the first time.
func (r *configReader) key(kv *ast.MappingValueNode, known []string, what string) bool {
	name := kv.Key.GetToken().Value
	if !slices.Contains(known, name) {
		help := "the known ones are " + strings.Join(known, ", ")
		if len(known) > 12 {
			help = "`poptic check --list-rules` lists them"
		}
		if near := spell.Nearest(name, known); near != "" {
			help = "did you mean `" + near + "`?"
		} else if k := diagnostic.Find(name); k != nil && what == "rule" {
			help = "it is an error, whose level is fixed"
		}
		r.fail(kv, help, "there is no %s %q", what, name)
		return false
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	if r.seen[what+name] {
		r.fail(kv, "leave one out", "%q stands twice", name)
		return false
	}
	r.seen[what+name] = true
	return true
}

func (r *configReader) rule(kv *ast.MappingValueNode, c *Config) {
	names := codes()
	for _, category := range Categories() {
		names = append(names, string(category))
	}
	if !r.key(kv, names, "rule") {
		return
	}
	levels := []string{Off.String(), Info.String(), Warning.String(), Error.String()}
	if _, ok := kv.Value.(ast.ScalarNode); !ok {
		r.fail(kv.Value, "write the level behind the rule: `"+kv.Key.GetToken().Value+": off`", "a level is one word")
		return
	}
	written := kv.Value.GetToken().Value
	i := slices.Index(levels, written)
	if i < 0 {
		help := "a level is off, info, warning or error"
		if near := spell.Nearest(written, levels); near != "" {
			help = "did you mean `" + near + "`?"
		}
		r.fail(kv.Value, help, "%q is no level", written)
		return
	}
	c.levels[kv.Key.GetToken().Value] = Level(i)
}
