package region

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMeterIsSpentSoonAfterItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := NewMeter(1 << 30)
	m.Until(ctx)
	m.Spend(1 << 20)
	require.False(t, m.IsSpent())
	cancel()
	for range lookEvery + 1 {
		m.Spend(1)
	}
	require.True(t, m.IsSpent())
	m.Spend(1)
	require.True(t, m.IsSpent())
}
