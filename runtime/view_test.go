package runtime_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/trace"
	"github.com/patchoptic/poptic/runtime"
)

// viewed asks for a view and says how many views the log has then.
func viewed(t *testing.T, in *runtime.Instance, r runtime.Request, refused bool) (views int) {
	t.Helper()
	v, err := in.View(ctx, r)
	if refused {
		require.ErrorAs(t, err, new(*runtime.ViewRefusedError))
	} else {
		require.NoError(t, err)
		require.Equal(t, in.Version(), v.Version)
	}
	for _, l := range linesOf(t, in) {
		if l.Kind == trace.View {
			views++
		}
	}
	return views
}

func TestWhichViewsAreRecordedIsTheHostsChoice(t *testing.T) {
	ann, bob := map[string]string{"c": "ann"}, map[string]string{"c": "bob"}
	steps := []struct {
		runtime.Request
		refused bool
		first   bool // it is unlike all before
		write   string
	}{
		{Request: runtime.Request{Stage: "draft"}, first: true},
		{Request: runtime.Request{Stage: "draft"}},
		{Request: runtime.Request{Stage: "draft", Principal: runtime.Principal{Subject: "anna"}}, first: true},
		{Request: runtime.Request{Stage: "draft", Principal: runtime.Principal{Subject: "anna", Token: "t2"}}, first: true},
		{Request: runtime.Request{Stage: "draft", Principal: runtime.Principal{Subject: "anna", OnBehalf: "t2"}}, first: true},
		{Request: runtime.Request{Stage: "draft", Principal: runtime.Principal{Subject: "anna", Token: "t2", OnBehalf: "carol"}}, first: true},
		{Request: runtime.Request{Stage: "draft", Principal: runtime.Principal{Token: "t2"}}, first: true},
		{Request: runtime.Request{Stage: "draft", Principal: runtime.Principal{Subject: "anna", Token: "t2"}}},
		{Request: runtime.Request{Stage: "draft", Principal: runtime.Principal{Subject: "anna", Token: "t2", OnBehalf: "carol"}}},
		{Request: runtime.Request{Stage: "root", Principal: runtime.Principal{Token: "t2"}}, refused: true, first: true},
		{Request: runtime.Request{Stage: "root", Principal: runtime.Principal{OnBehalf: "t2"}}, refused: true, first: true},
		{Request: runtime.Request{Stage: "draft", Role: "writer"}, first: true},
		{Request: runtime.Request{Stage: "edit", Args: ann}, first: true},
		{Request: runtime.Request{Stage: "edit", Args: bob}, first: true},
		{Request: runtime.Request{Stage: "edit", Args: ann}},
		{Request: runtime.Request{Stage: "root"}, refused: true, first: true},
		{Request: runtime.Request{Stage: "root"}, refused: true},
		{Request: runtime.Request{Stage: "edit", Args: map[string]string{"c": "nobody"}}, refused: true, first: true},
		{Request: runtime.Request{Stage: "edit", Args: ann}, write: `[{"op":"replace","path":"/customers/bob/name","value":"Rob"}]`},
		{Request: runtime.Request{Stage: "edit", Args: bob}, first: true},
		{Request: runtime.Request{Stage: "edit", Args: bob}, write: `[{"op":"replace","path":"/customers/bob/name","value":"Bob"}]`},
	}
	for name, c := range map[string]struct {
		which runtime.Views
		count func(first bool) int
	}{
		"all":            {runtime.ViewsAll, func(bool) int { return 1 }},
		"none":           {runtime.ViewsNone, func(bool) int { return 0 }},
		"the first":      {runtime.ViewsFirst, func(first bool) int { return map[bool]int{true: 1}[first] }},
		"none of these":  {runtime.ViewsNone + 1, func(bool) int { return 1 }},
		"less than none": {-1, func(bool) int { return 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			in, st := begin(t, runtime.WithViews(c.which))
			views := 0
			for i, s := range steps {
				if s.write != "" {
					commits(t, proposeAs(t, in, runtime.Proposal{Stage: "all", Base: in.Version(), Patch: []byte(s.write)}))
				}
				views += c.count(s.first)
				require.Equal(t, views, viewed(t, in, s.Request, s.refused), "view %d", i)
			}
			replays(t, in, st)
		})
	}
}

// What an instance remembers of the views that it has recorded has an end.
func TestViewsThatAreUnlikeAllAreRecordedAndNotRememberedForEver(t *testing.T) {
	in := openNotebook(t, runtime.WithViews(runtime.ViewsFirst), runtime.WithSnapshotAfter(1<<30))
	show := func(i int) {
		_, err := in.View(ctx, runtime.Request{Stage: "peek", Role: "reader", Principal: runtime.Principal{Subject: fmt.Sprint(i)}})
		if err != nil {
			require.ErrorContains(t, err, "full")
		}
	}
	for i := range 5000 {
		show(i)
	}
	early := heap()
	for i := range size(100_000, 20_000, 6_000) {
		show(i)
	}
	require.Less(t, heap()-early, 1<<20)
}

func TestAViewThatIsNotRecordedAsksNothingOfTheStore(t *testing.T) {
	in, st := gated(t, runtime.WithViews(runtime.ViewsNone))
	commit := asked(ctx, in, noting(0, 5, 0, ""))
	<-st.asked
	v, err := in.View(ctx, runtime.Request{Stage: "note", Args: map[string]string{"n": "n0"}})
	require.NoError(t, err)
	require.Equal(t, `{"notes":{"n0":{"count":0,"text":"x"}}}`, string(v.Value), "what is durable, and nothing else")
	require.Zero(t, v.Version)
	st.let <- errBefore
	require.ErrorIs(t, (<-commit).error, errBefore)
	_, err = in.View(ctx, runtime.Request{Stage: "write"})
	require.NoError(t, err)
}
