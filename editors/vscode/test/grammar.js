// Tests of the TextMate grammar: that the file is the one that syntaxes/build.js writes, and that named
// tokens of examples have named scopes.

'use strict';

const assert = require('assert');
const fs = require('fs');
const { FILE, text } = require('../syntaxes/build');
const { loadGrammar, tokens } = require('./tokens');

/**
 * Lines with the scopes of tokens in them. Of several tokens with one text the first counts that is not
 * named yet.
 *
 * @type {[string, [string, string][]][]}
 */
const EXAMPLES = [
  ['; a comment (f "x")', [['; a comment (f "x")', 'comment.line.semicolon.nova']]],
  ['#| a #| b |# (c |# d', [['(c', 'comment.block.nova'], ['d', 'variable.other.nova']]],
  [
    ';; test norm: X=[1.5 -2] => (Cons inf)',
    [
      [';; test', 'keyword.other.test.nova'], ['norm:', 'variable.parameter.nova'], ['X=', 'variable.parameter.nova'],
      ['1.5', 'constant.numeric.nova'], ['-2', 'constant.numeric.nova'], ['=>', 'keyword.operator.nova'],
      ['Cons', 'constant.other.nova'],
    ],
  ],
  [';; test X=[] => error length', [['error length', 'keyword.control.exception.nova']]],
  [
    '((X : vector float) (n:int))',
    [
      ['X', 'variable.parameter.nova'], ['vector', 'support.type.nova'], ['float', 'support.type.nova'],
      ['n', 'variable.parameter.nova'], ['int', 'support.type.nova'],
    ],
  ],
  ['(import "std/vectors")', [['import', 'keyword.control.import.nova'], ['std/vectors', 'string.quoted.double.nova']]],
  [
    "(types (List 'a : (+ (Nil : unit) (Cons : ('a, (List 'a))))))",
    [
      ['types', 'keyword.control.nova'], ['List', 'entity.name.type.nova'], ["'a", 'entity.name.type.parameter.nova'],
      ['+', 'keyword.operator.sum.nova'], ['Nil', 'variable.other.enummember.constructor.nova'],
      ['unit', 'support.type.nova'], ['Cons', 'variable.other.enummember.constructor.nova'],
      ['List', 'entity.name.type.nova'],
    ],
  ],
  [
    '(foreign (effect log_it : int -> int))',
    [
      ['foreign', 'keyword.control.nova'], ['effect', 'storage.modifier.nova'],
      ['log_it', 'entity.name.function.nova'], ['->', 'keyword.operator.arrow.nova'],
    ],
  ],
  [
    '(define (twice (lambda (x (a, b)) : int (* 2 (g x a)))))',
    [
      ['define', 'keyword.control.nova'], ['twice', 'entity.name.function.nova'], ['lambda', 'keyword.control.nova'],
      ['x', 'variable.parameter.nova'], ['b', 'variable.parameter.nova'], ['int', 'support.type.nova'],
      ['*', 'keyword.operator.nova'], ['2', 'constant.numeric.nova'], ['g', 'entity.name.function.nova'],
      ['x', 'variable.other.nova'],
    ],
  ],
  [
    '(let (k 0xff) (f (lambda v v)) in (map_seq f (X ! 0)))',
    [
      ['let', 'keyword.control.nova'], ['k', 'variable.other.nova'], ['0xff', 'constant.numeric.nova'],
      ['f', 'entity.name.function.nova'], ['v', 'variable.parameter.nova'], ['in', 'keyword.control.nova'],
      ['map_seq', 'support.function.nova'], ['!', 'keyword.operator.nova'],
    ],
  ],
  [
    '(case (f x) (Nil 0) (A (p, _) p.0.1) (_ (Some Nil*)))',
    [
      ['case', 'keyword.control.nova'], ['f', 'entity.name.function.nova'],
      ['Nil', 'variable.other.enummember.constructor.nova'], ['A', 'variable.other.enummember.constructor.nova'],
      ['_', 'variable.language.nova'], ['.0', 'variable.other.property.nova'],
      ['Some', 'variable.other.enummember.constructor.nova'], ['Nil*', 'variable.other.enummember.constructor.nova'],
    ],
  ],
  [
    '(if true then (mu (go : int -> int) 1i8) else nil)',
    [
      ['if', 'keyword.control.nova'], ['true', 'constant.language.nova'], ['then', 'keyword.control.nova'],
      ['go', 'entity.name.function.nova'], ['1i8', 'constant.numeric.nova'], ['else', 'keyword.control.nova'],
      ['nil', 'constant.language.nova'],
    ],
  ],
  [
    '(foreach ((x M) (y Forest)) (f d) x (f (dn y)))',
    [
      ['foreach', 'keyword.control.nova'], ['x', 'variable.other.nova'], ['Forest', 'entity.name.type.nova'],
      ['f', 'entity.name.function.nova'], ['d', 'entity.name.function.nova'], ['dn', 'keyword.control.nova'],
    ],
  ],
  // Names that contain what looks like other tokens.
  ['[1+ 2d letter map2 x-1 in? -7]', [
    ['1+', 'variable.other.nova'], ['2d', 'variable.other.nova'], ['letter', 'variable.other.nova'],
    ['map2', 'variable.other.nova'], ['x-1', 'variable.other.nova'], ['in?', 'variable.other.nova'],
    ['-7', 'constant.numeric.nova'],
  ]],
  ['"a\\n; \\q" 1', [
    ['\\n', 'constant.character.escape.nova'], ['; ', 'string.quoted.double.nova'],
    ['\\q', 'invalid.illegal.escape.nova'], ['1', 'constant.numeric.nova'],
  ]],
];

async function main() {
  assert.strictEqual(fs.readFileSync(FILE, 'utf8'), text(), `${FILE} is not what syntaxes/build.js writes`);
  const grammar = await loadGrammar();
  let count = 0;
  for (const [source, expected] of EXAMPLES) {
    const found = tokens(grammar, source);
    for (const [name, scope] of expected) {
      const at = found.findIndex((token) => token.text.trim() === name.trim());
      const rest = `${source}: ${name}`;
      assert.notStrictEqual(at, -1, `${rest} is no token of ${JSON.stringify(found.map((token) => token.text))}`);
      const [token] = found.splice(at, 1);
      assert.strictEqual(token.scopes[token.scopes.length - 1], scope, rest);
      count += 1;
    }
  }
  console.log(`${EXAMPLES.length} lines, ${count} tokens with the scopes that they should have`);
}

main();
