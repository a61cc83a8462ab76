// The client of `poptic lsp`. All that is known of contracts is known there; here are only the
// ways to start it, and to run tests, for which the editor has terminals.
const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

const program = () => vscode.workspace.getConfiguration('poptic').get('path') || 'poptic';

async function start() {
  const command = { command: program(), args: ['lsp'], transport: TransportKind.stdio };
  client = new LanguageClient('poptic', 'Poptic', command, {
    documentSelector: [{ language: 'poptic' }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher('**/*.poptic') },
  });
  try {
    await client.start();
  } catch (error) {
    vscode.window.showErrorMessage(`Poptic: cannot start "${program()} lsp": ${error.message}. Set "poptic.path" to the program.`);
  }
}

async function restart() {
  const old = client;
  client = undefined;
  try {
    await old?.dispose();
  } catch {
    // it had not started
  }
  await start();
}

// runTest runs one test of a file; its title is an argument, and no part of a command line.
function runTest(uri, title) {
  const file = vscode.Uri.parse(uri);
  const only = '^' + title.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&') + '(/|$)';
  const folder = vscode.workspace.getWorkspaceFolder(file);
  const run = new vscode.ShellExecution(program(), ['test', '--run', only, file.fsPath].map((value) => ({ value, quoting: vscode.ShellQuoting.Strong })));
  const task = new vscode.Task({ type: 'poptic', title }, folder ?? vscode.TaskScope.Workspace, title, 'poptic', run);
  task.presentationOptions = { clear: true, reveal: vscode.TaskRevealKind.Always };
  return vscode.tasks.executeTask(task);
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand('poptic.restart', restart),
    vscode.commands.registerCommand('poptic.runTest', runTest),
    vscode.workspace.onDidChangeConfiguration((change) => change.affectsConfiguration('poptic.path') && restart()),
  );
  await start();
};

exports.deactivate = () => client?.stop();
