package editors_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the configuration of Neovim does is looked at from within it, without a screen.
const script = `
local function wait(what, is)
  if not vim.wait(20000, is, 20) then
    io.stdout:write('waited in vain for ' .. what .. '\n')
    vim.cmd('cquit 1')
  end
end
local function ask(method, line, character)
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = line, character = character } }
  local answers = vim.lsp.buf_request_sync(0, method, params, 20000)
  for _, a in pairs(answers or {}) do
    return a.result
  end
end
wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
local d = vim.diagnostic.get(0)[1]
io.stdout:write(string.format('%s %d:%d %s\n', d.code or d.user_data.lsp.code, d.lnum, d.col, vim.bo.filetype))
io.stdout:write(ask('textDocument/hover', 2, 5).contents.value .. '\n')
vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'state { a: T }' })
wait('no diagnostics', function() return #vim.diagnostic.get(0) == 0 end)
io.stdout:write(ask('textDocument/definition', 1, 11)[1].range.start.line .. '\n')
io.stdout:write(vim.bo.omnifunc .. ' ' .. vim.bo.commentstring .. '\n')
vim.cmd('qall!')
`

func TestNeovimShowsWhatTheServerSays(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("there is no nvim here")
	}
	dir := t.TempDir()
	server := filepath.Join(dir, "poptic")
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", server, "../cmd/poptic").CombinedOutput()
	require.NoError(t, err, "%s", out)
	contract, lua := filepath.Join(dir, "c.poptic"), filepath.Join(dir, "look.lua")
	require.NoError(t, os.WriteFile(contract, []byte("contract c\nstate { a: TT }\ntype T = int\n"), 0o644))
	require.NoError(t, os.WriteFile(lua, []byte(script), 0o644))
	config, err := filepath.Abs("nvim")
	require.NoError(t, err)

	run := exec.Command(nvim, "--headless", "-u", "NONE", "-i", "NONE", "--cmd", "set rtp^="+config, "--cmd", "filetype plugin on",
		"--cmd", "let g:poptic_path = '"+server+"'", contract, "-c", "luafile "+lua)
	run.Env = append(os.Environ(), "XDG_CACHE_HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	time.AfterFunc(time.Minute, func() { run.Process.Kill() })
	out, err = run.CombinedOutput()
	require.NoError(t, err, "%s", out)
	for _, want := range []string{"unknown_type 1:11 poptic", "type T = int", "\n2\n", "v:lua.vim.lsp.omnifunc # %s"} {
		require.Contains(t, string(out), want)
	}
}
