package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var regions = Chapter{Title: "Paths and regions", Kinds: []*Kind{
	NoSuchPath, ParameterInRecord, NotOnePlace, TooManyChoices, PositionInRead, ElementOfBag, LogSource,
	DashOutsideLog, DashOutsideWrite, DashNotLast, RecursiveRegion, InexactRegion, EmptyGrant, GivenBack, LiteralSegment,
	TooManySecrets, ExceptedKey, NotRead, ParentUncertain,
}}

// Paths and regions.
var (
	NoSuchPath = &Kind{
		Code: "no_such_path", Severity: source.Error,
		What: "a segment below something that has nothing below it",
		Why:  "A path that no state has grants nothing, and is most often a path that was meant to be another.",
		Wrong: `contract c
state { a: int }
stage s { read /a/b }
`,
		At: "b",
		Right: `contract c
state { a: { b: int } }
stage s { read /a/b }
`,
	}
	ParameterInRecord = &Kind{
		Code: "parameter_in_record", Severity: source.Error,
		What: "a parameter in place of a record's member",
		Why:  "A parameter is a key of a map. A record's members are fixed, and have types of their own.",
		Wrong: `contract c
state { r: { x: int  y: int }  m: map of int }
stage s(k in /m) { read /r/{k} }
`,
		At: "{k}",
		Right: `contract c
state { r: { x: int  y: int }  m: map of int }
stage s(k in /m) { read /r/x, /m/{k} }
`,
	}
	NotOnePlace = &Kind{
		Code: "not_one_place", Severity: source.Error,
		What: "a path that must lead to one place and leads to many",
		Why:  "A value is taken from one place; of many it would be any of them.",
		Wrong: `contract c
state { m: map of { owner: string } }
stage s(u = /m/*/owner) { read /m }
`,
		At: "*",
		Right: `contract c
state { m: map of { owner: string } }
stage s(k in /m, u = /m/{k}/owner) { read /m }
`,
	}
	TooManyChoices = &Kind{
		Code: "too_many_choices", Severity: source.Error,
		What: "alternatives that multiply to too many paths",
		Why:  "Alternatives multiply, and each of their combinations is a pattern to check.",
		Wrong: `contract c
state any
stage s { read «6 /(a|b|c|d|e|f|g|h)» }
`,
		Right: `contract c
state any
stage s { read «6 /*» }
`,
	}
	PositionInRead = &Kind{
		Code: "position_in_read", Severity: source.Error,
		What: "a read region that depends on the position in a list",
		Why:  "An insertion before the position would move what is hidden into sight.",
		Wrong: `contract c
state { l: list of int }
stage s { read /l/0 }
`,
		At: "0",
		Right: `contract c
state { l: list of int }
stage s { read /l }
`,
	}
	ElementOfBag = &Kind{
		Code: "element_of_bag", Severity: source.Error,
		What: "a single element of a set or log written or taken",
		Why:  "The elements of a set or log have no place of their own, so one alone cannot be written or taken.",
		Wrong: `contract c
state { h: log of int }
stage s { read /h write /h/* }
`,
		At: "*",
		Right: `contract c
state { h: log of int }
stage s { read /h write /h/- }
`,
	}
	LogSource = &Kind{
		Code: "log_source", Severity: source.Warning,
		What: "a `source` that leads to a log, whose entries are never one",
		Why:  "`copy` and `move` refuse the entries of a log, and a `test` needs no more than `read`.",
		Wrong: `contract c
state { h: log of int }
stage s { read /h source /h }
`,
		At: "/h",
		Right: `contract c
state { h: log of int }
stage s { read /h }
`,
	}
	DashOutsideLog = &Kind{
		Code: "dash_outside_log", Severity: source.Error,
		What: "`-` on something that is neither log nor set",
		Why:  "What is added to a list lands at a position, which may be anybody's; only logs and sets grow without one.",
		Wrong: `contract c
state { l: list of int }
stage s { read /l write /l/- }
`,
		At: "-",
		Right: `contract c
state { l: log of int }
stage s { read /l write /l/- }
`,
	}
	DashOutsideWrite = &Kind{
		Code: "dash_outside_write", Severity: source.Error,
		What: "`-` outside a write clause",
		Why:  "`-` is an entry that is not there yet; there is nothing in it to see or to take.",
		Wrong: `contract c
state { h: log of int }
stage s { read /h/- }
`,
		At: "-",
		Right: `contract c
state { h: log of int }
stage s { read /h }
`,
	}
	DashNotLast = &Kind{
		Code: "dash_not_last", Severity: source.Error,
		What: "something after `-`",
		Why:  "An entry is added as a whole; it has no parts before it is there.",
		Wrong: `contract c
state { h: log of { x: int } }
stage s { write /h/-/x }
`,
		At: "-",
		Right: `contract c
state { h: log of { x: int } }
stage s { write /h/- }
`,
	}
	RecursiveRegion = &Kind{
		Code: "recursive_region", Severity: source.Error,
		What: "a region that contains itself",
		Why:  "A region is a list of paths; one that contains itself has none to begin with.",
		Wrong: `contract c
state { a: int  b: int }
region r = /a, q
region q = /b, r
`,
		At: "q",
		Right: `contract c
state { a: int  b: int }
region r = /a
region q = /b, r
`,
	}
	InexactRegion = &Kind{
		Code: "inexact_region", Severity: source.Error,
		What: "an `&` or `except` whose result is no list of paths",
		Why:  "A region is a finite list of paths and exceptions; what cannot be written as one cannot be checked.",
		Wrong: `contract c
state { m: map of { f: int  g: int } }
region a = /m except /m/*/f
region b = a except a, a
region c = b except b, b
region d = c except c, c
`,
		Right: `contract c
state { m: map of { f: int  g: int } }
region d = /m except /m/*/f
`,
	}
	GivenBack = &Kind{
		Code: "given_back", Severity: source.Error,
		What: "a grant that lies within one before it which has exceptions: its comma ends them",
		Why:  "`read /a except /a/b, /a/c` shows `/a/c`, where two exceptions were meant.",
		Wrong: `contract c
state { people: map of { name: string  email: string  card: string } }
stage look(p in /people) { read /people/{p} except /people/{p}/email, /people/{p}/card }
`,
		At: "/people/{p}/card",
		Right: `contract c
state { people: map of { name: string  email: string  card: string } }
stage look(p in /people) { read /people/{p} except (/people/{p}/email, /people/{p}/card) }
`,
	}
	LiteralSegment = &Kind{
		Code: "literal_segment", Severity: source.Warning,
		What: "a key of a map that is spelled like a parameter of the stage or like a pattern",
		Why:  "A segment without braces is a key, and one in quotation marks no pattern: it matches itself and nothing else.",
		Wrong: `contract c
state { notes: map of { title: string } }
stage look(note in /notes) { read /notes/note, /notes/{note}/title }
`,
		At: "note",
		Right: `contract c
state { notes: map of { title: string } }
stage look(note in /notes) { read /notes/{note} }
`,
	}
	EmptyGrant = &Kind{
		Code: "empty_grant", Severity: source.Warning,
		What: "an `&` without a common path, or a grant of which its exceptions leave nothing to see, or no place that may be changed or taken as a whole",
		Why:  "A grant that grants nothing looks like one that does.",
		Wrong: `contract c
state { a: int  b: int }
stage s { read /a & /b }
`,
		At: "/a & /b",
		Right: `contract c
state { a: int  b: int }
stage s { read /a, /b }
`,
	}
	TooManySecrets = &Kind{
		Code: "too_many_secrets", Severity: source.Error,
		What: "more secret places than the limit",
		Why:  "Each secret place is a pattern of `secrets`, which is compared with every region.",
		Wrong: `contract c
state {«4097 a$i: secret int »}
`,
		Right: `contract c
state { secrets: secret {«4097 a$i: int »} }
`,
	}
	ExceptedKey = &Kind{
		Code: "excepted_key", Severity: source.Error,
		What: "an exception on a key field of elements that a stage sees",
		Why:  "An element shows under its key, so an exception on the key field hides nothing.",
		Wrong: `contract c
state { l: list of { id: string  n: int } by id }
stage s { read /l except /l/*/id }
`,
		At: "read /l except /l/*/id",
		Right: `contract c
state { l: list of { id: string  n: int } by id }
stage s { read /l except /l/*/n }
`,
	}
	NotRead = &Kind{
		Code: "not_read", Severity: source.Error,
		What: "a write or source that the stage does not read",
		Why:  "Whether a patch is accepted would tell the stage about what it does not see.",
		Wrong: `contract c
state { a: int }
stage s { write /a }
`,
		At: "/a",
		Right: `contract c
state { a: int }
stage s { read /a write /a }
`,
	}
	ParentUncertain = &Kind{
		Code: "parent_uncertain", Severity: source.Error,
		What: "an unseen write whose parent may be missing",
		Why:  "Adding to what may be missing tells by success whether it is there.",
		Wrong: `contract c
state { h?: log of int }
stage s { write /h/- }
`,
		At: "/h/-",
		Right: `contract c
state { h: log of int }
stage s { write /h/- }
`,
	}
)
