-- Settings of a buffer with a contract, and the server for it. vim.g.poptic_path names the
-- program; vim.g.poptic_attach is called with the client and the buffer once they are joined.
vim.bo.commentstring = '# %s'
vim.bo.shiftwidth = 2
vim.bo.expandtab = true

local name = vim.api.nvim_buf_get_name(0)
local start = name == '' and vim.fn.getcwd() or vim.fn.fnamemodify(name, ':p:h')
-- The folder that imports may not leave: that of the repository, else the file's own.
local root = start
local dir = start
while true do
  if vim.fn.isdirectory(dir .. '/.git') == 1 or vim.fn.filereadable(dir .. '/poptic.yaml') == 1 then
    root = dir
    break
  end
  local parent = vim.fn.fnamemodify(dir, ':h')
  if parent == dir then
    break
  end
  dir = parent
end

local config = {
  name = 'poptic',
  cmd = { vim.g.poptic_path or 'poptic', 'lsp' },
  root_dir = root,
  on_attach = function(client, buffer)
    vim.api.nvim_buf_set_option(buffer, 'omnifunc', 'v:lua.vim.lsp.omnifunc')
    if type(vim.g.poptic_attach) == 'function' then
      vim.g.poptic_attach(client, buffer)
    end
  end,
}

if vim.lsp.start then -- 0.8 and later share one server for a root
  vim.lsp.start(config)
else
  _G.poptic_clients = _G.poptic_clients or {}
  if not _G.poptic_clients[root] then
    _G.poptic_clients[root] = vim.lsp.start_client(config)
  end
  if _G.poptic_clients[root] then
    vim.lsp.buf_attach_client(0, _G.poptic_clients[root])
  end
end
