package expr

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/ir"
)

func BenchmarkNew(b *testing.B) {
	d := newDesk(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(d.contract, Default()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCheckInvariant(b *testing.B) {
	d := newDesk(b)
	src := `state.tickets.all(k, t, (t.status != "solved" || has(t.reply)) && t.customer in state.customers && size(t.labels) <= 5)`
	b.ReportAllocs()
	for b.Loop() {
		if _, issues := d.env.Check(src, stateScope); len(issues) > 0 {
			b.Fatal(issues)
		}
	}
}

func BenchmarkCompileInvariant(b *testing.B) {
	d := newDesk(b)
	src := `state.tickets.all(k, t, (t.status != "solved" || has(t.reply)) && t.customer in state.customers && size(t.labels) <= 5)`
	b.ReportAllocs()
	for b.Loop() {
		if _, err := d.env.Compile(ir.Expr{Source: src}, stateScope); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkEval(b *testing.B, src string, s Scope, d *desk, in *Input, ctx context.Context) {
	x, issues := d.env.Check(src, s)
	require.Empty(b, issues)
	p, err := d.env.Compile(x, s)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := p.Eval(ctx, in); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

const oneTicket = `{"subject":"a","status":"solved","customer":"c","labels":["x","y"],"notes":[],"score":3,"urgent":false,"reply":"r"}`

func BenchmarkEvalEntry(b *testing.B) {
	d := newDesk(b)
	ticket := value(oneTicket)
	for name, src := range map[string]string{
		"guard":   `t.status != "solved" || has(t.reply)`,
		"numbers": `t.score > 2`,
		"size":    `size(t.labels) <= 5`,
		"macro":   `t.labels.all(l, l != "")`,
	} {
		b.Run(name, func(b *testing.B) {
			benchmarkEval(b, src, d.each(), d, &Input{Entry: ticket}, context.Background())
		})
	}
}

func thousandTickets() ir.Value {
	var s strings.Builder
	s.WriteString(`{"budget":1,"customers":{"c":{"name":"n","role":"user"}},"tickets":{`)
	for i := range 1000 {
		if i > 0 {
			s.WriteByte(',')
		}
		fmt.Fprintf(&s, `"T%d":%s`, i, oneTicket)
	}
	s.WriteString(`}}`)
	return value(s.String())
}

func BenchmarkEvalAllOverThousand(b *testing.B) {
	d := newDesk(b)
	state := thousandTickets()
	src := `state.tickets.all(k, t, t.status != "solved" || has(t.reply))`
	b.Run("background", func(b *testing.B) {
		benchmarkEval(b, src, stateScope, d, &Input{State: state}, context.Background())
	})
	b.Run("deadline", func(b *testing.B) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		benchmarkEval(b, src, stateScope, d, &Input{State: state}, ctx)
	})
}

func BenchmarkEvalMeasure(b *testing.B) {
	d := newDesk(b)
	in := &Input{State: value(`{"budget":100.5}`), Measure: func(string) (string, bool) { return "99.25", true }}
	benchmarkEval(b, `spent <= state.budget`, stateScope, d, in, context.Background())
}
