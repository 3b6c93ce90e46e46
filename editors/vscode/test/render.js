// Writes an example as a page with the colours of the TextMate grammar, for the eye.
//
//   node test/render.js [PROGRAM.nova [PAGE.html]]
//
// The script fails if a token of the page has a scope without a colour, or if one of the example's tokens
// lacks its scope.

'use strict';

const assert = require('assert');
const fs = require('fs');
const path = require('path');
const { loadGrammar, tokens } = require('./tokens');

const EXAMPLE = path.join(__dirname, 'example.nova');

/** Colours by scopes, the first that fits. @type {[RegExp, string][]} */
const COLOURS = [
  [/^comment/, 'comment'],
  [/^keyword\.other\.test/, 'test'],
  [/^constant\.character/, 'escape'],
  [/^string/, 'string'],
  [/^constant\.numeric/, 'number'],
  [/^constant/, 'constant'],
  [/^keyword\.operator/, 'operator'],
  [/^(keyword|storage)/, 'keyword'],
  [/^support\.function/, 'builtin'],
  [/enummember/, 'constructor'],
  [/^(support|entity\.name)\.type/, 'type'],
  [/^entity\.name\.function/, 'function'],
  [/^variable\.parameter/, 'parameter'],
  [/^(variable|meta)/, 'plain'],
  [/^punctuation/, 'punctuation'],
];

const STYLE = `
  body { background: #ffffff; color: #24292f; margin: 1.5em; }
  pre { font: 15px/1.45 "DejaVu Sans Mono", monospace; }
  .comment { color: #6e7781; font-style: italic } .test { color: #9a6700; font-weight: bold }
  .string { color: #0a6640 } .escape { color: #b35900; font-weight: bold } .number { color: #0550ae }
  .constant { color: #0550ae; font-weight: bold } .operator { color: #953800 } .keyword { color: #cf222e; font-weight: bold }
  .builtin { color: #8250df } .constructor { color: #bf3989 } .type { color: #116329 } .function { color: #6639ba; font-weight: bold }
  .parameter { color: #7a4b00; text-decoration: underline } .punctuation { color: #a0a8b0 }`;

/** Tokens of the example, with the line (from 1) and the scope. @type {[number, string, string][]} */
const EXPECTED = [
  [1, '; The distances of a node of a tree, and of points of a plane.', 'comment.line.semicolon.nova'],
  [2, 'import', 'keyword.control.import.nova'],
  [4, 'Point', 'entity.name.type.nova'],
  [5, 'Leaf', 'variable.other.enummember.constructor.nova'],
  [8, 'show_it', 'entity.name.function.nova'],
  [15, 'vec#4', 'support.type.nova'],
  [10, ' nest ', 'comment.block.nova'],
  [13, 'Point', 'entity.name.type.nova'],
  [13, 'float', 'support.type.nova'],
  [19, 'length', 'support.function.nova'],
  [22, '!', 'keyword.operator.nova'],
  [27, 'foreach', 'keyword.control.nova'],
  [29, 'Leaf*', 'variable.other.enummember.constructor.nova'],
  [33, '1i64', 'constant.numeric.nova'],
  [37, '\\n', 'constant.character.escape.nova'],
  [43, '.0', 'variable.other.property.nova'],
  [45, ';; test', 'keyword.other.test.nova'],
  [47, 'error index', 'keyword.control.exception.nova'],
];

/** @param {string} text */
const escape = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

async function main() {
  const [program = EXAMPLE, page] = process.argv.slice(2);
  const grammar = await loadGrammar();
  const text = fs.readFileSync(program, 'utf8');
  const found = tokens(grammar, text);
  if (path.resolve(program) === EXAMPLE) {
    for (const [line, token, scope] of EXPECTED) {
      const scopes = found.filter((one) => one.line === line - 1 && one.text === token).map((one) => one.scopes.at(-1));
      assert(scopes.includes(scope), `line ${line}: \`${token}\` has ${JSON.stringify(scopes)} instead of ${scope}`);
    }
  }
  const lines = text.split('\n').map((content, line) => {
    let at = 0;
    let html = '';
    for (const { start, end, scopes } of found.filter((token) => token.line === line)) {
      const scope = scopes.at(-1) ?? 'meta';
      const colour = COLOURS.find(([pattern]) => pattern.test(scope))?.[1];
      assert(colour !== undefined, `line ${line + 1}: ${scope} has no colour`);
      html += `${escape(content.slice(at, start))}<span class="${colour}">${escape(content.slice(start, end))}</span>`;
      at = end;
    }
    return html + escape(content.slice(at));
  });
  const html = `<!DOCTYPE html>\n<meta charset="utf-8">\n<title>${path.basename(program)}</title>\n<style>${STYLE}\n</style>\n<pre>${lines.join('\n')}</pre>\n`;
  if (page !== undefined) fs.writeFileSync(page, html);
  console.log(`${path.basename(program)}: ${found.length} tokens with colours`);
}

main();
