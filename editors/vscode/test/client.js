// Tests of the search for the compiler, and of the extension with and without one. The editor is made of as much
// as the extension asks for; the compiler is a script that answers what a server has to answer.

'use strict';

const assert = require('assert');
const fs = require('fs');
const Module = require('module');
const os = require('os');
const path = require('path');
const { setTimeout: sleep } = require('timers/promises');
const { findCompiler } = require('../src/compiler');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'nova-client-'));
const ending = process.platform === 'win32' ? '.EXE' : '';
const compiler = path.join(folder, 'bin', `novac${ending}`);
fs.mkdirSync(path.dirname(compiler));
fs.writeFileSync(compiler, '', { mode: 0o755 });
fs.writeFileSync(path.join(folder, 'text'), '', { mode: 0o644 });

function finds() {
  const environment = { PATH: ['', path.join(folder, 'absent'), path.dirname(compiler)].join(path.delimiter) };
  assert.strictEqual(findCompiler('novac', undefined, environment), compiler);
  assert.strictEqual(findCompiler('', undefined, environment), compiler, 'an empty setting is the default');
  assert.strictEqual(findCompiler('other', undefined, environment), undefined);
  assert.strictEqual(findCompiler(compiler, undefined, {}), compiler);
  assert.strictEqual(findCompiler('bin/novac', folder, {}), compiler, 'a path from the folder');
  assert.strictEqual(findCompiler('./bin', folder, {}), undefined, 'a folder is no compiler');
  if (process.platform !== 'win32') {
    assert.strictEqual(findCompiler('./text', folder, {}), undefined, 'a file that cannot be run');
  }
}

/** A language server that writes what it is asked into a file beside it. */
const SERVER = `#!${process.execPath}
const fs = require('fs');
const say = (text) => fs.appendFileSync(__filename + '.log', text + '\\n');
say('arguments ' + process.argv.slice(2).join(' '));
let text = '';
process.stdin.on('data', (data) => {
  text += data;
  for (;;) {
    const head = /^Content-Length: (\\d+)\\r\\n\\r\\n/.exec(text);
    if (!head || text.length < head[0].length + Number(head[1])) return;
    const { id, method } = JSON.parse(text.slice(head[0].length, head[0].length + Number(head[1])));
    text = text.slice(head[0].length + Number(head[1]));
    say(method);
    if (method === 'exit') process.exit(0);
    if (id === undefined) continue;
    const result = method === 'initialize' ? { capabilities: {} } : null;
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result });
    process.stdout.write('Content-Length: ' + answer.length + '\\r\\n\\r\\n' + answer);
  }
});
`;

/** What the extension says and shows, and the compiler of the settings. */
const seen = {
  compiler: '',
  messages: /** @type {string[]} */ ([]),
  status: { text: '', command: '', show() {}, dispose() {} },
  commands: new Map(),
};

/** Something of the editor that the test does not look at: a class, a function, an event or an object of such. */
function anything() {
  return new Proxy(class {}, {
    get: (all, name) => {
      if (name === 'then') return undefined;
      if (name === Symbol.iterator) return [][Symbol.iterator].bind([]);
      return name in all ? all[name] : anything();
    },
    apply: () => anything(),
    construct: (all, values, made) => withMore(Reflect.construct(all, values, made)),
  });
}

/** @param {object} known @returns {any} an object with more */
const withMore = (known) => new Proxy(known, { get: (all, name) => (name in all ? all[name] : anything()) });

function editor() {
  const message = async (/** @type {string} */ text) => { seen.messages.push(text); };
  return withMore({
    version: '1.82.0',
    StatusBarAlignment: { Right: 2 },
    env: { appName: 'test', language: 'en' },
    window: withMore({
      createOutputChannel: () => ({ append() {}, appendLine() {}, show() {}, dispose() {} }),
      createStatusBarItem: () => seen.status,
      showWarningMessage: message,
      showErrorMessage: message,
      visibleTextEditors: [],
    }),
    workspace: withMore({
      getConfiguration: () => ({ get: (name, other) => (name === 'compiler' ? seen.compiler : other) }),
      workspaceFolders: undefined,
      textDocuments: [],
    }),
    commands: withMore({
      registerCommand: (name, run) => { seen.commands.set(name, run); return { dispose() {} }; },
    }),
  });
}

async function activates() {
  const vscode = editor();
  const load = Module._load;
  Module._load = (name, ...rest) => (name === 'vscode' ? vscode : load(name, ...rest));
  const extension = require('../dist/extension.js');
  const context = { subscriptions: /** @type {any[]} */ ([]) };
  const restart = () => seen.commands.get('nova.restart')();

  // Without a compiler.
  seen.compiler = path.join(folder, 'absent', 'novac');
  await extension.activate(context);
  assert.deepStrictEqual([...seen.commands.keys()].sort(), contributed(), 'the commands of package.json');
  assert.match(seen.messages.join('\n'), /was not found.*`nova\.compiler`/);
  assert.match(seen.status.text, /warning/);
  assert.strictEqual(seen.status.command, 'nova.restart');

  // With one, which is started, asked, and ended.
  if (process.platform !== 'win32') {
    seen.compiler = path.join(folder, 'server');
    fs.writeFileSync(seen.compiler, SERVER, { mode: 0o755 });
    await restart();
    assert.deepStrictEqual([seen.status.text, seen.status.command], ['novac', 'nova.showOutput']);
    await restart();
    await extension.deactivate();
    const once = ['arguments lsp', 'initialize', 'initialized', 'shutdown', 'exit'];
    const asked = () => fs.readFileSync(`${seen.compiler}.log`, 'utf8').split('\n').filter((line) => once.includes(line));
    // The extension does not wait for the end of the process.
    for (let wait = 0; wait < 100 && asked().length < 2 * once.length; wait += 1) await sleep(50);
    assert.deepStrictEqual(asked(), [...once, ...once]);

    // With one that knows no `lsp`.
    seen.messages = [];
    seen.compiler = path.join(folder, 'old');
    fs.writeFileSync(seen.compiler, '#!/bin/sh\nexit 2\n', { mode: 0o755 });
    await restart();
    assert.match(seen.messages.join('\n'), /`.*old lsp` did not start/);
    assert.match(seen.status.text, /error/);
    assert.strictEqual(seen.status.command, 'nova.restart');
  }
  await extension.deactivate();
}

function contributed() {
  const { contributes } = require('../package.json');
  return contributes.commands.map(({ command }) => command).sort();
}

// The client's library writes to a server that has ended, and does not look at what comes of it.
process.on('unhandledRejection', () => {});

async function main() {
  finds();
  await activates();
  console.log('the compiler is found, started and ended; without one there is a message');
}

main()
  .catch((error) => { console.error(error); process.exitCode = 1; })
  .finally(() => fs.rmSync(folder, { recursive: true }));
