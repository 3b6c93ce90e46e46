// Compares the names in the grammars of the editors with the compiler's own tables: the built-in functions,
// the built-in types and the reserved words.
//
//   node editors/check-names.js [FOLDER OF THE REPOSITORY]

'use strict';

const fs = require('fs');
const path = require('path');
const textmate = require('./vscode/syntaxes/build');

const repository = path.resolve(process.argv[2] ?? path.join(__dirname, '..'));

/** @param {string} file */
const source = (file) => fs.readFileSync(path.join(repository, file), 'utf8');

/**
 * Returns the first groups of all matches in the part of a text between two others.
 *
 * @param {string} text @param {string} from @param {string} to @param {RegExp} pattern
 */
function between(text, from, to, pattern) {
  const start = text.indexOf(from);
  const end = text.indexOf(to, start + from.length);
  if (start < 0 || end < 0) throw new Error(`\`${from}\` … \`${to}\` is not there`);
  const found = [...text.slice(start + from.length, end).matchAll(pattern)].map(([, name]) => name);
  if (found.length === 0) throw new Error(`nothing is found behind \`${from}\``);
  return found;
}

// The compiler's tables.
const scalars = between(source('crates/nova-core/src/scalar.rs'), 'pub const SCALARS', '];', /\bname: "([^"]+)"/g);
const operations = between(
  source('crates/nova-core/src/builtin/scalar.rs'), 'scalar_operations! {', '\n}', /^ +\w+ "([^"]+)"/gm,
);
const functions = between(
  source('crates/nova-infer/src/builtins.rs'), 'const FUNCTIONS: &[(&str, &str, Lowering)] = &[', '\n];',
  /^ {4}\(\s*"([^"]+)"/gm,
);
const conversions = [...scalars, 'int32'].flatMap((name) => [
  `to_${name}`, `from_${name}`, ...(/int/.test(name) ? [`wrap_${name}`] : []),
]);
const reserved = between(
  source('crates/nova-syntax/src/parse/mod.rs'), 'pub const RESERVED', '];', /"([^"]+)"/g,
);
const table = {
  functions: [...operations, ...conversions, ...functions],
  types: [...scalars, 'int32', 'unit'],
  reserved: [...reserved, 'nil'],
};

// The grammars.
const grammar = fs.readFileSync(path.join(__dirname, 'tree-sitter-nova/grammar.js'), 'utf8');
const highlights = fs.readFileSync(path.join(__dirname, 'tree-sitter-nova/queries/highlights.scm'), 'utf8');
/** @param {string} capture */
const listed = (capture) => between(highlights, `(#any-of? @${capture}`, ')', /"([^"]+)"/g);
const inParser = [...grammar.matchAll(/'([a-z]+)'/g)].map(([, word]) => word);
const queries = {
  functions: [...listed('operator'), ...listed('function.builtin')],
  types: listed('type.builtin'),
  // The other words of the grammar are no reserved ones.
  reserved: [...new Set(inParser)].filter((word) => table.reserved.includes(word)),
};
const extension = {
  functions: [...textmate.FUNCTIONS, ...textmate.OPERATORS],
  types: textmate.TYPES,
  reserved: [...textmate.WORDS, ...textmate.INNER_WORDS, 'import', 'true', 'false', 'nil'],
};

let wrong = false;
for (const [grammarName, names] of Object.entries({ 'tree-sitter': queries, TextMate: extension })) {
  for (const kind of /** @type {const} */ (['functions', 'types', 'reserved'])) {
    const missing = table[kind].filter((name) => !names[kind].includes(name));
    const surplus = names[kind].filter((name, k) => !table[kind].includes(name) || names[kind].indexOf(name) !== k);
    for (const [what, list] of [['lacks', missing], ['has too many', surplus]]) {
      if (list.length === 0) continue;
      console.log(`${grammarName} ${what} ${kind}: ${list.join(' ')}`);
      wrong = true;
    }
  }
}
console.log(`${table.functions.length} functions, ${table.types.length} types, ${table.reserved.length} reserved words`);
if (wrong) process.exitCode = 1;
