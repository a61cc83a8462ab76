package region

import (
	"fmt"
	"math/rand"
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
		if !at.Live() || at.Interior() || !at.CanHold(Object) || !at.Key("status").In() {
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

func BenchmarkDecisionOnFootprintsOfAHundredPatterns(b *testing.B) {
	rnd := rand.New(rand.NewSource(1))
	left, right := footprint(rnd, 100, "f"), footprint(rnd, 100, "g")
	holed := Region{{Include: left[0].Include, Except: Of("/*/m1/secret")[0].Include}}
	questions := map[string]func(a, b *Set) Answer{
		"overlap/no": func(a, b *Set) Answer { return Overlap(a, b, Interior, Interior, Options{}) },
		"within/no":  func(a, b *Set) Answer { return Within(a, b, Interior, Plain, Options{}) },
	}
	for name, ask := range questions {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				ask(Compile(left), Compile(right))
			}
		})
	}
	b.Run("within/yes", func(b *testing.B) {
		for b.Loop() {
			if Within(Compile(holed), Compile(left), Interior, Interior, Options{}).Verdict != Yes {
				b.Fatal("not within")
			}
		}
	})
	b.Run("overlap/yes/exceptions", func(b *testing.B) {
		for b.Loop() {
			if Overlap(Compile(holed), Compile(left), Interior, Interior, Options{}).Verdict != Yes {
				b.Fatal("no overlap")
			}
		}
	})
	b.Run("overlap/no/exceptions", func(b *testing.B) {
		for b.Loop() {
			if Overlap(Compile(holed), Compile(right), Interior, Interior, Options{}).Verdict != No {
				b.Fatal("overlap")
			}
		}
	})
}

func BenchmarkConditionsOfTwoStages(b *testing.B) {
	x, y := Of("/tickets/{t}/status", "/tickets/{t}/labels", "/refunds/{r}"), Of("/tickets/{u}", "/refunds/*")
	b.ReportAllocs()
	for b.Loop() {
		Conditions(x, y, Interior, Interior, ConditionOptions{})
	}
}
