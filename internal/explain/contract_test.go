package explain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/internal/region"
)

func TestPatternsThatDifferInTheLastNameAreJoined(t *testing.T) {
	require.Equal(t, []string{"/t/{p}/(a|b|c)", "/t/{p}/*", "/x", "/**"}, authoredAll([]region.Pattern{
		region.MustParse("/:t/{p}/:a"), region.MustParse("/:t/{p}/:b"), region.MustParse("/:t/{p}/:*"),
		region.MustParse("/:x"), region.MustParse("/:t/{p}/:c"), region.MustParse(""),
	}))
}
