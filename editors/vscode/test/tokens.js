// The tokens that the TextMate grammar finds.

'use strict';

const fs = require('fs');
const path = require('path');
const oniguruma = require('vscode-oniguruma');
const textmate = require('vscode-textmate');
const { FILE } = require('../syntaxes/build');

/** @typedef {{ line: number, start: number, end: number, text: string, scopes: string[] }} Token */

async function loadGrammar() {
  const wasm = path.join(path.dirname(require.resolve('vscode-oniguruma')), 'onig.wasm');
  await oniguruma.loadWASM(fs.readFileSync(wasm));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(fs.readFileSync(FILE, 'utf8'), FILE),
  });
  const grammar = await registry.loadGrammar('source.nova');
  if (grammar === null) throw new Error(`${FILE} is no grammar`);
  return grammar;
}

/**
 * Returns the tokens of a text, without those of blanks. The scope of the whole file is left out.
 *
 * @param {textmate.IGrammar} grammar
 * @param {string} text
 * @returns {Token[]}
 */
function tokens(grammar, text) {
  let state = textmate.INITIAL;
  return text.split(/\r?\n/).flatMap((content, line) => {
    const result = grammar.tokenizeLine(content, state);
    state = result.ruleStack;
    return result.tokens
      .map(({ startIndex: start, endIndex: end, scopes }) => ({
        line, start, end: Math.min(end, content.length), text: content.slice(start, end), scopes: scopes.slice(1),
      }))
      .filter((token) => token.text.trim() !== '');
  });
}

module.exports = { loadGrammar, tokens };
