package store_test

import (
	"testing"

	"github.com/patchoptic/poptic/runtime/store"
	"github.com/patchoptic/poptic/runtime/store/storetest"
)

func TestMemoryBehavesAsAStore(t *testing.T) {
	storetest.Run(t, func() store.Store { return store.NewMemory() })
}
