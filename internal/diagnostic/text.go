package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var text = Chapter{Title: "Text and layout", Kinds: []*Kind{
	NotText, EmptyFile, BadCharacter, BadComment, BadString, BadNumber, BadJSON, BadName, BadPath,
	Unclosed, Unopened, MissingHeader, MisplacedHeader, HeaderBraces, UnknownDeclaration,
	MisplacedClause, UnknownClause, UnknownWord, MisplacedWord, Unexpected, Missing, MissingName,
	MissingColon, NeedlessComma, DanglingComma, AmbiguousUnion, MisplacedRest, DuplicateClause,
	ReservedName, LimitExceeded, TooManyMistakes,
}}

// Text and layout.
var (
	NotText = &Kind{
		Code: "not_text", Severity: source.Error,
		What: "a byte that is not UTF-8 text",
		Why:  "Everything else is said about characters, so the bytes have to be characters first.",
		Wrong: `contract c
state { a: string } # «byte ff»
`,
		At: "«byte ff»",
		Right: `contract c
state { a: string } # é
`,
	}
	EmptyFile = &Kind{
		Code: "empty_file", Severity: source.Error,
		What:  "nothing in the file",
		Why:   "A file says what it is in its first line; an empty one is most often a file that was not saved.",
		Wrong: ``,
		Right: `contract c
state { a: int }
`,
	}
	BadCharacter = &Kind{
		Code: "bad_character", Severity: source.Error,
		What: "a character that means nothing here",
		Why:  "The language has few marks, so that a slip of the finger is found where it is.",
		Wrong: `contract c
state { a: int; }
`,
		At: ";",
		Right: `contract c
state { a: int }
`,
	}
	BadComment = &Kind{
		Code: "bad_comment", Severity: source.Error,
		What: "a comment that does not begin with `#`",
		Why:  "`/` begins a path; only `#` begins a comment.",
		Wrong: `contract c
state { a: int } // a counter
`,
		At: "//",
		Right: `contract c
state { a: int } # a counter
`,
	}
	BadString = &Kind{
		Code: "bad_string", Severity: source.Error,
		What: "a string that is not closed, not JSON, or in other quotes",
		Why:  "Strings are JSON's, so that a text means the same in a contract and in a state.",
		Wrong: `contract c
state { level: 'low' | "high" }
`,
		At: "'low'",
		Right: `contract c
state { level: "low" | "high" }
`,
	}
	BadNumber = &Kind{
		Code: "bad_number", Severity: source.Error,
		What: "no JSON number",
		Why:  "Numbers are JSON's, so that a literal means the same in a contract and in a state.",
		Wrong: `contract c
state { agent: 007 }
`,
		At: "007",
		Right: `contract c
state { agent: 7 }
`,
	}
	BadJSON = &Kind{
		Code: "bad_json", Severity: source.Error,
		What:   "JSON in a test that is not JSON",
		Why:    "A patch or state that is written in a test is read as JSON.",
		File:   "c_test.poptic",
		Beside: map[string]string{"c.poptic": tested},
		Wrong: `test "replaces" {
  state  { "a": 1 }
  stage  s
  patch  [ {"op": "replace", "path": "/a", "value": 2 ]
  expect commit
}
`,
		At: "]",
		Right: `test "replaces" {
  state  { "a": 1 }
  stage  s
  patch  [ {"op": "replace", "path": "/a", "value": 2} ]
  expect commit
}
`,
	}
	BadName = &Kind{
		Code: "bad_name", Severity: source.Error,
		What: "a name with other characters than letters, digits and `_`",
		Why:  "Names stand in expressions, calls and error codes, where letters that look alike would be mixed up.",
		Wrong: `contract c
state { first-name: string }
`,
		At: "first-name",
		Right: `contract c
state { "first-name": string }
`,
	}
	BadPath = &Kind{
		Code: "bad_path", Severity: source.Error,
		What: "a segment that is no part of a path, or a lone `/`",
		Why:  "An empty segment is a key in JSON; nearly always it is a slip, so it has to be written as `\"\"`.",
		Wrong: `contract c
state { a: int }
region whole = /
`,
		At: "/",
		Right: `contract c
state { a: int }
region whole = /**
`,
	}
	Unclosed = &Kind{
		Code: "unclosed", Severity: source.Error,
		What: "a bracket that is never closed",
		Why:  "Where a bracket is not closed, all that follows would be read as a part of it.",
		Wrong: `contract c
state {
  a: int
`,
		Right: `contract c
state {
  a: int
}
`,
	}
	Unopened = &Kind{
		Code: "unopened", Severity: source.Error,
		What: "a bracket that closes nothing",
		Why:  "A bracket too many closes something that it was not meant to close.",
		Wrong: `contract c
state { a: int } }
`,
		At: "}",
		Right: `contract c
state { a: int }
`,
	}
	MissingHeader = &Kind{
		Code: "missing_header", Severity: source.Error,
		What: "neither `contract NAME` nor `library NAME`",
		Why:  "A contract is run and a library is imported; the first line says which one the file is.",
		Wrong: `state { a: int }
`,
		Right: `contract c
state { a: int }
`,
	}
	MisplacedHeader = &Kind{
		Code: "misplaced_header", Severity: source.Error,
		What: "a header that is not the first thing",
		Why:  "One file holds one contract or library, and says so before anything else.",
		Wrong: `type T = int
contract c
state { a: T }
`,
		At: "contract",
		Right: `contract c
type T = int
state { a: T }
`,
	}
	HeaderBraces = &Kind{
		Code: "header_braces", Severity: source.Error,
		What: "braces after the header",
		Why:  "The whole file is the contract; its declarations follow the header as they are.",
		Wrong: `contract c {
  state { a: int }
}
`,
		At: "{",
		Right: `contract c
state { a: int }
`,
	}
	UnknownDeclaration = &Kind{
		Code: "unknown_declaration", Severity: source.Error,
		What: "a word that starts no declaration",
		Why:  "A declaration starts with its keyword, so that each can be read without the others.",
		Wrong: `contract c
interface T { a: int }
state { t: T }
`,
		At: "interface",
		Right: `contract c
type T { a: int }
state { t: T }
`,
	}
	MisplacedClause = &Kind{
		Code: "misplaced_clause", Severity: source.Error,
		What: "a clause outside the braces of a stage, or in a test where it is about no step",
		Why:  "Outside of a stage nobody would be allowed what a clause allows.",
		Wrong: `contract c
state { a: int }
stage s { read /a }
write /a
`,
		At: "write",
		Right: `contract c
state { a: int }
stage s { read /a write /a }
`,
	}
	UnknownClause = &Kind{
		Code: "unknown_clause", Severity: source.Error,
		What: "a word that starts no clause",
		Why:  "A clause that is not understood could be one that forbids something.",
		Wrong: `contract c
state { a: int }
stage s { reads /a }
`,
		At: "reads",
		Right: `contract c
state { a: int }
stage s { read /a }
`,
	}
	UnknownWord = &Kind{
		Code: "unknown_word", Severity: source.Error,
		What: "a misspelt word of the grammar",
		Why:  "A misspelt word of the grammar is not guessed at; the message says which one is likely.",
		Wrong: `contract c
state { m: mpa of int }
`,
		At: "mpa",
		Right: `contract c
state { m: map of int }
`,
	}
	MisplacedWord = &Kind{
		Code: "misplaced_word", Severity: source.Error,
		What: "a word of the grammar where it means nothing, such as `blind` in a read clause",
		Why:  "A word that means nothing where it stands would be read as if it did something.",
		Wrong: `contract c
state { a: int }
stage s { read blind /a }
`,
		At: "blind /a",
		Right: `contract c
state { a?: int }
stage s { write blind /a }
`,
	}
	Unexpected = &Kind{
		Code: "unexpected", Severity: source.Error,
		What: "something where something else belongs",
		Why:  "What the grammar does not expect is not skipped: it could matter.",
		Wrong: `contract c
state { tickets: map of int  last: key of tickets }
`,
		At: "tickets",
		Right: `contract c
state { tickets: map of int  last: key of /tickets }
`,
	}
	Missing = &Kind{
		Code: "missing", Severity: source.Error,
		What: "something that must come here",
		Why:  "A part that the grammar demands has no default.",
		Wrong: `contract c
state { a: }
`,
		Right: `contract c
state { a: int }
`,
	}
	MissingName = &Kind{
		Code: "missing_name", Severity: source.Error,
		What: "a declaration without its name",
		Why:  "What is declared is used by its name, in messages and in claims.",
		Wrong: `contract c
state { a: int }
type = int
`,
		Right: `contract c
state { a: int }
type T = int
`,
	}
	MissingColon = &Kind{
		Code: "missing_colon", Severity: source.Error,
		What: "a field without `:`",
		Why:  "The colon divides a member's name from its type.",
		Wrong: `contract c
state { a int }
`,
		Right: `contract c
state { a: int }
`,
	}
	NeedlessComma = &Kind{
		Code: "needless_comma", Severity: source.Error,
		What: "a comma between fields or clauses",
		Why:  "Fields and clauses start by themselves; there is one way to write them.",
		Wrong: `contract c
state { a: int, b: int }
`,
		At: ",",
		Right: `contract c
state { a: int  b: int }
`,
	}
	DanglingComma = &Kind{
		Code: "dangling_comma", Severity: source.Error,
		What: "a comma with nothing after it",
		Why:  "Behind a comma something was meant to come, and may have been lost.",
		Wrong: `contract c
state { a: int }
stage s { read /a, }
`,
		At: ",",
		Right: `contract c
state { a: int }
stage s { read /a }
`,
	}
	AmbiguousUnion = &Kind{
		Code: "ambiguous_union", Severity: source.Error,
		What: "a `|` directly after `... of T`",
		Why:  "It could be a list of either, or a list or something else; parentheses say which.",
		Wrong: `contract c
state { a: list of int | string }
`,
		At: "list of int | string",
		Right: `contract c
state { a: list of (int | string) }
`,
	}
	MisplacedRest = &Kind{
		Code: "misplaced_rest", Severity: source.Error,
		What: "a `*:` that is not last",
		Why:  "`*: T` is about all members that are not named, so it comes after those that are.",
		Wrong: `contract c
state { *: int  a: string }
`,
		At: "*",
		Right: `contract c
state { a: string  *: int }
`,
	}
	DuplicateClause = &Kind{
		Code: "duplicate_clause", Severity: source.Error,
		What:   "a clause of a test, or of one of its steps, given twice",
		Why:    "A test starts in one place and a step is one proposal; of two clauses one would be left out.",
		File:   "c_test.poptic",
		Beside: map[string]string{"c.poptic": tested},
		Wrong: `test "waits" {
  state  { "a": 1 }
  state  { "a": 2 }
  stage  s
  expect noop
}
`,
		At: "state",
		Right: `test "waits" {
  state  { "a": 1 }
  stage  s
  expect noop
}
`,
	}
	ReservedName = &Kind{
		Code: "reserved_name", Severity: source.Error,
		What: "a name that means something already",
		Why:  "A name that has a meaning already would change what other lines mean.",
		Wrong: `contract c
state { a: int }
type int = string
`,
		At: "int",
		Right: `contract c
state { a: int }
type text = string
`,
	}
	LimitExceeded = &Kind{
		Code: "limit_exceeded", Severity: source.Error,
		What: "a limit of section 13",
		Why:  "Every limit bounds what checking may cost, so that no contract keeps a host busy for long.",
		Wrong: `contract c
state { m: map of int }
stage s(«32 p$i in /m, »p33 in /m) { read /m }
`,
		At: "p33 in /m",
		Right: `contract c
state { m: map of int }
stage s(«31 p$i in /m, »p32 in /m) { read /m }
`,
	}
	TooManyMistakes = &Kind{
		Code: "too_many_mistakes", Severity: source.Error,
		What: "more findings than are shown",
		Why:  "Beyond some hundred findings a list helps nobody; what was found is not lost, only not shown.",
		Wrong: `contract c
state { a: int }
«600 stage s$i { read /b$i }
»
`,
		Right: `contract c
state { a: int }
«600 stage s$i { read /a }
»
`,
	}
)
