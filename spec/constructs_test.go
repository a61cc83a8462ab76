package spec_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// conformed are constructs of the language that the verification cases use, each by a
// pattern of the text of their contracts.
var conformed = map[string]string{
	"a constant":                   `(?m)^const `,
	"a constant in a type":         `status: +OPEN \|`,
	"a definition":                 `(?m)^define `,
	"a group of roles":             `(?m)^roles `,
	"the role":                     `\brole (==|in|!=)`,
	"the actor":                    `\bactor (==|!=)`,
	"the clock":                    `\bnow (<|>|-)`,
	"a timestamp":                  `timestamp\(`,
	"a duration":                   `duration\(`,
	"a rule about changes":         `(?m)^change \w+ ("[^"]*" *)?\{`,
	"a rule about changed entries": `(?m)^change \w+ each \w+ in`,
	"a changed entry by its key":   `(?m)^change \w+ each \w+, \w+ in`,
	"an entry by its key":          `(?m)^invariant \w+ +each \w+, \w+ in`,
	"a sum with a condition":       `= sum \S+ where`,
	"a count with a condition":     `= count \S+ where`,
	"a least with a condition":     `= min \S+ where`,
	"a greatest with a condition":  `= max \S+ where`,
	"values unique together":       `unique \S+, `,
	"a decimal":                    `: decimal`,
	"a sum as an expression":       `\bsum\(`,
	"a least as an expression":     `\bmin\(`,
	"a greatest as an expression":  `\bmax\(`,
	"a message of require":         `require( +\w+)? +"`,
	"a message of ensure":          `ensure +( *\w+)? +"`,
	"a message of a constraint":    `where "`,
	"a name of require":            `require +\w+ `,
	"a name of ensure":             `ensure +\w+ `,
	"a member in backquotes":       "\\.`",
	"a value as an argument":       `stage \w+\([^)]*\w+: `,
	"a secret value":               `stage \w+\([^)]*\w+: secret`,
	"an element of a set":          `in /users/\{user\}/orders`,
	"a right":                      `write +(create|update|delete)`,
	"a condition on binding":       `(?s)stage \w+\([^)]* in /[^)]* where \{`,
	"a member of one alternative":  `\.ok \?`,
	"a disclosed condition":        `discloses +\w`,
}

func TestTheVerificationCasesUseEveryConstruct(t *testing.T) {
	files, err := filepath.Glob("conformance/verify/*.json")
	require.NoError(t, err)
	var all strings.Builder
	for _, name := range files {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		var file struct {
			Contract json.RawMessage
			Cases    []struct{ Contract json.RawMessage }
		}
		require.NoError(t, json.Unmarshal(data, &file))
		for _, c := range append(file.Cases, struct{ Contract json.RawMessage }{file.Contract}) {
			var lines []string
			if json.Unmarshal(c.Contract, &lines) == nil {
				all.WriteString(strings.Join(lines, "\n") + "\n")
			}
		}
	}
	for what, pattern := range conformed {
		require.True(t, regexp.MustCompile(pattern).MatchString(all.String()), what)
	}
}
