package check

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/patchoptic/poptic/internal/diagnostic"
	"github.com/patchoptic/poptic/internal/expr"
	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/syntax"
	"github.com/patchoptic/poptic/lang/source"
)

// Types become a table in which a type's parts are entries of their own. Two things wait for
// later passes: a constraint for the expressions, which need all types, and a reference for
// the path to its container, which needs the state's. A changed copy of a type keeps both.

// builtinTypes are the type names that need no declaration.
var builtinTypes = []string{"any", "bool", "decimal", "int", "null", "number", "string"}

// pendingTypes is what a type needs that only later passes can supply: its
// constraints wait for the CEL environment, its reference for the state's shape.
type pendingTypes struct {
	where map[ir.TypeID][]*syntax.Constraint
	ref   map[ir.TypeID]reference
}

type reference struct {
	path  *syntax.Path
	scope *scope
}

func newPendingTypes() pendingTypes {
	return pendingTypes{where: map[ir.TypeID][]*syntax.Constraint{}, ref: map[ir.TypeID]reference{}}
}

func (c *checker) addType(t ir.Type) ir.TypeID {
	c.out.Types = append(c.out.Types, t)
	c.extents = append(c.extents, t.Extent(func(id ir.TypeID) ir.Extent { return c.extents[id] }))
	c.entries += t.Entries()
	return ir.TypeID(len(c.out.Types) - 1)
}

// deriveType adds a changed copy of a type, its pending parts included.
func (c *checker) deriveType(id ir.TypeID, change func(*ir.Type)) ir.TypeID {
	t := c.out.Types[id]
	change(&t)
	derived := c.addType(t)
	if where := c.pending.where[id]; len(where) > 0 {
		c.pending.where[derived] = slices.Clone(where)
		c.entries += len(where)
	}
	if ref, ok := c.pending.ref[id]; ok {
		c.pending.ref[derived] = ref
	}
	if fields, ok := c.fields[id]; ok {
		c.fields[derived] = fields
	}
	return derived
}

func (c *checker) lowerState() {
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.StateDecl); ok {
			c.out.State = c.bounded(c.lowerType(c.root, d.Type), d.Span, "the state")
			return
		}
	}
	c.out.State = c.anyType
	if f := c.root.file; f.Header != nil || len(f.Decls) > 0 { // else nothing of the file was read, which was reported
		c.stateless = true
		c.report(missingState(f))
	}
}

// lowerTypes lowers what the state did not reach, so that unused types are checked too.
func (c *checker) lowerTypes() {
	for _, s := range c.root.scopes() {
		for _, name := range keys(s.types) {
			c.lowerDefinition(s.types[name])
		}
	}
}

// lowerValueTypes lowers the types of the values that stages take, while there is no
// environment yet that would have to know them.
func (c *checker) lowerValueTypes() {
	for _, d := range c.root.file.Decls {
		if d, ok := d.(*syntax.StageDecl); ok {
			for _, p := range d.Params {
				if p.Type != nil {
					if l, ok := p.Type.(*syntax.LiteralType); ok && isTypeName(strings.Trim(l.Text, `"`), l.Text) {
						c.report(quotedType(l))
					}
					c.valueTypes[p] = c.bounded(c.lowerType(c.root, p.Type), p.Span, "the type of "+p.Name.Text)
				}
			}
		}
	}
}

// lowerType lowers a type expression. A part the parser could not read counts as any.
func (c *checker) lowerType(s *scope, t syntax.TypeExpr) ir.TypeID {
	switch t := t.(type) {
	case *syntax.NamedType:
		return c.lowerNamed(s, t)
	case *syntax.LiteralType:
		return c.addType(ir.Type{Kind: ir.LiteralType, Literal: canonicalLiteral(t.Text), Doc: t.Doc})
	case *syntax.UnionType:
		return c.lowerUnion(s, t)
	case *syntax.ContainerType:
		return c.lowerContainer(s, t)
	case *syntax.KeyType:
		id := c.addType(ir.Type{Kind: ir.RefType})
		c.pending.ref[id] = reference{t.Of, s}
		return id
	case *syntax.RecordType:
		return c.lowerRecord(s, t)
	case *syntax.SecretType:
		return c.deriveType(c.lowerType(s, t.Type), func(t *ir.Type) { t.Secret = true })
	case *syntax.WhereType:
		id := c.deriveType(c.lowerType(s, t.Type), func(*ir.Type) {})
		c.pending.where[id] = append(c.pending.where[id], t.Constraints...)
		return id
	}
	return c.anyType
}

func (c *checker) lowerNamed(s *scope, t *syntax.NamedType) ir.TypeID {
	if slices.Contains(builtinTypes, t.Name.Text) {
		return c.addType(ir.Type{Kind: ir.TypeKind(t.Name.Text)})
	}
	in, name := c.resolve(s, t.Name)
	if in == nil {
		return c.anyType
	}
	def, ok := in.types[name]
	if d := in.constant(name); !ok && d != nil {
		return c.addType(ir.Type{Kind: ir.LiteralType, Literal: canonicalLiteral(d.Value.Text), Doc: d.Doc})
	}
	if !ok {
		candidates := keys(in.types)
		if in == s {
			candidates = append(candidates, builtinTypes...)
			for alias, lib := range s.imports {
				if lib == nil {
					continue
				}
				for n := range lib.types {
					candidates = append(candidates, alias+"."+n)
				}
			}
			slices.Sort(candidates)
		}
		c.report(unknownName(diagnostic.UnknownType, t.Name, name, candidates))
		return c.anyType
	}
	if def.active {
		c.report(recursiveType(t, def.decl))
		return c.anyType
	}
	return c.lowerDefinition(def)
}

func (c *checker) lowerDefinition(def *typeDef) ir.TypeID {
	if def.id != ir.NoType {
		return def.id
	}
	def.active = true
	id := c.bounded(c.lowerType(def.scope, def.decl.Type), def.decl.Name.Span, "type "+def.decl.Name.Text)
	def.active = false
	def.id = c.deriveType(id, func(t *ir.Type) { t.Name = def.decl.Name.Text })
	return def.id
}

// bounded is a type, or any if it is larger than types may be, which is reported once.
func (c *checker) bounded(id ir.TypeID, at source.Span, what string) ir.TypeID {
	first := !c.overfull
	c.overfull = first && c.extents[id].Exceeds() || c.entries > ir.MaxTypeEntries || c.overfull
	switch e := c.extents[id]; {
	case c.entries > ir.MaxTypeEntries:
		if first {
			c.report(tooLarge(at, "types of a contract with their members and alternatives", ir.MaxTypeEntries, "what a union takes in from others counts in it again"))
		}
	case e.Levels > ir.MaxLevels:
		if first {
			c.report(tooLarge(at, "levels of a type", ir.MaxLevels, what+" goes too deep; what stands below may be `any`"))
		}
	case e.Places > ir.MaxPlaces:
		if first {
			c.report(tooLarge(at, "places of a type", ir.MaxPlaces, "written out, "+what+" has more places than that: what it uses several times counts each time; let one place hold what many share, or use `any`"))
		}
	default:
		return id
	}
	return c.anyType
}

func (c *checker) lowerUnion(s *scope, t *syntax.UnionType) ir.TypeID {
	var ids []ir.TypeID
	seen := map[ir.TypeID]bool{}
	for _, a := range t.Alternatives {
		id := c.lowerType(s, a)
		alternatives := []ir.TypeID{id}
		if at := c.out.Types[id]; at.Kind == ir.UnionType && len(c.pending.where[id]) == 0 && !at.Secret {
			alternatives = at.Alternatives
		}
		for _, id := range alternatives {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return c.addType(ir.Type{Kind: ir.UnionType, Alternatives: ids})
}

// keyFields lists the members by which a list of a type can be keyed.
func (c *checker) keyFields(elem ir.TypeID) []string {
	var names []string
	for _, m := range c.out.Types[elem].Members {
		if !m.Optional && c.isStringType(m.Type) {
			names = append(names, m.Name)
		}
	}
	return names
}

func (c *checker) lowerContainer(s *scope, t *syntax.ContainerType) ir.TypeID {
	elem := c.lowerType(s, t.Elem)
	if t.By != nil {
		if names := c.keyFields(elem); !slices.Contains(names, t.By.Text) {
			c.report(badKeyField(*t.By, names))
			return c.addType(ir.Type{Kind: ir.ListType, Elem: elem})
		}
		if key, _ := c.out.Types[elem].Member(t.By.Text); c.out.Types[elem].Secret || c.isSecret(key.Type) {
			c.report(secretKey(*t.By))
		}
		return c.addType(ir.Type{Kind: ir.KeyedType, Elem: elem, KeyField: t.By.Text})
	}
	return c.addType(ir.Type{Kind: ir.TypeKind(t.Keyword.Text), Elem: elem})
}

// isSecret reports whether some value of a scalar type is secret.
func (c *checker) isSecret(id ir.TypeID) bool {
	t := c.out.Types[id]
	return t.Secret || slices.ContainsFunc(t.Alternatives, c.isSecret)
}

// isTypeName reports whether what stands in quotation marks in a text is the name of a type.
func isTypeName(name, text string) bool {
	return name != text && (slices.Contains(builtinTypes, name) || name == "integer" || name == "boolean")
}

func (c *checker) lowerRecord(s *scope, t *syntax.RecordType) ir.TypeID {
	out := ir.Type{Kind: ir.RecordType}
	seen := map[string]*syntax.Field{}
	for _, f := range t.Fields {
		if l, ok := f.Type.(*syntax.LiteralType); ok && !slices.Contains([]string{"type", "kind", "of"}, f.Name.Text) {
			if isTypeName(strings.Trim(l.Text, `"`), l.Text) {
				c.report(quotedType(l))
			}
		}
		if first, ok := seen[f.Name.Text]; ok {
			c.report(fieldTwice(f, first))
			continue
		}
		seen[f.Name.Text] = f
		typ := c.lowerType(s, f.Type)
		c.fieldTypes[f] = typ
		out.Members = append(out.Members, ir.Member{Name: f.Name.Text, Type: typ, Optional: f.Optional, Doc: f.Doc})
	}
	if t.Rest != nil {
		out.Rest = c.lowerType(s, t.Rest)
	}
	id := c.addType(out)
	c.fields[id] = seen
	return id
}

// isStringType reports whether every value of a type is a string.
func (c *checker) isStringType(id ir.TypeID) bool {
	t := c.out.Types[id]
	switch t.Kind {
	case ir.StringType, ir.RefType:
		return true
	case ir.LiteralType:
		return strings.HasPrefix(t.Literal, `"`)
	case ir.UnionType:
		return !slices.ContainsFunc(t.Alternatives, func(a ir.TypeID) bool { return !c.isStringType(a) })
	}
	return false
}

// isNumericType reports whether every value of a type is a number.
func (c *checker) isNumericType(id ir.TypeID) bool {
	t := c.out.Types[id]
	switch t.Kind {
	case ir.NumberType, ir.IntType, ir.DecimalType:
		return true
	case ir.LiteralType:
		return strings.IndexByte("-0123456789", t.Literal[0]) >= 0
	case ir.UnionType:
		return !slices.ContainsFunc(t.Alternatives, func(a ir.TypeID) bool { return !c.isNumericType(a) })
	}
	return false
}

// lowerReferences finds the container each "key of" means.
func (c *checker) lowerReferences() {
	for id := range c.out.Types {
		ref, ok := c.pending.ref[ir.TypeID(id)]
		if !ok {
			continue
		}
		c.out.Types[id] = ir.Type{Kind: ir.StringType, Name: c.out.Types[id].Name, Secret: c.out.Types[id].Secret}
		if target := c.container(ref.path, nil); target != nil {
			c.out.Types[id].Kind, c.out.Types[id].Target = ir.RefType, target
		}
	}
}

// lowerConstraints checks every where expression, once for each place it was written.
func (c *checker) lowerConstraints() {
	checked := map[*syntax.Constraint]ir.Expr{}
	for id := range c.out.Types {
		for _, w := range c.pending.where[ir.TypeID(id)] {
			x, ok := checked[w]
			if !ok {
				x = c.expression(w.Expr, expr.Scope{Vars: ir.SelfVars, Self: ir.TypeID(id)})
				x.Message = textOf(w.Message)
				checked[w] = x
			}
			c.out.Types[id].Where = append(c.out.Types[id].Where, x)
		}
	}
}

// textOf is a message, "" if there is none.
func textOf(message *syntax.StringLit) string {
	if message == nil {
		return ""
	}
	return message.Value
}

// canonicalLiteral is the JSON text of a literal as canonical output writes it.
func canonicalLiteral(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) == nil {
		return jsonString(s)
	}
	return text
}

// describe names a type as an author would.
func (c *checker) describe(id ir.TypeID) string { return c.out.TypeText(id) }

// describeSet names the types of a set.
func (c *checker) describeSet(set footprint.TypeSet) string {
	var names []string
	for _, id := range set {
		if n := c.describe(id); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return strings.Join(names, " or ")
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
