package compiler_test

import (
	"context"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/compiler"
	"github.com/patchoptic/poptic/internal/suite/replay"
	"github.com/patchoptic/poptic/lang/source"
)

// dripping is a context that ends after it was asked so often whether it has.
type dripping struct {
	context.Context
	mu    sync.Mutex
	left  int
	after int // how often it was asked after it had ended
	done  chan struct{}
}

func newDripping(left int) *dripping {
	return &dripping{Context: context.Background(), left: left, done: make(chan struct{})}
}

func (d *dripping) Done() <-chan struct{} { return d.done }

func (d *dripping) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left--; d.left >= 0 {
		return nil
	}
	if d.left == -1 {
		close(d.done)
	}
	d.after++
	return context.Canceled
}

func TestCompilingEndsWithItsContext(t *testing.T) {
	text := familyNamed(t, "as many parameters as there may be").write(8)
	files := fstest.MapFS{"c.poptic": {Data: []byte(text)}}
	whole, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic", Replay: replay.New(replay.Options{})})
	require.NoError(t, err)
	require.NotEmpty(t, whole.Diagnostics)
	ended := 0
	for left := 0; ; left++ {
		ctx := newDripping(left)
		out, err := compiler.Compile(ctx, compiler.Input{FS: files, Path: "c.poptic", Replay: replay.New(replay.Options{})})
		if err == nil {
			require.Zero(t, ctx.after)
			require.Equal(t, len(whole.Diagnostics), len(out.Diagnostics))
			break
		}
		ended++
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, compiler.Output{}, out)
	}
	require.Greater(t, ended, 20)
}

// Sources that take long in the parser, in the checker, about gates, and about claims.
func TestCompilingEndsSoonAfterItsDeadline(t *testing.T) {
	if testing.Short() {
		t.Skip("it measures time")
	}
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			files := fstest.MapFS{"c.poptic": {Data: []byte(f.write(400))}}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			start := time.Now()
			_, err := compiler.Compile(ctx, compiler.Input{FS: files, Path: "c.poptic", Replay: replay.New(replay.Options{})})
			took := time.Since(start)
			if err != nil {
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			t.Logf("%v %v", took, err)
			require.Less(t, took, 2*time.Second)
		})
	}
}

const faulty = `contract c
state { a: int  b: int  m: map of int }
phases { p }
invariant small { state.a < 10 }
invariant wrong { state.c < 10 }
stage good(k in /m) { in p read /a, /m/{k} write /m/{k} }
stage bad { in p read /c write /b }
delegate child from bad { in p }
prove no stage writes /a
prove bad within good
`

func TestADraftIsWhatNoErrorTouches(t *testing.T) {
	out := compile(faulty)
	require.True(t, source.HasErrors(out.Diagnostics))
	require.Nil(t, out.Contract)
	require.Nil(t, out.Lowered)
	require.Len(t, out.Draft.Stages, 1)
	require.Equal(t, "good", out.Draft.Stages[0].Name)
	require.Equal(t, "k", out.Draft.Stages[0].Params[0].Name)
	require.Len(t, out.Draft.Invariants, 1)
	require.Equal(t, "small", out.Draft.Invariants[0].Name)
	require.Len(t, out.Draft.Claims, 1)
	require.Equal(t, "p", out.Draft.Phases[0].Name)

	for name, text := range map[string]string{
		"a mistake of the grammar": "contract c\nstate { a: int }\nstage s { read /a }\nstage t { reed /a }\n",
		"an unknown type":          "contract c\nstate { a: int  b: Nix }\nstage s { read /a }\n",
		"no state":                 "contract c\nstage s { read /a }\n",
		"a library that is not":    "contract c\nimport \"./gone.poptic\"\nstate { a: int  b: gone.T }\nstage s { read /a }\n",
		"a claim that is false":    "contract c\nstate { a: int }\nstage s { read /a write /a }\nprove no stage writes /a\n",
		"none":                     "contract c\nstate { a: int }\nstage s { read /a }\n",
	} {
		out := compile(text)
		require.Equal(t, name == "none", out.Contract != nil, name)
		require.NotNil(t, out.Draft, name)
		require.Equal(t, "s", out.Draft.Stages[0].Name, name)
	}
	require.Nil(t, compile("library l\ntype T = int\n").Draft)
	require.Nil(t, compile("").Draft.Stages)
}

func TestClaimsAreDecidedOnRequest(t *testing.T) {
	for name, text := range map[string]string{
		"true":        "contract c\nstate { a: int  b: int }\nstage s { read /a write /a }\nprove no stage writes /b\n",
		"false":       "contract c\nstate { a: int  b: int }\nstage s { read /a write /a }\nprove no stage writes /a\n",
		"with errors": faulty + "prove no stage writes /m\n",
		"none":        "contract c\nstate { a: int }\nstage s { read /a write /a }\n",
	} {
		files := fstest.MapFS{"c.poptic": {Data: []byte(text)}}
		at := compile(text)
		left, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic", LeaveClaims: true})
		require.NoError(t, err)
		require.Empty(t, left.Results)
		require.Equal(t, name == "none", left.Contract != nil, name)
		for _, d := range left.Diagnostics {
			require.NotEqual(t, "claim_refuted", d.Code, name)
		}
		before := len(left.Diagnostics)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, left.Decide(ended, nil), context.Canceled)
		require.Len(t, left.Diagnostics, before)
		for range 2 {
			require.NoError(t, left.Decide(t.Context(), nil))
			require.Equal(t, codes(at.Diagnostics), codes(left.Diagnostics), name)
			require.Equal(t, at.Contract, left.Contract, name)
			require.Len(t, left.Results, len(at.Results))
		}
	}
}

func codes(ds []source.Diagnostic) []string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Code)
	}
	return out
}

// A diagnostic in a file points into the file as it was parsed.
func TestOnlyTheFileThatChangedIsParsedAgain(t *testing.T) {
	library := "library l\ntype T = %\n"
	write := func(contract, library string) fstest.MapFS {
		return fstest.MapFS{"c.poptic": {Data: []byte(contract)}, "l.poptic": {Data: []byte(library)}}
	}
	contract := "contract c\nimport \"./l.poptic\"\nstate { a: l.T  b: Nix }\n"
	var cache compiler.Cache
	parsed := func(files fstest.MapFS, c *compiler.Cache) map[string]*source.File {
		out, err := compiler.Compile(t.Context(), compiler.Input{FS: files, Path: "c.poptic", Cache: c})
		require.NoError(t, err)
		at := map[string]*source.File{}
		for _, d := range out.Diagnostics {
			at[d.Span.File.Name] = d.Span.File
		}
		require.Len(t, at, 2)
		return at
	}
	first := parsed(write(contract, library), &cache)
	require.Same(t, first["c.poptic"], parsed(write(contract, library), &cache)["c.poptic"])

	changed := parsed(write(contract+"# more\n", library), &cache)
	require.Same(t, first["l.poptic"], changed["l.poptic"])
	require.NotSame(t, first["c.poptic"], changed["c.poptic"])

	again := parsed(write(contract+"# more\n", library+"type U = %\n"), &cache)
	require.Same(t, changed["c.poptic"], again["c.poptic"])
	require.NotSame(t, changed["l.poptic"], again["l.poptic"])

	cache.Forget("c.poptic")
	require.NotSame(t, changed["c.poptic"], parsed(write(contract+"# more\n", library), &cache)["c.poptic"])
	require.NotSame(t, first["l.poptic"], parsed(write(contract, library), nil)["l.poptic"])
}

func TestACacheServesManyCompilationsAtOnce(t *testing.T) {
	var cache compiler.Cache
	want := compile(faulty).Diagnostics
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				out, err := compiler.Compile(t.Context(), compiler.Input{FS: fstest.MapFS{"c.poptic": {Data: []byte(faulty)}}, Path: "c.poptic", Cache: &cache})
				require.NoError(t, err)
				require.Equal(t, codes(want), codes(out.Diagnostics))
			}
		})
	}
	all.Wait()
}
