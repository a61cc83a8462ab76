package compiler_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

const shelf = "contract shelf\nstate { m: map of int  n: map of int  g: log of int  s: map of int }\n"

func TestRightsBelongToTheGrantAfterThem(t *testing.T) {
	for _, c := range []struct{ write, want string }{
		{"/m, /n", "/m [create update delete]; /n [create update delete]"},
		{"create /m, /n", "/m [create]; /n [create update delete]"},
		{"create, update /m, /n", "/m [create update]; /n [create update delete]"},
		{"delete, create /m, update /n", "/m [create delete]; /n [update]"},
		{"create (/m, /n)", "/m [create]; /n [create]"},
		{"create both", "/m [create]; /n [create]"},
		{"update both & /m", "/m [update]"},
		{"update /m except /m/k, create /g/-", "/m [update]; /g/- [create]"},
		{"create, update, delete /m", "/m [create update delete]"},
		{"blind /m/*, delete /n", "/n [delete]"},
	} {
		out := compile(shelf + "region both = /m, /n\nstage s { read /m, /n, /s  write " + c.write + " }\n")
		require.NotNil(t, out.Contract, "%s: %v", c.write, out.Diagnostics)
		s := out.Contract.Stage("s")
		require.Equal(t, c.want, rightsOf(s), c.write)
		again, err := ir.Decode(ir.Encode(out.Contract))
		require.NoError(t, err)
		require.Equal(t, s.Rights, again.Stage("s").Rights)
	}
}

func TestWordsOfGrantsStandBeforeAWholeGrantOfAWriteClause(t *testing.T) {
	for _, c := range []struct{ stage, code, at string }{
		{"read create /m", "misplaced_word", "create"},
		{"read /m  source /m  delegable update /m", "misplaced_word", "update"},
		{"read /m, /n  write (create /m, /n)", "misplaced_word", "create"},
		{"read /m, /n  write create (update /m, /n)", "misplaced_word", "update"},
		{"read /m  write /m except (delete /m/k)", "unexpected", ""},
		{"read /m, /n  write (/m, blind /n/*)", "misplaced_word", "blind /n/*"},
		{"read /m  write create, create /m", "listed_twice", "create"},
		{"read /m  write create, /m", "", ""},
		{"read /m  write create", "", ""},
		{"read /m  write create blind /m/*", "", ""},
	} {
		out := compile(shelf + "stage s { " + c.stage + " }\n")
		require.NotEmpty(t, out.Diagnostics, c.stage)
		if c.at != "" {
			require.Equal(t, c.code, out.Diagnostics[0].Code, c.stage)
			require.Equal(t, c.at, out.Diagnostics[0].Span.Text(), c.stage)
		}
		require.Nil(t, out.Contract, c.stage)
	}
	for _, decl := range []string{"region r = create /m", "region r = blind /m/*", "prove no stage writes delete /m", "prove no flow from update /m to delete (/n)"} {
		out := compile(shelf + decl + "\n")
		require.NotEmpty(t, out.Diagnostics, decl)
		require.Equal(t, "misplaced_word", out.Diagnostics[0].Code, decl)
	}
}

func TestARegionMayBeCalledAsARight(t *testing.T) {
	for _, c := range []struct{ write, want string }{
		{"create", "/m [create update delete]"},
		{"create, update", "/m [create update delete]; /n [create update delete]"},
		{"create, /n", "/m [create update delete]; /n [create update delete]"},
		{"create, update, delete", "/m [create update delete]; /n [create update delete]; /s [create update delete]"},
		{"create create", "/m [create]"},
		{"delete update, create", "/n [delete]; /m [create update delete]"},
		{"create, update update", "/n [create update]"},
		{"delete (create, update)", "/m [delete]; /n [delete]"},
		{"create except /m/k", "/m [create update delete]"},
		{"update /m & create", "/m [update]"},
	} {
		out := compile(shelf + "region create = /m\nregion update = /n\nregion delete = /s\nstage s { read /m, /n, /s  write " + c.write + " }\n")
		require.NotNil(t, out.Contract, "%s: %v", c.write, out.Diagnostics)
		require.Equal(t, c.want, rightsOf(out.Contract.Stage("s")), c.write)
	}
}

// rightsOf writes what each grant of a stage lets happen.
func rightsOf(s *ir.Stage) string {
	text := ""
	for i, g := range s.Write {
		text += fmt.Sprint("; ", g.Include[0].Source(), " ", s.RightsOf(i).Words())
	}
	return strings.TrimPrefix(text, "; ")
}

func TestAStageThatIsCalledAsARightIsNoRight(t *testing.T) {
	out := compile(shelf + `type T { create: int }
stage create(id new in /m) { write create /m/{id} }
stage update(id in /m) { read /m/{id}  write update /m/{id} }
delegate delete from update { }
compose both = create + update
prove update commutes with update when id differs
`)
	require.NotNil(t, out.Contract, "%v", out.Diagnostics)
}
