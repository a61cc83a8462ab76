package region

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// footprint is n patterns of three to five segments below one of some top-level
// keys, with few wildcards.
func footprint(rnd *rand.Rand, n int, last string) Region {
	var texts []string
	for i := range n {
		parts := []string{"", fmt.Sprintf("top%d", rnd.Intn(5))}
		for range 2 {
			switch rnd.Intn(20) {
			case 0, 1, 2, 3:
				parts = append(parts, "*")
			default:
				parts = append(parts, fmt.Sprintf("m%d", rnd.Intn(10)))
			}
		}
		texts = append(texts, strings.Join(append(parts, fmt.Sprint(last, i)), "/"))
	}
	return Of(texts...)
}

func BenchmarkWordCheckOfDepthFour(b *testing.B) {
	set := SetOf("/tickets/{t}/status", "/tickets/{t}/labels", "/tickets/*/notes", "/budget")
	c := set.Start(Binding{"t": "T1"})
	w := Word{Key("tickets"), Key("T1"), Key("labels"), Index(3)}
	b.ReportAllocs()
	for b.Loop() {
		if !c.Walk(w).Interior() {
			b.Fatal("not in")
		}
	}
}

func BenchmarkStartWithABinding(b *testing.B) {
	set := SetOf("/tickets/{t}/status", "/tickets/{t}/labels", "/tickets/*/notes", "/budget")
	args := Binding{"t": "T1"}
	b.ReportAllocs()
	for b.Loop() {
		set.Start(args)
	}
}

func BenchmarkCursorWalkWithExceptions(b *testing.B) {
	c := SetOf("/tickets/*", "!/tickets/*/secret", "!/**/internal").Start(Binding{})
	b.ReportAllocs()
	for b.Loop() {
		at := c.Key("tickets").Key("T1")
		if !at.Reachable() || at.Interior() || !at.CanHold(Object) || !at.Key("status").In() {
			b.Fatal("wrong")
		}
	}
}

func BenchmarkCompileOfAHundredPatterns(b *testing.B) {
	r := footprint(rand.New(rand.NewSource(1)), 100, "f")
	b.ReportAllocs()
	for b.Loop() {
		Compile(r)
	}
}

// BenchmarkDecision compares two footprints that differ in the last segments only,
// compiling both each time. "yes" and "no" is the answer; with "witness", it comes
// with a shortest word.
func BenchmarkDecision(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		rnd := rand.New(rand.NewSource(1))
		left, right := footprint(rnd, n, "f"), footprint(rnd, n, "g")
		mixed := Region{{Include: append(slices.Clone(right[0].Include), left[0].Include[0])}}
		holed := Region{{Include: left[0].Include, Except: Of("/*/m1/secret")[0].Include}}
		for _, q := range []struct {
			name string
			a, b Region
			ask  func(a, b *Set) Answer
			want Verdict
		}{
			{"overlap/no", left, right, overlapping(true), No},
			{"overlap/yes", left, mixed, overlapping(true), Yes},
			{"overlap/yes/witness", left, mixed, overlapping(false), Yes},
			{"overlap/no/exceptions", holed, right, overlapping(false), No},
			{"overlap/yes/exceptions/witness", holed, left, overlapping(false), Yes},
			{"within/yes", holed, left, within, Yes},
			{"within/no/witness", left, right, within, No},
		} {
			b.Run(fmt.Sprint(q.name, "/", n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if got := q.ask(Compile(q.a), Compile(q.b)); got.Verdict != q.want {
						b.Fatal(got)
					}
				}
			})
		}
	}
}

func overlapping(verdictOnly bool) func(a, b *Set) Answer {
	return func(a, b *Set) Answer { return Overlap(a, b, Interior, Interior, Options{VerdictOnly: verdictOnly}) }
}

func within(a, b *Set) Answer { return Within(a, b, Interior, Interior, Options{}) }

func BenchmarkConditionsOfTwoStages(b *testing.B) {
	x, y := Of("/tickets/{t}/status", "/tickets/{t}/labels", "/refunds/{r}"), Of("/tickets/{u}", "/refunds/*")
	b.ReportAllocs()
	for b.Loop() {
		Conditions(x, y, Interior, Interior, ConditionOptions{})
	}
}
