package block_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/patchoptic/poptic/spec/block"
)

const page = "Text.\n\n```sh exit=3\necho out\nexit 3\n```\n\n```text\nout\n```\nMore.\n```poptic fragment error=x\ntype A = B\n```\n```\nplain\n```\n"

func TestBlocksAreReadWithTheWordsOfTheirFence(t *testing.T) {
	blocks := block.Parse("p.md", page)
	require.Len(t, blocks, 4)
	require.Equal(t, "poptic", blocks[2].Language)
	require.True(t, blocks[2].Has("fragment"))
	require.Equal(t, "x", blocks[2].Value("error"))
	require.Equal(t, "type A = B\n", blocks[2].Text)
	require.Equal(t, 12, blocks[2].Line)
	require.Empty(t, blocks[3].Language)
}

func TestOnlyATextBlockRightAfterIsASessionsOutput(t *testing.T) {
	s := block.Sessions(block.Parse("p.md", page))
	require.Len(t, s, 1)
	require.True(t, s[0].Shown)
	require.Equal(t, "out\n", s[0].Output)

	apart := block.Sessions(block.Parse("p.md", "```sh\ntrue\n```\nwords\n```text\nout\n```\n"))
	require.False(t, apart[0].Shown)
}

func TestASessionReportsOutputAndExitCode(t *testing.T) {
	s := block.Sessions(block.Parse("p.md", page))[0]
	output, exit, err := s.Run(context.Background(), t.TempDir(), t.TempDir())
	require.NoError(t, err)
	require.Equal(t, s.Output, output)
	require.Equal(t, s.Exit, exit)
}
