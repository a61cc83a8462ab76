package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var claims = Chapter{Title: "Disclosure and claims", Kinds: []*Kind{
	UndisclosedGate, NeedlessDisclosure, NoSharedPhase, ClaimRefuted, ClaimUnknown,
}}

// Disclosure and claims.
var (
	UndisclosedGate = &Kind{
		Code: "undisclosed_gate", Severity: source.Warning,
		Unless: "an error in a sealed contract",
		What:   "a gate that tells one bit and is not declared",
		Why:    "Whether a patch is accepted tells one bit about what the rule reads and the stage does not see. That may be meant, but never goes unsaid.",
		Wrong: `contract c
state { a: int  most: int }
invariant i { state.a < state.most }
stage s { read /a write /a }
`,
		At: "s",
		Right: `contract c
state { a: int  most: int }
invariant i { state.a < state.most }
stage s { read /a write /a discloses i }
`,
	}
	NeedlessDisclosure = &Kind{
		Code: "needless_disclosure", Severity: source.Warning,
		What: "a `discloses` that discloses nothing",
		Why:  "Who reads it would believe that something is told.",
		Wrong: `contract c
state { a: int }
invariant i { state.a < 3 }
stage s { read /a write /a discloses i }
`,
		At: "i",
		Right: `contract c
state { a: int }
invariant i { state.a < 3 }
stage s { read /a write /a }
`,
	}
	NoSharedPhase = &Kind{
		Code: "no_shared_phase", Severity: source.Error,
		What: "a claim about stages that never meet",
		Why:  "A claim about stages that never run side by side holds, and says nothing.",
		Wrong: `contract c
state { a: int }
phases { p -> q by host  q }
stage s { in p read /a }
stage t { in q read /a }
prove s commutes with t
`,
		At: "t",
		Right: `contract c
state { a: int }
phases { p -> q by host  q }
stage s { in p, q read /a }
stage t { in q read /a }
prove s commutes with t
`,
	}
	ClaimRefuted = &Kind{
		Code: "claim_refuted", Severity: source.Error,
		What: "a claim that is false",
		Why:  "The contract allows what the claim excludes: one of the two is not what was meant.",
		Wrong: `contract c
state { a: int  b: int }
stage s { read /a write /a }
prove no stage writes /a
`,
		At: "prove no stage writes /a",
		Right: `contract c
state { a: int  b: int }
stage s { read /a write /a }
prove no stage writes /b
`,
	}
	ClaimUnknown = &Kind{
		Code: "claim_unknown", Severity: source.Error,
		What: "a claim that is neither proved nor refuted",
		Why:  "What is not proved counts as false: nobody may rely on it.",
		Wrong: `contract c
state { a: int }
stage s { read /a write /a }
prove s commutes with s
`,
		At: "prove s commutes with s",
		Right: `contract c
state { a: map of int }
stage s(k in /a) { read /a/{k} write /a/{k} }
prove s commutes with s when k differs
`,
	}
)
