// Writes the TextMate grammar, which repeats a few expressions too often to be written by hand.
//
// A TextMate grammar sees one line at a time. It tells a type from a value by the token in front of it,
// and a constructor from another name by its capital letter. The grammar in ../../tree-sitter-nova
// knows the whole form. test/grammar.js compares the two.

'use strict';

const fs = require('fs');
const path = require('path');

/** The built-in functions that are words, in the order of the compiler's table. */
const FUNCTIONS = `
  min max neg abs sqrt rsqrt recip exp exp2 log log2 log10 sin cos tan asin acos atan sinh cosh tanh pow
  atan2 floor ceil round trunc erf not popcount and or map map_seq map_global map_workgroup map_local
  to_global to_local to_private range imap reduce reduce_comm scan exscan foldl scanl reduce_seq permute
  gather slice trace length filter scatter histogram count sort table datum zip unzip concat reverse
  replicate rotate update update_slice tabulate partition shape reshape transpose flatten rows unrows
  split join as_vector as_scalar segments unflatten iterate while
  to_int8 from_int8 wrap_int8 to_int16 from_int16 wrap_int16 to_int from_int wrap_int
  to_int64 from_int64 wrap_int64 to_uint8 from_uint8 wrap_uint8 to_uint16 from_uint16 wrap_uint16
  to_uint32 from_uint32 wrap_uint32 to_uint64 from_uint64 wrap_uint64 to_float from_float
  to_double from_double to_bool from_bool to_int32 from_int32 wrap_int32`.trim().split(/\s+/);

/** The built-in functions that are signs. */
const OPERATORS = ['+', '-', '*', '/', '%', '=', '~=', '<', '<=', '>', '>=', '&', '|', '^', '~', '<<', '>>', '!'];

const TYPES = 'int8 int16 int int32 int64 uint8 uint16 uint32 uint64 float double bool unit'.split(' ');

/** The words that begin a section or an expression. `import` stands apart. */
const WORDS = 'types foreign define entry lambda let mu if case foreach up dn'.split(' ');

/** The words that stand inside of a form. */
const INNER_WORDS = ['in', 'then', 'else'];

const CHARACTER = String.raw`[^\s()\[\],:;"]`;
const START = `(?<!${CHARACTER})`;
const END = `(?!${CHARACTER})`;
/** The end of a name, behind which elements of tuples may be read. */
const NAME_END = String.raw`(?=(?:\.[0-9]+)*${END})`;
const NAME = `${CHARACTER}+?${NAME_END}`;
const CONSTRUCTOR = String.raw`[A-Z][A-Za-z0-9_]*(?:[a-z][A-Za-z0-9_]*\*?|\*)`;
/** The text in front of a type, as far as it is on the same line. */
const BEFORE_TYPE = String.raw`(?<=:|->|vector|#[0-9]|#1[0-9])\s*`;

/** @param {string[]} words */
const anyOf = (words) => `(?:${words.map((word) => word.replace(/[+*/|^]/g, '\\$&')).join('|')})`;

const PARENTHESIS = 'punctuation.section.parens.nova';
const BUILT_IN = anyOf([...FUNCTIONS, ...OPERATORS]);

/** @param {string} name */
const include = (name) => ({ include: `#${name}` });

/** @param {string[]} names */
const captures = (...names) => Object.fromEntries(
  names.map((name, k) => [String(k + 1), { name }]).filter(([, { name }]) => name !== ''),
);

/**
 * A form from one parenthesis to the other.
 *
 * @param {string} begin what stands at its beginning
 * @param {string[]} names the scopes of its groups, of which the first is the parenthesis
 * @param {object[]} patterns
 */
const form = (begin, names, patterns) => ({
  begin,
  beginCaptures: captures(PARENTHESIS, ...names),
  end: String.raw`\)`,
  endCaptures: { 0: { name: PARENTHESIS } },
  patterns,
});

/** @param {string} word @param {object[]} patterns */
const keyword = (word, patterns) => form(String.raw`(\()\s*(${word})${END}`, ['keyword.control.nova'], patterns);

/** A form in the place right behind a keyword. @param {string[]} names @param {object[]} patterns */
const first = (begin, names, patterns) => form(String.raw`\G\s*(\()${begin}`, names, patterns);

const repository = {
  comments: {
    patterns: [
      include('test'),
      { name: 'comment.line.semicolon.nova', match: ';.*$' },
      include('block_comment'),
    ],
  },
  block_comment: {
    name: 'comment.block.nova',
    begin: `${START}#\\|`,
    end: '\\|#',
    patterns: [include('inner_comment')],
  },
  inner_comment: { begin: '#\\|', end: '\\|#', patterns: [include('inner_comment')] },

  // A line `;; test name: X=[1 2] => 3`.
  test: {
    name: 'meta.test.nova',
    begin: ';;[ \\t]*test(?=[ \\t])',
    beginCaptures: { 0: { name: 'keyword.other.test.nova' } },
    end: '$',
    patterns: [
      { name: 'keyword.operator.nova', match: '=>' },
      { name: 'keyword.control.exception.nova', match: `${START}error[ \\t]+[a-z]+` },
      { name: 'variable.parameter.nova', match: String.raw`[^\s()\[\],:;"=0-9-][^\s()\[\],:;"=]*[=:]` },
      { name: 'constant.numeric.nova', match: String.raw`-?[0-9]${CHARACTER}*` },
      { name: 'string.quoted.double.nova', match: String.raw`"(?:[^"\\]|\\.)*"` },
      { name: 'constant.other.nova', match: String.raw`[^\s()\[\],:;"=0-9][^\s()\[\],:;"=]*` },
    ],
  },

  string: {
    name: 'string.quoted.double.nova',
    begin: '"',
    end: '"|$',
    patterns: [
      { name: 'constant.character.escape.nova', match: String.raw`\\(?:[nt\\"]|x[0-9a-fA-F]{2})` },
      { name: 'invalid.illegal.escape.nova', match: String.raw`\\.` },
    ],
  },

  number: {
    name: 'constant.numeric.nova',
    match: String.raw`${START}-?(?:0x[0-9a-fA-F]+(?:L|f|[iu](?:8|16|32|64))?|[0-9]+[iu](?:8|16|32|64)|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?[Lf]?)${END}`,
  },

  // Types.

  type_name: {
    patterns: [
      { name: 'keyword.operator.arrow.nova', match: `${START}->${END}` },
      { name: 'support.type.nova', match: `${START}(?:vector(?:#[0-9]+)?|vec#[0-9]+|${TYPES.join('|')})${END}` },
      { name: 'entity.name.type.parameter.nova', match: `${START}'${CHARACTER}+` },
    ],
  },
  // Inside of the parentheses of a type all names are types, and those in front of a colon constructors.
  type: {
    patterns: [
      include('comments'),
      form(String.raw`(\()`, [], [include('type')]),
      { name: 'variable.other.enummember.constructor.nova', match: `(?<=\\()${CHARACTER}+(?=\\s*:)` },
      { name: 'punctuation.separator.nova', match: '[:,]' },
      { name: 'keyword.operator.sum.nova', match: `${START}\\+${END}` },
      include('type_name'),
      { name: 'entity.name.type.nova', match: `${CHARACTER}+` },
    ],
  },
  // A type behind a colon, up to a token that is no part of it.
  annotation: {
    begin: ':',
    beginCaptures: { 0: { name: 'punctuation.separator.nova' } },
    end: '(?=\\S)',
    applyEndPatternLast: true,
    patterns: [
      include('comments'),
      include('type_name'),
      { match: `${BEFORE_TYPE}(${CONSTRUCTOR})${END}`, captures: captures('entity.name.type.nova') },
      form(`${BEFORE_TYPE}(\\()`, [], [include('type')]),
    ],
  },

  // Patterns. All names in them are bound there.
  parameters: {
    patterns: [
      include('comments'),
      include('annotation'),
      form(String.raw`(\()`, [], [include('parameters')]),
      { name: 'punctuation.separator.nova', match: ',' },
      { name: 'variable.language.nova', match: `${START}_${END}` },
      { name: 'variable.parameter.nova', match: `${CHARACTER}+` },
    ],
  },
  binding: {
    patterns: [
      form(
        String.raw`(\()\s*(?!${BUILT_IN}${END})(${NAME})(?=\s+\(\s*(?:lambda|mu)${END})`,
        ['entity.name.function.nova'],
        [include('expression')],
      ),
      form(String.raw`(\()\s*(_)${END}`, ['variable.language.nova'], [include('expression')]),
      // A `let` without `in` ends in its body, which is no binding if it begins with a known word.
      form(
        String.raw`(\()\s*(?!(?:${anyOf(WORDS)}|${BUILT_IN}|${CONSTRUCTOR})${END})(${NAME})`,
        ['variable.other.nova'],
        [include('expression')],
      ),
      form(
        String.raw`(\()(?=\s*\()`,
        [],
        [first('', [], [include('parameters')]), include('expression')],
      ),
    ],
  },

  // `(y Forest)` in a `foreach` over a group of types.
  group_type: {
    match: String.raw`(\()\s*(${NAME})\s+(${CONSTRUCTOR})\s*(\))`,
    captures: captures(PARENTHESIS, 'variable.other.nova', 'entity.name.type.nova', PARENTHESIS),
  },

  // Sections and expressions that begin with a word.
  forms: {
    patterns: [
      keyword('types', [
        include('comments'),
        form(String.raw`(\()\s*(${NAME})`, ['entity.name.type.nova'], [include('type')]),
      ]),
      keyword('foreign', [
        include('comments'),
        form(
          String.raw`(\()\s*(?:(effect|device)\s+(?!:))?(${NAME})`,
          ['storage.modifier.nova', 'entity.name.function.nova'],
          [include('type')],
        ),
      ]),
      form(String.raw`(\()\s*(import)${END}`, ['keyword.control.import.nova'], [include('comments'), include('string')]),
      keyword('define', [
        include('comments'),
        form(String.raw`(\()\s*(${NAME})`, ['entity.name.function.nova'], [include('expression')]),
      ]),
      keyword('entry', [
        { match: String.raw`\G\s*(${NAME})`, captures: captures('entity.name.function.nova') },
        include('expression'),
      ]),
      keyword('lambda', [
        first('', [], [include('parameters')]),
        { match: String.raw`\G\s*(_)${END}`, captures: captures('variable.language.nova') },
        { match: String.raw`\G\s*(${NAME})`, captures: captures('variable.parameter.nova') },
        include('expression'),
      ]),
      keyword('let', [
        {
          begin: '\\G',
          end: `${START}(in)${END}|(?=\\))`,
          endCaptures: captures('keyword.control.nova'),
          patterns: [include('comments'), include('binding'), include('expression')],
        },
        include('expression'),
      ]),
      keyword('mu', [
        first(String.raw`\s*(${NAME})`, ['entity.name.function.nova'], [include('annotation')]),
        { match: String.raw`\G\s*(${NAME})`, captures: captures('entity.name.function.nova') },
        include('expression'),
      ]),
      keyword('case', [
        // What is matched; the lists behind it are arms.
        { begin: '\\G\\s*(?=\\()', end: '(?<=\\))', patterns: [include('forms'), include('list')] },
        include('comments'),
        form(String.raw`(\()\s*(_)${END}`, ['variable.language.nova'], [include('expression')]),
        form(String.raw`(\()\s*(${NAME})`, ['variable.other.enummember.constructor.nova'], [include('expression')]),
        include('expression'),
      ]),
      keyword('foreach', [
        {
          begin: '\\G\\s*(?=\\()',
          end: String.raw`(\()\s*(${NAME})\s+(${NAME})\s*(\))`,
          endCaptures: captures(PARENTHESIS, 'entity.name.function.nova', 'entity.name.function.nova', PARENTHESIS),
          applyEndPatternLast: true,
          patterns: [
            include('comments'),
            first('(?=\\s*\\()', [], [include('group_type'), include('binding'), include('expression')]),
            first(String.raw`\s*(${NAME})`, ['variable.other.nova'], [include('expression')]),
          ],
        },
        include('expression'),
      ]),
      keyword('up', [
        { begin: '\\G\\s*(?=\\()', end: '(?<=\\))', patterns: [include('forms'), include('list')] },
        include('binding'),
        include('expression'),
      ]),
      keyword('if|dn', [include('expression')]),
    ],
  },

  list: {
    patterns: [
      form(String.raw`(\()`, [], [
        { name: 'variable.parameter.nova', match: `(?<=\\()(?!(?:${CONSTRUCTOR}|_)${END})[^\\s()\\[\\],:;"0-9-]${CHARACTER}*(?=\\s*:)` },
        include('literal'),
        include('known_name'),
        // The first item of an application.
        {
          name: 'entity.name.function.nova',
          match: String.raw`(?<=\()${NAME}(?=\s+(?![!.]${END})[^\s,:);]|\s*$)`,
        },
        include('expression'),
      ]),
      {
        begin: '\\[',
        beginCaptures: { 0: { name: 'punctuation.section.brackets.nova' } },
        end: '\\]',
        endCaptures: { 0: { name: 'punctuation.section.brackets.nova' } },
        patterns: [include('expression')],
      },
    ],
  },

  literal: {
    patterns: [
      include('string'),
      include('number'),
      { name: 'constant.language.nova', match: `${START}(?:true|false|nil)${END}` },
    ],
  },

  known_name: {
    patterns: [
      { name: 'keyword.control.nova', match: `${START}${anyOf(INNER_WORDS)}${END}` },
      { name: 'variable.language.nova', match: `${START}_${END}` },
      { name: 'support.function.nova', match: `${START}${anyOf(FUNCTIONS)}${NAME_END}` },
      // `(e . 0)`
      {
        match: String.raw`${START}(\.)\s+([0-9]+)(?=\s*\))`,
        captures: captures('keyword.operator.nova', 'variable.other.property.nova'),
      },
      { name: 'keyword.operator.nova', match: `${START}${anyOf([...OPERATORS, '->'])}${END}` },
      { name: 'variable.other.enummember.constructor.nova', match: `${START}${CONSTRUCTOR}${NAME_END}` },
    ],
  },

  expression: {
    patterns: [
      include('comments'),
      include('forms'),
      include('list'),
      include('annotation'),
      include('literal'),
      include('known_name'),
      { name: 'punctuation.separator.nova', match: ',' },
      { name: 'variable.other.property.nova', match: String.raw`(?<=[^\s(\[,:;])\.[0-9]+(?=[.\s()\[\],:;"]|$)` },
      { name: 'variable.other.nova', match: NAME },
    ],
  },
};

const grammar = {
  name: 'NOVA',
  scopeName: 'source.nova',
  fileTypes: ['nova'],
  patterns: [include('expression')],
  repository,
};

const FILE = path.join(__dirname, 'nova.tmLanguage.json');

module.exports = { FILE, FUNCTIONS, OPERATORS, TYPES, WORDS, INNER_WORDS, text: () => `${JSON.stringify(grammar, null, 2)}\n` };

if (require.main === module) fs.writeFileSync(FILE, module.exports.text());
