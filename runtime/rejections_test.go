package runtime_test

import (
	"strings"

	"github.com/patchoptic/poptic/internal/verify"
	"github.com/patchoptic/poptic/runtime"
)

// A rejection is a proposal on version 0 of the sample instance, and the code it
// earns.
type rejection struct {
	runtime.Proposal
	code verify.Code
}

// Canaries stand wherever a patch has room for a value. The secret one may nowhere
// be seen: it stands where a value is secret or untyped. The plain one, where the
// state type says that it is neither, may be seen by who reads the trace. The one in
// paths, where a secret could be, may be seen by who wrote it, in the verdict.
const (
	secretCanary = "CANARY-SECRET"
	plainCanary  = "CANARY-PLAIN"
	pathCanary   = "CANARY-PATH"
)

// everyRejection has at least one proposal for every code that a proposal can earn
// of an engine that counts no attempts and knows no keys.
func everyRejection() []rejection {
	all := []rejection{
		reject(verify.LimitExceeded, "draft", `[{"op":"add","path":"/draft/text","value":`+strings.Repeat("[", 600)+`"$"`+strings.Repeat("]", 600)+`}]`),
		reject(verify.PatchSyntax, "draft", `[{"op":"$","path":"/draft/text","value":"$"}]`),
		reject(verify.PatchSyntax, "draft", `"$"`),
		reject(verify.PatchSyntax, "draft", `[{"op":"add","path":"/draft/text","value":"$"`),
		reject(verify.PatchSyntax, "draft", `[{"op":"add","value":"$"}]`),
		reject(verify.PointerSyntax, "draft", `[{"op":"add","path":"@","value":"$"}]`),
		reject(verify.PointerSyntax, "all", `[{"op":"add","path":"/draft/refs/01","value":"#"}]`),
		reject(verify.DuplicateKey, "draft", `[{"op":"add","path":"/draft/text","value":{"a":"$","a":"$"}}]`),
		reject(verify.ArgumentViolation, "edit", `[{"op":"add","path":"/customers/c/card","value":"$"}]`),
		reject(verify.TransitionViolation, "draft", `{"patch":[{"op":"add","path":"/internal/token","value":"$"}],"next":"review"}`),
		reject(verify.PhaseViolation, "decide", `[{"op":"add","path":"/internal/token","value":"$"}]`),
		reject(verify.RequireViolation, "strict", `[{"op":"add","path":"/customers/ann/card","value":"$"}]`),
		reject(verify.WriteScopeViolation, "draft", `[{"op":"replace","path":"/internal/token","value":"$"},{"op":"add","path":"/nowhere/x","value":"$"}]`),
		reject(verify.ReadScopeViolation, "draft", `[{"op":"test","path":"/internal/token","value":"$"}]`),
		reject(verify.PathMissing, "all", `[{"op":"replace","path":"/customers/bob/card","value":"$"}]`),
		reject(verify.IndexOutOfRange, "all", `[{"op":"add","path":"/draft/refs/7","value":"#"}]`),
		reject(verify.TestFailed, "all", `[{"op":"test","path":"/customers/ann/card","value":"$"}]`),
		reject(verify.TypeMismatch, "all", `[{"op":"add","path":"/customers/ann/card/@","value":"$"}]`),
		reject(verify.MoveIntoChild, "all", `[{"op":"move","from":"/customers/ann","path":"/customers/ann/card"}]`),
		reject(verify.SchemaViolation, "all", `[{"op":"add","path":"/customers/bob/card","value":{"$":"$"}},{"op":"add","path":"/customers/eve","value":{"name":"#","crad":"$"}},{"op":"replace","path":"/ticket/status","value":"#"}]`),
		reject(verify.InvariantViolation, "all", `[{"op":"replace","path":"/draft/refs","value":["#","#","#","#"]},{"op":"add","path":"/customers/bob/card","value":"$"}]`),
		reject(verify.ChangeViolation, "all", `[{"op":"replace","path":"/draft/text","value":"undone"},{"op":"add","path":"/customers/bob/card","value":"$"}]`),
		reject(verify.EvaluationError, "all", `[{"op":"replace","path":"/draft","value":{"text":"#","refs":["CANARY-BROKEN"]}},{"op":"add","path":"/customers/bob/card","value":"$"}]`),
	}
	unauthorised := reject(verify.Unauthorised, "root", `[{"op":"replace","path":"/internal/token","value":"$"}]`)
	unauthorised.Role = "bot"
	margin := reject(verify.InvariantViolation, "margin", `[{"op":"replace","path":"/internal","value":{"margin":7,"token":"$"}}]`)
	return append(all, unauthorised, margin)
}

// reject makes a rejection; "$" stands for the secret canary, "#" for the plain one,
// "@" for the one in paths.
func reject(code verify.Code, stage, patch string) rejection {
	patch = strings.NewReplacer("$", secretCanary, "#", plainCanary, "@", pathCanary).Replace(patch)
	role := map[string]string{"decide": "human", "root": "admin"}[stage]
	return rejection{runtime.Proposal{Stage: stage, Patch: []byte(patch), Role: role}, code}
}

// laterRejections need a first commit with a reference and stand on version 1.
func laterRejections() []rejection {
	all := []rejection{
		reject(verify.EnsureViolation, "strict", `[{"op":"add","path":"/customers/new","value":{"name":"#","card":"$"}}]`),
		reject(verify.ProduceViolation, "strict", `[{"op":"add","path":"/draft/refs/-","value":"#"},{"op":"add","path":"/customers/bob/card","value":"$"}]`),
		reject(verify.Stale, "draft", `[{"op":"replace","path":"/internal/token","value":"$"}]`),
	}
	for i := range all {
		all[i].Base = 1
	}
	all[2].Base = 0
	return all
}
