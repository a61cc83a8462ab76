package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var names = Chapter{Title: "Files and names", Kinds: []*Kind{
	Unreadable, ImportNotFound, ImportPath, ImportCycle, NotALibrary, NotInLibrary, MissingState,
	DeclaredTwice, UnknownImport, UnknownType, UnknownRegion, UnknownPhase, UnknownStage, UnknownGate, UnknownRole, RecursiveDefinition,
}}

// Files and names.
var (
	Unreadable = &Kind{
		Code: "unreadable", Severity: source.Error,
		What: "a file that cannot be read",
		Why:  "Nothing can be said about a file that cannot be opened.",
	}
	ImportNotFound = &Kind{
		Code: "import_not_found", Severity: source.Error,
		What: "an import of a file that does not exist",
		Why:  "What a library declares is needed to read the file that imports it.",
		Beside: map[string]string{
			"shared.poptic": "library shared\n",
		},
		Wrong: `contract c
import "./other.poptic"
state { a: int }
`,
		At: `"./other.poptic"`,
		Right: `contract c
import "./shared.poptic"
state { a: int }
`,
	}
	ImportPath = &Kind{
		Code: "import_path", Severity: source.Error,
		What: "an import that is neither `std/NAME` nor a relative path within the root",
		Why:  "A contract is the same wherever it lies, and reads nothing outside of its folder.",
		Beside: map[string]string{
			"shared.poptic": "library shared\n",
		},
		Wrong: `contract c
import "../../shared.poptic"
state { a: int }
`,
		At: `"../../shared.poptic"`,
		Right: `contract c
import "./shared.poptic"
state { a: int }
`,
	}
	ImportCycle = &Kind{
		Code: "import_cycle", Severity: source.Error,
		What: "an import that leads back to its file",
		Why:  "A library is read before what imports it; in a circle none comes first.",
		Beside: map[string]string{
			"ring.poptic": "library ring\nimport \"./ring.poptic\"\n",
			"line.poptic": "library line\n",
		},
		Wrong: `contract c
import "./ring.poptic"
state { a: int }
`,
		At: `"./ring.poptic"`,
		Right: `contract c
import "./line.poptic"
state { a: int }
`,
	}
	NotALibrary = &Kind{
		Code: "not_a_library", Severity: source.Error,
		What: "an import of a contract",
		Why:  "A contract has a state and stages of its own, which an import could not give to another.",
		Beside: map[string]string{
			"whole.poptic": "contract whole\nstate { a: int }\n",
			"part.poptic":  "library part\n",
		},
		Wrong: `contract c
import "./whole.poptic"
state { a: int }
`,
		At: `"./whole.poptic"`,
		Right: `contract c
import "./part.poptic"
state { a: int }
`,
	}
	NotInLibrary = &Kind{
		Code: "not_in_library", Severity: source.Error,
		What: "a declaration that a library cannot hold",
		Why:  "What a library declares is about no state yet; a stage of it could not be checked.",
		Wrong: `library l
stage s { read /a }
`,
		At: "stage s { read /a }",
		Right: `library l
region a = /a
`,
	}
	MissingState = &Kind{
		Code: "missing_state", Severity: source.Error,
		What: "a contract without a state",
		Why:  "Paths, rules and stages are checked against the type of the state.",
		Wrong: `contract c
type T = int
`,
		At: "contract c",
		Right: `contract c
type T = int
state { a: T }
`,
	}
	DeclaredTwice = &Kind{
		Code: "declared_twice", Severity: source.Error,
		What: "two declarations of one name",
		Why:  "A name that means two things would mean the one or the other by accident.",
		Wrong: `contract c
state { a: int }
stage s { read /a }
stage s { read /a write /a }
`,
		At: "s",
		Right: `contract c
state { a: int }
stage s { read /a }
stage t { read /a write /a }
`,
	}
	UnknownImport = &Kind{
		Code: "unknown_import", Severity: source.Error,
		What: "an alias that no import has",
		Why:  "Names of a library are written behind the name under which it is imported.",
		Wrong: `contract c
state { a: pii.Email }
`,
		At: "pii.Email",
		Right: `contract c
import "std/pii"
state { a: pii.Email }
`,
	}
	UnknownType = &Kind{
		Code: "unknown_type", Severity: source.Error,
		What: "a type that is not declared",
		Why:  "A type that is not known would have to count as any.",
		Wrong: `contract c
state { a: Emial }
type Email = string
`,
		At: "Emial",
		Right: `contract c
state { a: Email }
type Email = string
`,
	}
	UnknownRegion = &Kind{
		Code: "unknown_region", Severity: source.Error,
		What: "a region that is not declared",
		Why:  "A region that is not known would grant nothing, or everything.",
		Wrong: `contract c
state { a: int }
region account = /a
stage s { read acount }
`,
		At: "acount",
		Right: `contract c
state { a: int }
region account = /a
stage s { read account }
`,
	}
	UnknownPhase = &Kind{
		Code: "unknown_phase", Severity: source.Error,
		What: "a phase that is not declared",
		Why:  "A stage in a phase that does not exist could never run.",
		Wrong: `contract c
state { a: int }
phases { open }
stage s { in closed read /a }
`,
		At: "closed",
		Right: `contract c
state { a: int }
phases { open }
stage s { in open read /a }
`,
	}
	UnknownStage = &Kind{
		Code: "unknown_stage", Severity: source.Error,
		What: "a stage that is not declared",
		Why:  "A claim about a stage that does not exist would hold, and say nothing.",
		Wrong: `contract c
state { a: int }
stage s { read /a }
prove s commutes with t
`,
		At: "t",
		Right: `contract c
state { a: int }
stage s { read /a }
stage t { read /a }
prove s commutes with t
`,
	}
	UnknownRole = &Kind{
		Code: "unknown_role", Severity: source.Warning,
		What: "a role that one stage alone names, and that is called nearly as a group or one of its roles",
		Why:  "Roles are not declared. Where there are groups of them, a slip in a name is told by this.",
		Wrong: `contract c
state { a: int }
roles staff = clerk, manager
stage s { by staf  read /a  write /a }
`,
		At: "staf",
		Right: `contract c
state { a: int }
roles staff = clerk, manager
stage s { by staff  read /a  write /a }
`,
	}
	RecursiveDefinition = &Kind{
		Code: "recursive_definition", Severity: source.Error,
		What: "a definition or a group of roles that contains itself",
		Why:  "What it stands for is written out where it is used, which must end.",
		Wrong: `contract c
state { a: int }
define small(n) = { n < 9 && small(n + 1) }
invariant i { small(state.a) }
`,
		At: "small",
		Right: `contract c
state { a: int }
define small(n) = { n < 9 }
invariant i { small(state.a) }
`,
	}
	UnknownGate = &Kind{
		Code: "unknown_gate", Severity: source.Error,
		What: "a gate that does not exist, in `discloses` or in what a test expects",
		Why:  "A disclosure declares one gate; of one that does not exist it would declare nothing.",
		Wrong: `contract c
state { a: int  b: int }
invariant small { state.a < state.b }
stage s { read /a write /a discloses smal }
`,
		At: "smal",
		Right: `contract c
state { a: int  b: int }
invariant small { state.a < state.b }
stage s { read /a write /a discloses small }
`,
	}
)
