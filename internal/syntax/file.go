// Package syntax turns source text into a syntax tree. Parse never fails as a
// whole: it returns the tree of everything it could read and one diagnostic for
// every mistake, resynchronising at declarations, then at clauses.
//
// The tree keeps exact byte spans. Comments stay with the token list of the
// File, and those directly above a declaration, field, phase or clause are also
// its Doc.
//
// Entry points: Parse and ParseWithLimits read a file, Walk visits a tree, Grammar
// prints the grammar. How a file is read: scan.go makes tokens of it, balance.go
// makes their brackets match, grammar.go has participle build the tree, whose
// struct tags are the grammar, section.go goes on after mistakes, finish.go
// completes the tree and check.go looks for what the grammar lets through.
package syntax

import "github.com/patchoptic/poptic/lang/source"

// A File is the tree of one source file.
type File struct {
	Source *source.File
	Header *Header // nil if the file has none (a test file may)
	Decls  []Decl  // in source order, imports included; partial where there were mistakes
	Tokens []Token // every token, comments included, in order: the formatter's input
}

// A Decl is one top-level declaration.
type Decl interface {
	GetSpan() source.Span
	// DeclName is the declared name; its Text is "" where the declaration has none (state, phases, prove).
	DeclName() Name
}

// A Name is an identifier, possibly qualified by an import's alias ("pii.Email").
type Name struct {
	Node
	Text string `parser:"@(Ident | Qualified)"`
}

// A StringLit is a JSON string literal; Value is decoded.
type StringLit struct {
	Node
	Value string `parser:"@String"`
}

// Header is "contract NAME [sealed]" or "library NAME". NAME may contain dots.
type Header struct {
	Node
	Doc     string
	Library bool `parser:"( 'contract' | @'library' )"`
	Name    Name `parser:"@@"`
	Sealed  bool `parser:"@'sealed'?"`
}

// Import is `import "std/pii" as pii`. Without as, the alias is the last path element without its extension.
type Import struct {
	Node
	Doc   string
	Path  StringLit `parser:"'import' @@"`
	Alias Name      `parser:"( 'as' @@ )?"` // Text "" if none was written
}

// An Expr is CEL source in braces. Span covers the text between the braces,
// verbatim: CEL positions are offsets into it. Outer covers the braces as well.
type Expr struct {
	Node
	Text  string `parser:"@Expr"`
	Outer source.Span
}
