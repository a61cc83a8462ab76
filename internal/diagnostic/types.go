package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var types = Chapter{Title: "Types", Kinds: []*Kind{
	RecursiveType, KeyField, SecretKey, NotAMap, MeasureType, EachPattern, QuotedType,
}}

// Types.
var (
	RecursiveType = &Kind{
		Code: "recursive_type", Severity: source.Error,
		What: "a type that contains itself",
		Why:  "Types have a fixed depth, so that paths can be compared; what is deeper may be `any`.",
		Wrong: `contract c
state { t: T }
type T = { next: T }
`,
		At: "T",
		Right: `contract c
state { t: T }
type T = { next: any }
`,
	}
	KeyField = &Kind{
		Code: "key_field", Severity: source.Error,
		What: "a `by FIELD` that is no required string member",
		Why:  "The field is the name of the element, so each element has it, and it is a string.",
		Wrong: `contract c
state { l: list of { n: int } by n }
`,
		At: "n",
		Right: `contract c
state { l: list of { n: string } by n }
`,
	}
	SecretKey = &Kind{
		Code: "secret_key", Severity: source.Error,
		What: "a `by FIELD` that is secret, or the field of a secret element",
		Why:  "Whoever sees an element sees its key: a secret one would show.",
		Wrong: `contract c
state { l: list of { id: secret string  n: int } by id }
`,
		At: "id",
		Right: `contract c
state { l: list of { id: string  n: secret int } by id }
`,
	}
	NotAMap = &Kind{
		Code: "not_a_map", Severity: source.Error,
		What: "a reference or parameter over something without keys",
		Why:  "A parameter is a key of what it goes over, and only maps and keyed lists have keys; one that is `in` may be an element of a list or set of strings as well.",
		Wrong: `contract c
state { l: list of int }
stage s(k in /l) { read /l }
`,
		At: "/l",
		Right: `contract c
state { l: map of int }
stage s(k in /l) { read /l/{k} }
`,
	}
	MeasureType = &Kind{
		Code: "measure_type", Severity: source.Error,
		What: "a sum, min or max of something that is no number",
		Why:  "Only numbers can be added and compared.",
		Wrong: `contract c
state { name: string  price: number }
measure most = max /name
`,
		At: "/name",
		Right: `contract c
state { name: string  price: number }
measure most = max /price
`,
	}
	QuotedType = &Kind{
		Code: "quoted_type", Severity: source.Warning,
		What: "a member or argument that can only be the name of a type, as a text",
		Why:  "A text in quotation marks is a type with that text as its only value; the name of a type stands without them.",
		Wrong: `contract c
state { title: "string" }
`,
		At: `"string"`,
		Right: `contract c
state { title: string }
`,
	}
	EachPattern = &Kind{
		Code: "each_pattern", Severity: source.Error,
		What: "a rule or measure about entries whose path names none, or whose entries have no keys to name",
		Why:  "`each`, the condition of a measure and `unique` over several places are about every entry of a container; without `*` there is one, and behind `**` entries have no type. An element of a list, set or log has no key: its position changes as others come and go.",
		Wrong: `contract c
state { m: map of int }
invariant positive each e in /m { e > 0 }
`,
		At: "/m",
		Right: `contract c
state { m: map of int }
invariant positive each e in /m/* { e > 0 }
`,
	}
)
