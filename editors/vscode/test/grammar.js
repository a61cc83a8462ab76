// The grammar in the editor's own engine. What each token of the parser must look like is held
// by a test in Go (internal/tools/textmate); here, that the real engine reads the grammar alike,
// on every contract of the repository: no scope is left open behind a declaration, and what is
// listed below is coloured so.
const fs = require('fs');
const path = require('path');
const assert = require('assert');
const oniguruma = require('vscode-oniguruma');
const textmate = require('vscode-textmate');

const root = path.join(__dirname, '../../..');
const grammarFile = path.join(__dirname, '../syntaxes/poptic.tmLanguage.json');

function files(dir, out = []) {
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    const name = path.join(dir, entry.name);
    if (entry.isDirectory() && entry.name !== 'node_modules' && !entry.name.startsWith('.')) files(name, out);
    if (entry.isFile() && name.endsWith('.poptic')) out.push(name);
  }
  return out;
}

(async () => {
  const wasm = fs.readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm'));
  await oniguruma.loadWASM(wasm.buffer);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({ createOnigScanner: (p) => new oniguruma.OnigScanner(p), createOnigString: (s) => new oniguruma.OnigString(s) }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(grammarFile, 'utf8'), grammarFile),
  });
  const grammar = await registry.loadGrammar('source.poptic');

  // scopesOf lists [text, innermost scopes] of a text, line by line.
  const scopesOf = (text) => {
    let stack = textmate.INITIAL;
    return text.split(/\r?\n/).map((line) => {
      const result = grammar.tokenizeLine(line, stack);
      stack = result.ruleStack;
      return { line, tokens: result.tokens.map((t) => [line.slice(t.startIndex, t.endIndex), t.scopes.slice(1).join(' ')]), depth: stack.depth };
    });
  };

  let seen = 0;
  for (const file of files(root)) {
    for (const { line, tokens, depth } of scopesOf(fs.readFileSync(file, 'utf8'))) {
      if (/^(contract|library|import|const|define|roles|region|measure|compose|prove)\b/.test(line) && !/wrong|testdata\/(broken|mistakes)/.test(file)) {
        assert.ok(tokens[0][1].startsWith('keyword.control.declaration'), `${file}: ${line}: ${JSON.stringify(tokens)}`);
        seen++;
      }
      assert.ok(depth < 40, `${file}: ${line}`);
    }
  }
  assert.ok(seen > 100, `${seen} declarations`);

  const find = (text, part) => scopesOf(text).flatMap((l) => l.tokens).find(([t]) => t === part)?.[1];
  for (const [text, part, scope] of [
    ['stage s(k in /m) {', 's', 'entity.name.function.poptic'],
    ['stage s(k in /m) {', 'k', 'variable.parameter.poptic'],
    ['stage s {\n  read /a/{p}, x', 'read', 'keyword.other.poptic keyword.control.clause.poptic'],
    ['stage s {\n  read /a/{p}, x', 'p', 'string.unquoted.path.poptic variable.parameter.poptic'],
    ['invariant i { state.a > 0 }', 'state', 'meta.embedded.expression.cel variable.language.cel'],
    ['type T {\n  a: string where { self != "" }', 'string', 'support.type.poptic'],
    ['# why', '# why', 'comment.line.number-sign.poptic'],
  ]) {
    assert.strictEqual(find(text, part), scope, `${JSON.stringify(text)}: ${part}`);
  }
  console.log(`grammar: ${seen} declarations in their colours`);
})().catch((error) => { console.error(error); process.exit(1); });
