package store_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/storetest"
)

func TestMemoryBehavesAsAStore(t *testing.T) {
	storetest.Run(t, func() store.Store { return store.NewMemory() })
	storetest.RunShared(t, func() (one, other store.Store) {
		m := store.NewMemory()
		return m, m
	})
}

func TestMemoryForgetsTheSnapshotsThatItDoesNotNeed(t *testing.T) {
	ctx := context.Background()
	for _, commits := range []uint64{1, 0} { // with each record, or none at all
		m := store.NewMemory()
		require.NoError(t, m.Create(ctx, "a", store.Record{Seq: 1}))
		for seq := range uint64(1000) {
			require.NoError(t, m.PutSnapshot(ctx, "a", store.Snapshot{Seq: seq, Version: seq * commits, Data: make([]byte, 10)}))
		}
		kept := 0
		for version := ^uint64(0); ; kept++ {
			s, err := m.Snapshot(ctx, "a", version)
			if err != nil {
				break
			}
			if version = s.Version - 1; s.Version == 0 {
				kept++
				break
			}
		}
		require.Equal(t, 1+int(commits), kept)
	}
}
