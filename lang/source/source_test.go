package source

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPositionsCountLinesAndCodePoints(t *testing.T) {
	f := NewFile("a", "ab\né𝄞x\r\n\nend")
	for offset, want := range map[int]Position{
		0: {1, 1, 0}, 2: {1, 3, 2}, 3: {2, 1, 3}, 5: {2, 2, 5}, 9: {2, 3, 9}, 12: {3, 1, 12}, 13: {4, 1, 13}, 16: {4, 4, 16},
	} {
		require.Equal(t, want, f.Position(offset))
	}
	require.Equal(t, Position{1, 1, 0}, NewFile("empty", "").Position(0))
}

func TestUTF16ColumnsCountSurrogates(t *testing.T) {
	f := NewFile("a", "x\né𝄞x")
	require.Equal(t, 0, f.UTF16Column(2))
	require.Equal(t, 1, f.UTF16Column(4))
	require.Equal(t, 3, f.UTF16Column(8))
	require.Equal(t, 4, f.UTF16Column(9))
}

func TestLinesComeWithoutTheirEnds(t *testing.T) {
	f := NewFile("a", "one\r\n\ntwo")
	require.Equal(t, []string{"", "one", "", "two", ""}, []string{f.Line(0), f.Line(1), f.Line(2), f.Line(3), f.Line(4)})
	require.Equal(t, []int{0, 5, 6, 9}, []int{f.LineStart(1), f.LineStart(2), f.LineStart(3), f.LineStart(4)})
	require.Equal(t, "", NewFile("a", "one\n").Line(2))
}

func TestPositionsAgreeWithCountingByHand(t *testing.T) {
	f := NewFile("a", strings.Repeat("aé\n\n𝄞b", 20))
	line, column := 1, 1
	for offset, r := range f.Text {
		require.Equal(t, Position{line, column, offset}, f.Position(offset))
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
}

func TestAFileIsSafeForConcurrentUse(t *testing.T) {
	f := NewFile("a", strings.Repeat("x\n", 1000))
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { require.Equal(t, 1001, f.Position(2000).Line) })
	}
	all.Wait()
}

func TestSpansJoinFromStartToEnd(t *testing.T) {
	f := NewFile("a", "hello world")
	a, b := Span{f, 0, 5}, Span{f, 6, 11}
	require.Equal(t, "hello world", a.To(b).Text())
	require.Equal(t, b, Span{}.To(b))
	require.Equal(t, a, a.To(Span{}))
	require.Equal(t, a, a.To(Span{f, 1, 3}))
	require.True(t, Span{}.IsZero())
	require.Empty(t, Span{}.Text())
}

func TestSortOrdersByPlaceAndDropsRepeats(t *testing.T) {
	a, b := NewFile("a", "xyz"), NewFile("b", "xyz")
	at := func(f *File, start int, code string) Diagnostic {
		return Diagnostic{Code: code, Span: Span{f, start, start + 1}}
	}
	got := Sort([]Diagnostic{at(b, 0, "x"), at(a, 2, "x"), at(a, 1, "z"), at(a, 1, "y"), at(a, 2, "x"), {Code: "nowhere"}})
	require.Equal(t, []Diagnostic{{Code: "nowhere"}, at(a, 1, "y"), at(a, 1, "z"), at(a, 2, "x"), at(b, 0, "x")}, got)
}

func TestOnlyAnErrorCountsAsOne(t *testing.T) {
	require.False(t, HasErrors(nil))
	require.False(t, HasErrors([]Diagnostic{{Severity: Info}, {Severity: Warning}}))
	require.True(t, HasErrors([]Diagnostic{{Severity: Warning}, {Severity: Error}}))
	require.Equal(t, []string{"info", "warning", "error"}, []string{Info.String(), Warning.String(), Error.String()})
}
