package diagnostic

import "github.com/patchoptic/poptic/lang/source"

var expressions = Chapter{Title: "Expressions", Kinds: []*Kind{
	CELSyntax, ExpressionEnvironment, CELTooLarge, UnknownName, UnknownMember, UnknownFunction,
	OperandTypes, NotBool, UnguardedOptional, ConstantComparison, LogValue, BagOrder, NoIndex,
	NotARange, WholeStateRule, BadRegexp,
}}

// Expressions.
var (
	CELSyntax = &Kind{
		Code: "cel_syntax", Severity: source.Error,
		What: "no CEL expression",
		Why:  "Rules are CEL; what cannot be parsed says nothing.",
		Wrong: `contract c
state { a: int }
invariant positive { state.a > }
`,
		Right: `contract c
state { a: int }
invariant positive { state.a > 0 }
`,
	}
	ExpressionEnvironment = &Kind{
		Code: "expression_environment", Severity: source.Error,
		What: "the expressions cannot be checked at all",
		Why:  "It says that the program itself is at fault: the library that checks expressions refused the contract's types.",
	}
	CELTooLarge = &Kind{
		Code: "cel_too_large", Severity: source.Error,
		What: "an expression beyond a limit of section 13",
		Why:  "What checking and running a rule costs grows with it.",
		Wrong: `contract c
state { a: int }
invariant positive { «2000 state.a > 0 && »true }
`,
		Right: `contract c
state { a: int }
invariant positive { state.a > 0 }
`,
	}
	UnknownName = &Kind{
		Code: "unknown_name", Severity: source.Error,
		What: "a name that is not in scope",
		Why:  "A rule sees `state`, or what its clause gives it, and nothing else.",
		Wrong: `contract c
state { a: int }
invariant positive { a > 0 }
`,
		At: "a",
		Right: `contract c
state { a: int }
invariant positive { state.a > 0 }
`,
	}
	UnknownMember = &Kind{
		Code: "unknown_member", Severity: source.Error,
		What: "a member that the type does not have",
		Why:  "A member that the type does not have is in no state.",
		Wrong: `contract c
state { a: int }
invariant positive { state.b > 0 }
`,
		At: "b",
		Right: `contract c
state { a: int }
invariant positive { state.a > 0 }
`,
	}
	UnknownFunction = &Kind{
		Code: "unknown_function", Severity: source.Error,
		What: "a function that does not exist",
		Why:  "Expressions have a fixed set of functions, each with a known cost.",
		Wrong: `contract c
state { m: map of int }
invariant some { len(state.m) > 0 }
`,
		At: "len",
		Right: `contract c
state { m: map of int }
invariant some { size(state.m) > 0 }
`,
	}
	OperandTypes = &Kind{
		Code: "operand_types", Severity: source.Error,
		What: "operands an operator or function does not take",
		Why:  "An operator that does not take its operands has no value, and the rule would be violated always.",
		Wrong: `contract c
state { a: int  s: string }
invariant i { state.a + state.s == "1x" }
`,
		At: "state.a + state.s",
		Right: `contract c
state { a: int  s: string }
invariant i { string(state.a) + state.s == "1x" }
`,
	}
	NotBool = &Kind{
		Code: "not_bool", Severity: source.Error,
		What: "a rule that yields something other than true or false",
		Why:  "A rule holds or does not; a value is neither.",
		Wrong: `contract c
state { a: int }
invariant positive { state.a }
`,
		At: "state.a",
		Right: `contract c
state { a: int }
invariant positive { state.a > 0 }
`,
	}
	UnguardedOptional = &Kind{
		Code: "unguarded_optional", Severity: source.Error,
		What: "an optional member used without asking for it",
		Why:  "Where the member is missing the rule has no value, and is violated.",
		Wrong: `contract c
state { a?: int }
invariant positive { state.a > 0 }
`,
		At: "state.a",
		Right: `contract c
state { a?: int }
invariant positive { !has(state.a) || state.a > 0 }
`,
	}
	ConstantComparison = &Kind{
		Code: "constant_comparison", Severity: source.Error,
		What: "a comparison that can never hold",
		Why:  "A comparison that can never hold is a slip, and makes its rule say something else.",
		Wrong: `contract c
state { level: int }
invariant i { state.level == "hihg" }
`,
		At: `state.level == "hihg"`,
		Right: `contract c
state { level: "high" | "low" }
invariant i { state.level == "high" }
`,
	}
	LogValue = &Kind{
		Code: "log_value", Severity: source.Error,
		What: "a log used as a value",
		Why:  "The order of a log's entries is no part of the state, and its value would have one.",
		Wrong: `contract c
state { h: log of int }
invariant none { state.h == [] }
`,
		At: "state.h",
		Right: `contract c
state { h: log of int }
invariant none { size(state.h) == 0 }
`,
	}
	BagOrder = &Kind{
		Code: "bag_order", Severity: source.Error,
		What: "a value that would depend on the order of a set's or log's elements",
		Why:  "Two states that are equal would give different answers.",
		Wrong: `contract c
state { h: log of int }
invariant none { state.h.map(x, x) == [] }
`,
		At: "state.h.map(x, x)",
		Right: `contract c
state { h: log of int }
invariant none { !state.h.exists(x, x > 0) }
`,
	}
	NoIndex = &Kind{
		Code: "no_index", Severity: source.Error,
		What: "an index where there is no position, or by the wrong kind of key",
		Why:  "A list goes by position and a map by key; the other kind finds nothing.",
		Wrong: `contract c
state { l: list of int }
invariant i { state.l["first"] == 1 }
`,
		At: `"first"`,
		Right: `contract c
state { l: map of int }
invariant i { !("first" in state.l) || state.l["first"] == 1 }
`,
	}
	NotARange = &Kind{
		Code: "not_a_range", Severity: source.Error,
		What: "a macro over something that is no collection",
		Why:  "A macro goes over elements, and a number has none.",
		Wrong: `contract c
state { a: int }
invariant i { state.a.all(x, x > 0) }
`,
		At: "state.a",
		Right: `contract c
state { a: list of int }
invariant i { state.a.all(x, x > 0) }
`,
	}
	WholeStateRule = &Kind{
		Code: "whole_state_rule", Severity: source.Info,
		What: "a rule that goes through a whole container whenever it is checked, and so costs more in a larger state",
		Why:  "It runs at each commit that touches what it reads, and costs more in a larger state.",
		Wrong: `contract c
state { m: map of int }
invariant i { state.m.exists(k, state.m[k] > 0) }
`,
		At: " state.m.exists(k, state.m[k] > 0) ",
		Right: `contract c
state { m: map of int }
invariant i each n in /m/* { n > 0 }
`,
	}
	BadRegexp = &Kind{
		Code: "bad_regexp", Severity: source.Error,
		What: "a regular expression that does not compile",
		Why:  "Regular expressions are compiled when the contract is, so that none fails when it is run.",
		Wrong: `contract c
state { s: string }
invariant i { state.s.matches("(") }
`,
		At: `"("`,
		Right: `contract c
state { s: string }
invariant i { state.s.matches("^[(]") }
`,
	}
)
