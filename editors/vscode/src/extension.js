// The client of the language server. Colours, brackets and snippets need no code.

'use strict';

const vscode = require('vscode');
const { CloseAction, ErrorAction, LanguageClient } = require('vscode-languageclient/node');
const { findCompiler } = require('./compiler');

/** @type {LanguageClient | undefined} */
let client;

/** The tasks that start and stop the server, one after the other. @type {Promise<void>} */
let queue = Promise.resolve();

/** @param {vscode.ExtensionContext} context */
function activate(context) {
  const output = vscode.window.createOutputChannel('NOVA');
  const status = vscode.window.createStatusBarItem('nova.status', vscode.StatusBarAlignment.Right);
  status.name = 'NOVA';
  const restart = () => {
    queue = queue.then(stop).then(() => start(output, status)).catch((error) => {
      output.appendLine(String(error?.stack ?? error));
    });
    return queue;
  };
  context.subscriptions.push(
    output,
    status,
    vscode.commands.registerCommand('nova.restart', restart),
    vscode.commands.registerCommand('nova.showOutput', () => output.show()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('nova.compiler')) restart();
    }),
  );
  return restart();
}

function deactivate() {
  queue = queue.then(stop);
  return queue;
}

async function stop() {
  const stopped = client;
  client = undefined;
  // A server that ended by itself cannot be stopped.
  await stopped?.stop().catch(() => {});
}

/**
 * @param {vscode.OutputChannel} output
 * @param {vscode.StatusBarItem} status
 */
async function start(output, status) {
  const setting = vscode.workspace.getConfiguration('nova').get('compiler', 'novac');
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const compiler = findCompiler(setting, folder);
  if (compiler === undefined) {
    showStatus(status, '$(warning) novac', 'nova.restart', `${setting} was not found. Click to try again.`);
    // The message stays until it is answered, and nobody waits for that.
    reportMissing(setting);
    return;
  }
  // A server that ends before it has started is not started again.
  let started = false;
  /** @type {LanguageClient} */
  const created = new LanguageClient(
    'nova',
    'NOVA',
    { command: compiler, args: ['lsp'] },
    {
      documentSelector: [{ language: 'nova' }],
      outputChannel: output,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: (error, message, count) =>
          started ? later.error(error, message, count) : { action: ErrorAction.Continue, handled: true },
        closed: () => (started ? later.closed() : { action: CloseAction.DoNotRestart, handled: true }),
      },
    },
  );
  /** @type {import('vscode-languageclient').ErrorHandler} */
  const later = created.createDefaultErrorHandler();
  client = created;
  try {
    await created.start();
    started = created.isRunning();
    if (!started) throw new Error('the server has ended');
    showStatus(status, 'novac', 'nova.showOutput', `${compiler} lsp`);
  } catch (error) {
    client = undefined;
    output.appendLine(`${compiler} lsp: ${error}`);
    showStatus(status, '$(error) novac', 'nova.restart', `${compiler} lsp did not start. Click to try again.`);
    reportFailure(compiler, output);
  }
}

/**
 * @param {vscode.StatusBarItem} status
 * @param {string} text
 * @param {string} command
 * @param {string} tooltip
 */
function showStatus(status, text, command, tooltip) {
  status.text = text;
  status.command = command;
  status.tooltip = tooltip;
  status.show();
}

/** @param {string} setting */
async function reportMissing(setting) {
  const message =
    `The NOVA compiler \`${setting}\` was not found. Install it so that it stands on the PATH, or set ` +
    '`nova.compiler` to its path. Colours and snippets work without it.';
  const answer = await vscode.window.showWarningMessage(message, 'Open Settings', 'Try Again');
  if (answer === 'Open Settings') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'nova.compiler');
  } else if (answer === 'Try Again') {
    await vscode.commands.executeCommand('nova.restart');
  }
}

/**
 * @param {string} compiler
 * @param {vscode.OutputChannel} output
 */
async function reportFailure(compiler, output) {
  const message =
    `The language server \`${compiler} lsp\` did not start. An older compiler has none; ` +
    '`novac --help` lists what it can do.';
  const answer = await vscode.window.showErrorMessage(message, 'Show Output', 'Open Settings');
  if (answer === 'Show Output') {
    output.show();
  } else if (answer === 'Open Settings') {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'nova.compiler');
  }
}

module.exports = { activate, deactivate };
