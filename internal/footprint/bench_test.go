package footprint_test

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/patchoptic/poptic/internal/footprint"
	"github.com/patchoptic/poptic/internal/ir"
	"github.com/patchoptic/poptic/internal/region"
)

// manyStages is a contract of n stages in one phase, each with four patterns it
// writes, six it reads and two it takes from: three to five segments, a fifth of
// them with a wildcard, one in twenty with "**". About one pair in seven conflicts.
func manyStages(n int) *ir.Contract {
	rnd := rand.New(rand.NewSource(1))
	c := &ir.Contract{Types: []ir.Type{{}, {Kind: ir.AnyType}}, State: 1, Phases: []ir.Phase{{Name: "main"}}}
	for i := range n {
		part := func(patterns int) (out region.Region) {
			for range patterns {
				out = append(out, region.Grant{Include: []region.Pattern{benchPattern(rnd)}})
			}
			return out
		}
		c.Stages = append(c.Stages, ir.Stage{Name: fmt.Sprint("s", i), In: []string{"main"}, Write: part(4), Read: part(6), Source: part(2)})
	}
	return c
}

func benchPattern(rnd *rand.Rand) region.Pattern {
	var p region.Pattern
	special := rnd.Intn(20)
	n := 3 + rnd.Intn(3)
	at := 1 + rnd.Intn(n-1)
	for i := range n {
		s := region.Segment{Kind: region.KeyLiteral, Text: fmt.Sprintf("k%d", rnd.Intn(20))}
		switch {
		case i == at && special < 4:
			s = region.Segment{Kind: region.AnyKey}
		case i == n-1 && special == 4:
			s = region.Segment{Kind: region.AnyDepth}
		}
		p.Segments = append(p.Segments, s)
	}
	return p
}

func BenchmarkMatrix(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		c := manyStages(n)
		b.Run(fmt.Sprint(n, "stages"), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				footprint.New(c).Matrix()
			}
			x, flags := footprint.New(c).Matrix(), 0
			for i := range n {
				flags += len(x.Row(i))
			}
			b.ReportMetric(100*float64(flags)/float64(n*n), "%flagged")
		})
	}
}

func BenchmarkOneMoreStage(b *testing.B) {
	for _, n := range []int{100, 1000, 5000} {
		more := manyStages(n + 1000)
		stages := more.Stages
		more.Stages = stages[:n]
		b.Run(fmt.Sprint(n, "stages"), func(b *testing.B) {
			b.ReportAllocs()
			x := footprint.New(more).Matrix()
			for i := 0; b.Loop(); i++ {
				if i%1000 == 999 {
					b.StopTimer()
					x = footprint.New(more).Matrix()
					b.StartTimer()
				}
				x.Add(&stages[n+i%1000])
			}
		})
	}
}

func BenchmarkPairwise(b *testing.B) {
	c := manyStages(100)
	m := footprint.New(c)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Commutation(&c.Stages[i%100], &c.Stages[i/100%100])
	}
}
