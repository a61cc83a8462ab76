package bench_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	engine "github.com/patchoptic/poptic/runtime"
	"github.com/patchoptic/poptic/runtime/store"
)

// Records of many short values are what takes the most memory for its text.
const records = `contract records
state { tickets: map of Ticket  customers: map of Customer }
type Ticket {
  subject: string  status: "open" | "waiting" | "solved"  customer: key of /customers
  labels: set of string  priority: int  amount: number where { self >= 0.0 }
  channel: string  opened: string  updated: string  assigned: bool  score: int
  messages: list of Message  reply?: string  internal?: secret string
}
type Message { from: string  at: int  text: string }
type Customer { name: string }
measure spent = sum /tickets/*/amount
invariant answered each t in /tickets/* { t.status != "solved" || has(t.reply) }
invariant affordable { spent <= 100000000.0 }
stage survey { read /tickets except secrets }
`

// recordState is the state of n tickets, of some 420 bytes and 30 values each.
func recordState(n int) []byte {
	var b strings.Builder
	b.WriteString(`{"customers":{`)
	for i := range max(n/10, 1) {
		comma(&b, i)
		fmt.Fprintf(&b, `"C%d":{"name":"Customer number %d"}`, i, i)
	}
	b.WriteString(`},"tickets":{`)
	for i := range n {
		comma(&b, i)
		fmt.Fprintf(&b, `"T%d":{"subject":"Parcel %d has not arrived","status":"open","customer":"C%d","labels":["late","parcel","l%d"],"priority":%d,"amount":%d.5,`,
			i, i, i%max(n/10, 1), i%17, i%6, i%90)
		fmt.Fprintf(&b, `"channel":"mail","opened":"2026-11-%02dT08:%02d:00Z","updated":"2026-12-01T09:%02d:00Z","assigned":true,"score":%d,"internal":"note %d",`,
			i%28+1, i%60, i%60, i%1000, i)
		fmt.Fprintf(&b, `"messages":[{"from":"customer","at":%d,"text":"Where is parcel %d?"},{"from":"agent","at":%d,"text":"It is on its way, number %d."}]}`, i, i, i+7, i)
	}
	b.WriteString(`}}`)
	return []byte(b.String())
}

// The text itself is in the store as well, in the first record.
func TestAnInstanceTakesAFewTimesTheTextOfItsState(t *testing.T) {
	c, text := loadedOf(t, records), recordState(4000)
	size := float64(len(text))
	before := heap()
	in, err := engine.Create(context.Background(), c, store.NewMemory(), "run", text)
	require.NoError(t, err)
	state := float64(heap()-before)/size - 1
	v, err := in.View(context.Background(), engine.Request{Stage: "survey"})
	require.NoError(t, err)
	require.Greater(t, float64(len(v.Value)), 0.9*size)
	v = engine.View{}
	all := float64(heap()-before) / size
	t.Logf("the state takes %.1f times its text; with the memory store and a view of all of it %.1f", state, all)
	require.Less(t, state, 5.5)
	require.Less(t, all, 7.0)
	runtime.KeepAlive(in)
	runtime.KeepAlive(text)
}

func BenchmarkImportOfRecords(b *testing.B) {
	p, text := contractOf(b, records), recordState(20_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Import(text); err != nil {
			b.Fatal(err)
		}
	}
}
