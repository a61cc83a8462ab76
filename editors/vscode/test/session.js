// A session of Microsoft's own client library with the server, over standard input and output.
// The program is the argument, or the one on the PATH.
const { spawn } = require('child_process');
const assert = require('assert');
const fs = require('fs');
const os = require('os');
const path = require('path');
const { pathToFileURL } = require('url');
const p = require('vscode-languageserver-protocol/node');

const program = process.argv[2] || process.env.POPTIC || 'poptic';
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'poptic'));
const uri = pathToFileURL(path.join(dir, 'contract.poptic')).toString();
const text = fs.readFileSync(path.join(__dirname, '../../../examples/support/contract.poptic'), 'utf8');

(async () => {
  const server = spawn(program, ['lsp'], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exit = new Promise((resolve) => server.on('exit', resolve));
  const connection = p.createProtocolConnection(new p.StreamMessageReader(server.stdout), new p.StreamMessageWriter(server.stdin));
  const published = [];
  let wake = () => {};
  connection.onNotification(p.PublishDiagnosticsNotification.type, (params) => { published.push(params); wake(); });
  connection.listen();
  const diagnostics = async (version) => {
    for (;;) {
      const found = published.findLast((d) => d.uri === uri && d.version === version);
      if (found) return found.diagnostics;
      await new Promise((resolve) => { wake = resolve; });
    }
  };

  const { capabilities } = await connection.sendRequest(p.InitializeRequest.type, {
    processId: process.pid, rootUri: pathToFileURL(dir).toString(), workspaceFolders: [{ uri: pathToFileURL(dir).toString(), name: 'x' }], capabilities: {},
  });
  assert.strictEqual(capabilities.positionEncoding, 'utf-16');
  await connection.sendNotification(p.InitializedNotification.type, {});
  await connection.sendNotification(p.DidOpenTextDocumentNotification.type, { textDocument: p.TextDocumentItem.create(uri, 'poptic', 1, text) });
  assert.deepStrictEqual(await diagnostics(1), []);

  const at = (mark) => {
    const before = text.slice(0, text.indexOf(mark)).split('\n');
    return { line: before.length - 1, character: before.at(-1).length };
  };
  const document = { uri };
  const here = { textDocument: document, position: at('money.Amount') };
  here.position.character += 'money.'.length;
  assert.match((await connection.sendRequest(p.HoverRequest.type, here)).contents.value, /type Amount/);
  assert.strictEqual((await connection.sendRequest(p.DefinitionRequest.type, here)).length, 1);
  assert.ok((await connection.sendRequest(p.CompletionRequest.type, here)).items.length > 0);
  assert.ok((await connection.sendRequest(p.DocumentSymbolRequest.type, { textDocument: document })).length > 20);
  assert.ok((await connection.sendRequest(p.SemanticTokensRequest.type, { textDocument: document })).data.length > 500);
  assert.ok((await connection.sendRequest(p.FoldingRangeRequest.type, { textDocument: document })).length > 10);
  const whole = { start: { line: 0, character: 0 }, end: { line: 999, character: 0 } };
  assert.ok((await connection.sendRequest(p.InlayHintRequest.type, { textDocument: document, range: whole })).length > 3);
  const lenses = await connection.sendRequest(p.CodeLensRequest.type, { textDocument: document });
  assert.ok((await connection.sendRequest(p.CodeLensResolveRequest.type, lenses[0])).command.title);
  const refs = await connection.sendRequest(p.ReferencesRequest.type, { ...here, context: { includeDeclaration: false } });
  assert.ok(refs.length >= 1);
  assert.deepStrictEqual(await connection.sendRequest(p.DocumentFormattingRequest.type, { textDocument: document, options: { tabSize: 2, insertSpaces: true } }), []);

  const wrong = at('map of Ticket');
  await connection.sendNotification(p.DidChangeTextDocumentNotification.type, {
    textDocument: { uri, version: 2 }, contentChanges: [{ range: { start: wrong, end: { line: wrong.line, character: wrong.character + 3 } }, text: 'mapp' }],
  });
  const [first] = await diagnostics(2);
  assert.deepStrictEqual(first.range.start, wrong);
  assert.strictEqual(first.source, 'poptic');
  const actions = await connection.sendRequest(p.CodeActionRequest.type, { textDocument: document, range: first.range, context: { diagnostics: [first] } });
  assert.ok(actions.some((a) => a.kind === 'quickfix' && a.edit.changes[uri][0].newText.includes('map')), JSON.stringify(actions));

  await connection.sendRequest(p.ShutdownRequest.type);
  await connection.sendNotification(p.ExitNotification.type);
  assert.strictEqual(await exit, 0);
  fs.rmSync(dir, { recursive: true });
  console.log('session: all is answered as Microsoft\'s client expects');
  process.exit(0);
})().catch((error) => { console.error(error); process.exit(1); });
