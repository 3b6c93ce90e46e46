// Compares the colours of the TextMate grammar with those of the tree-sitter grammar, on every program of
// the repository.
//
//   node test/agreement.js LIBRARY LIST
//
// LIBRARY is the parser, as `tree-sitter build` makes it, and LIST a file that names a program on each line.
// TREE_SITTER names the command-line tool of tree-sitter, which is otherwise on the PATH. VERBOSE shows what
// differs also where that is allowed.
// Where the TextMate grammar cannot know better the kinds of a few names differ, see ALLOWED.

'use strict';

const assert = require('assert');
const { execFileSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { loadGrammar, tokens } = require('./tokens');

const HIGHLIGHTS = path.join(__dirname, '../../tree-sitter-nova/queries/highlights.scm');

/** The kinds of the scopes of TextMate, the first that fits. @type {[RegExp, string][]} */
const KINDS_OF_SCOPES = [
  [/^comment/, 'comment'],
  [/^meta\.test/, 'none'],
  [/^keyword\.other\.test/, 'test'],
  [/^string/, 'string'],
  [/^constant\.character/, 'escape'],
  [/^constant\.numeric/, 'number'],
  [/^constant\.language/, 'constant'],
  [/^constant\.other/, 'value'],
  [/^support\.function/, 'built-in function'],
  [/^keyword\.operator/, 'operator'],
  [/^keyword\.control\.exception/, 'error'],
  [/^(keyword\.control|storage)/, 'keyword'],
  [/enummember/, 'constructor'],
  [/^(support|entity\.name)\.type/, 'type'],
  [/^entity\.name\.function/, 'function'],
  [/property/, 'property'],
  [/^variable\.language/, 'wildcard'],
  [/^variable/, 'variable'],
  [/^punctuation/, 'punctuation'],
];

/** The kinds of the captures of tree-sitter, the first that fits. @type {[RegExp, string][]} */
const KINDS_OF_CAPTURES = [
  [/^comment/, 'comment'],
  [/^keyword\.directive/, 'test'],
  [/^keyword\.exception/, 'error'],
  [/^keyword/, 'keyword'],
  [/^string\.escape/, 'escape'],
  [/^string/, 'string'],
  [/^number/, 'number'],
  [/^(boolean|constant\.builtin)/, 'constant'],
  [/^constant/, 'value'],
  [/^function\.builtin/, 'built-in function'],
  [/^function/, 'function'],
  [/^operator/, 'operator'],
  [/^constructor/, 'constructor'],
  [/^type/, 'type'],
  [/^property/, 'property'],
  [/^variable\.builtin/, 'wildcard'],
  [/^variable/, 'variable'],
  [/^punctuation/, 'punctuation'],
];

/** The kinds about which the grammars may never differ. */
const EXACT = ['comment', 'test', 'string', 'escape', 'keyword', 'error'];

/**
 * The number of other characters of a million that may differ. Those are names: a local one with a built-in
 * function's name, one with a type's capital letter, the head of the last list of a `let` without `in`.
 */
const ALLOWED = 1000;

/** @param {[RegExp, string][]} kinds @param {string} name */
function kindOf(kinds, name) {
  const found = kinds.find(([pattern]) => pattern.test(name));
  if (found === undefined) throw new Error(`${name} has no kind`);
  return found[1];
}

/** @typedef {string[][]} Kinds the kind of each character of each line */

/** @param {string[]} lines @returns {Kinds} */
const noKinds = (lines) => lines.map((line) => Array(line.length).fill('none'));

/** @param {any} grammar @param {string} text @param {string[]} lines */
function kindsOfTextmate(grammar, text, lines) {
  const kinds = noKinds(lines);
  for (const { line, start, end, scopes } of tokens(grammar, text)) {
    const scope = scopes[scopes.length - 1];
    kinds[line].fill(scope === undefined ? 'none' : kindOf(KINDS_OF_SCOPES, scope), start, end);
  }
  return kinds;
}

/**
 * @param {string} captures what `tree-sitter query` prints for one file
 * @param {string[]} lines
 */
function kindsOfTreeSitter(captures, lines) {
  const kinds = noKinds(lines);
  const found = [];
  let pattern = 0;
  const line = /pattern: +(\d+)|capture: \d+ - ([\w.]+), start: \((\d+), (\d+)\), end: \((\d+), (\d+)\)/g;
  for (const [, number, name, ...place] of captures.matchAll(line)) {
    if (number !== undefined) pattern = Number(number);
    else found.push({ pattern, name, place: place.map(Number) });
  }
  // Inner nodes are in front of outer ones, and of two captures of a node the last pattern's counts.
  const size = ({ place: [row, column, endRow, endColumn] }) => (endRow - row) * 1e6 + endColumn - column;
  found.sort((a, b) => size(b) - size(a) || a.pattern - b.pattern);
  // Columns count bytes.
  const column = (row, bytes) => Buffer.from(lines[row] ?? '').subarray(0, bytes).toString().length;
  for (const { name, place: [row, start, endRow, end] } of found) {
    for (let at = row; at <= endRow && at < lines.length; at += 1) {
      const from = at === row ? column(at, start) : 0;
      const to = at === endRow ? column(at, end) : lines[at].length;
      kinds[at].fill(kindOf(KINDS_OF_CAPTURES, name), from, to);
    }
  }
  return kinds;
}

/**
 * Returns what `tree-sitter query` prints for each program.
 *
 * @param {string} library @param {string} list @param {string[]} files @returns {Map<string, string>}
 */
function query(library, list, files) {
  const output = execFileSync(
    process.env.TREE_SITTER ?? 'tree-sitter',
    ['query', '--lib-path', path.resolve(library), '--lang-name', 'nova', '--paths', list, HIGHLIGHTS],
    { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const starts = files.map((file) => [file, output.indexOf(`${file}\n`)]);
  const missing = starts.find(([, at]) => at < 0);
  if (missing !== undefined) throw new Error(`${missing[0]}: no captures`);
  return new Map(output.split(/^(?=\S)/m).map((part) => {
    const end = part.indexOf('\n');
    return [part.slice(0, end), part.slice(end)];
  }));
}

async function main() {
  const [library, list] = process.argv.slice(2);
  const files = fs.readFileSync(list, 'utf8').split('\n').filter((file) => file !== '');
  assert(files.length > 0, `${list} names no program`);
  const grammar = await loadGrammar();
  const captures = query(library, list, files);
  let characters = 0;
  /** @type {Map<string, { count: number, examples: string[] }>} */
  const differences = new Map();
  for (const file of files) {
    const text = fs.readFileSync(file, 'utf8');
    // Editors take a byte-order mark away.
    if (text.startsWith('\uFEFF')) continue;
    const lines = text.split(/\r?\n/);
    const ours = kindsOfTextmate(grammar, text, lines);
    const theirs = kindsOfTreeSitter(captures.get(file) ?? '', lines);
    lines.forEach((content, row) => content.split('').forEach((character, k) => {
      if (/\s/.test(character)) return;
      characters += 1;
      if (theirs[row][k] === ours[row][k]) return;
      const pair = `${theirs[row][k]} / ${ours[row][k]}`;
      const difference = differences.get(pair) ?? { count: 0, examples: [] };
      differences.set(pair, difference);
      difference.count += 1;
      if (difference.examples.length < 4 && (k === 0 || theirs[row][k - 1] !== theirs[row][k] || ours[row][k - 1] !== ours[row][k])) {
        difference.examples.push(`${file}:${row + 1}:${k + 1}: ${content.slice(Math.max(0, k - 30), k)}»${content.slice(k, k + 30)}`);
      }
    }));
  }
  const known = [...differences].sort(([, a], [, b]) => b.count - a.count);
  const sum = known.reduce((total, [, { count }]) => total + count, 0);
  const isExact = ([pair]) => pair.split(' / ').some((kind) => EXACT.includes(kind));
  const failed = known.some(isExact) || sum * 1e6 > characters * ALLOWED;
  for (const [pair, { count, examples }] of failed || process.env.VERBOSE ? known : []) {
    console.log(`${pair}: ${count} characters`);
    examples.forEach((example) => console.log(`    ${example}`));
  }
  console.log(`${files.length} files, ${characters} characters, ${sum} of another kind in TextMate than in tree-sitter`);
  if (failed) process.exitCode = 1;
}

main();
