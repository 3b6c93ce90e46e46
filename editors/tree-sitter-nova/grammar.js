/**
 * @file Grammar of NOVA, a small functional language for data parallelism.
 * @license MIT OR Apache-2.0
 */

/// <reference types="tree-sitter-cli/dsl" />
// @ts-check

// The language's reader splits a text into names, numbers, texts and `( ) [ ] : ,`. What a
// parenthesised form means depends on its first word, on `:` and `,` in it, and in a few forms on
// which item is the last. The external token `_last` stands, without characters, in front of the
// last item of a form (see src/scanner.c). It separates a type from the body behind it, and the
// bindings of a `let` without `in` from its body, so that the grammar has no ambiguity there.

const NUMBER = /-?([0-9]+(L|f|[iu](8|16|32|64))?|0x[0-9a-fA-F]+(L|f|[iu](8|16|32|64))?|[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?[Lf]?)/;

// A name does not end in `.k`, which reads element k of a tuple.
const NAME = /[^\s()\[\],:;".]+|[^\s()\[\],:;"]*\.[0-9]*[^\s()\[\],:;".0-9][^\s()\[\],:;".]*/;

/** One item or more, with a token between them. */
function separated(token, item) {
  return seq(item, repeat(seq(token, item)));
}

/** Two items or more, with a comma between them. */
function tuple(item) {
  return seq('(', item, repeat1(seq(',', item)), ')');
}

module.exports = grammar({
  name: 'nova',

  externals: $ => [
    $.block_comment,
    $.string_content,
    $._last,
    $._test_end,
    $._error,
  ],

  extras: $ => [/\s/, $.comment, $.block_comment, $.test],

  word: $ => $.identifier,

  conflicts: $ => [
    // `((x : int) …` at the top level: the inputs, or an application of an annotated expression.
    [$.declaration, $.expression],
  ],

  supertypes: $ => [$.expression, $.pattern, $.type],

  rules: {
    source_file: $ => seq(optional($._byte_order_mark), repeat($._item)),

    _byte_order_mark: _ => '\uFEFF',

    _item: $ => choice(
      $.types,
      $.foreign,
      $.import,
      $.define,
      $.entry,
      $.inputs,
      $.expression,
    ),

    // Sections.

    types: $ => seq('(', 'types', repeat($.type_definition), ')'),

    type_definition: $ => seq(
      '(',
      field('name', alias($.identifier, $.type_identifier)),
      repeat(field('parameter', $.type_variable)),
      ':',
      field('type', $._type_sequence),
      ')',
    ),

    foreign: $ => seq('(', 'foreign', repeat($.foreign_declaration), ')'),

    foreign_declaration: $ => seq(
      '(',
      choice(
        seq(
          field('kind', choice('effect', 'device')),
          field('name', $.identifier),
        ),
        field('name', choice(
          $.identifier,
          alias('effect', $.identifier),
          alias('device', $.identifier),
        )),
      ),
      ':',
      field('type', $._type_sequence),
      ')',
    ),

    import: $ => seq('(', 'import', repeat1(field('path', $.string)), ')'),

    define: $ => seq('(', 'define', repeat($.definition), ')'),

    definition: $ => seq(
      '(',
      field('name', $.identifier),
      optional(seq(':', field('type', $._type_sequence), $._last)),
      field('value', $.expression),
      ')',
    ),

    entry: $ => seq(
      '(',
      'entry',
      field('name', $.identifier),
      field('inputs', $.inputs),
      field('body', $.expression),
      ')',
    ),

    // `()` at the top level is the list of inputs, not the value of `unit`.
    inputs: $ => prec.dynamic(1, prec(1, seq('(', repeat($.declaration), ')'))),

    declaration: $ => seq(
      '(',
      field('name', $.identifier),
      ':',
      field('type', $._type_sequence),
      ')',
    ),

    // Types. In parentheses and after a colon the parts of a type stand side by side.

    _type_sequence: $ => choice($.type, $.function_type),

    function_type: $ => seq(
      field('parameter', $.type),
      '->',
      field('result', $._type_sequence),
    ),

    type: $ => choice(
      $._single_type,
      $.vector_type,
      $.type_application,
      $.sum_type,
    ),

    _single_type: $ => choice(
      alias($.identifier, $.type_identifier),
      $.type_variable,
      $.tuple_type,
      $.parenthesized_type,
    ),

    vector_type: $ => seq(
      field('constructor', $.vector),
      field('element', $.type),
    ),

    type_application: $ => seq(
      field('constructor', alias($.identifier, $.type_identifier)),
      repeat1(field('argument', $._type_argument)),
    ),

    _type_argument: $ => choice(
      $._single_type,
      alias($._vector_argument, $.vector_type),
    ),

    _vector_argument: $ => seq(
      field('constructor', $.vector),
      field('element', $._type_argument),
    ),

    sum_type: $ => seq('+', repeat1($.constructor_declaration)),

    constructor_declaration: $ => seq(
      '(',
      field('name', alias($.identifier, $.constructor)),
      ':',
      field('payload', $._type_sequence),
      ')',
    ),

    tuple_type: $ => tuple($._type_sequence),

    parenthesized_type: $ => seq('(', $._type_sequence, ')'),

    vector: _ => choice('vector', /vector#[0-9]+/, /vec#[0-9]+/),

    type_variable: _ => /'[^\s()\[\],:;"]+/,

    // Patterns.

    pattern: $ => choice(
      $.identifier,
      $.wildcard,
      $.tuple_pattern,
      $.annotated_pattern,
      $.parenthesized_pattern,
    ),

    tuple_pattern: $ => tuple(choice(
      $.pattern,
      alias($._annotated_pattern_element, $.annotated_pattern),
    )),

    _annotated_pattern_element: $ => seq(
      field('pattern', $.pattern),
      ':',
      field('type', $._type_sequence),
    ),

    annotated_pattern: $ => seq('(', $._annotated_pattern_element, ')'),

    parenthesized_pattern: $ => seq('(', $.pattern, ')'),

    wildcard: _ => '_',

    // Expressions.

    expression: $ => choice(
      $.identifier,
      $.number,
      $.string,
      $.boolean,
      $.nil,
      $.unit,
      $.vector_literal,
      $.lambda,
      $.let,
      $.mu,
      $.if,
      $.case,
      $.foreach,
      $.up,
      $.dn,
      $.tuple,
      $.annotation,
      $.index,
      $.projection,
      $.application,
      $.parenthesized_expression,
    ),

    boolean: _ => choice('true', 'false'),

    nil: _ => 'nil',

    unit: _ => seq('(', ')'),

    vector_literal: $ => seq('[', repeat($.expression), ']'),

    lambda: $ => seq(
      '(',
      'lambda',
      field('parameters', repeat1($._parameters)),
      optional(seq(':', field('result', $._type_sequence))),
      $._last,
      field('body', $.expression),
      ')',
    ),

    _parameters: $ => choice(
      $.identifier,
      $.wildcard,
      $.tuple_pattern,
      $.annotated_pattern,
      $.parameter_list,
    ),

    parameter_list: $ => seq('(', repeat1($.pattern), ')'),

    let: $ => seq(
      '(',
      'let',
      repeat1($.binding),
      choice('in', $._last),
      field('body', $.expression),
      ')',
    ),

    binding: $ => seq(
      '(',
      field('pattern', $.pattern),
      optional(seq(':', field('type', $._type_sequence), $._last)),
      field('value', $.expression),
      ')',
    ),

    mu: $ => seq(
      '(',
      'mu',
      choice(
        field('name', $.identifier),
        seq(
          '(',
          field('name', $.identifier),
          optional(seq(':', field('type', $._type_sequence))),
          ')',
        ),
      ),
      field('value', $.expression),
      ')',
    ),

    if: $ => seq(
      '(',
      'if',
      field('condition', $.expression),
      optional('then'),
      field('consequence', $.expression),
      optional('else'),
      field('alternative', $.expression),
      ')',
    ),

    case: $ => seq(
      '(',
      'case',
      field('value', $.expression),
      repeat1($.arm),
      ')',
    ),

    arm: $ => seq(
      '(',
      field('constructor', choice(
        alias($.identifier, $.constructor),
        $.wildcard,
      )),
      optional(field('payload', $.pattern)),
      $._last,
      field('body', $.expression),
      ')',
    ),

    foreach: $ => seq(
      '(',
      'foreach',
      field('nodes', choice($.binding, $.node_group)),
      field('links', $.links),
      repeat1(field('body', $.expression)),
      ')',
    ),

    node_group: $ => seq(
      '(',
      alias($._group_binding, $.binding),
      repeat(alias($._group_type, $.binding)),
      ')',
    ),

    _group_binding: $ => seq(
      '(',
      field('pattern', $.pattern),
      field('value', $.expression),
      ')',
    ),

    _group_type: $ => seq(
      '(',
      field('pattern', $.pattern),
      field('type', alias($.identifier, $.type_identifier)),
      ')',
    ),

    links: $ => seq('(', $._link, $._link, ')'),

    _link: $ => choice($.identifier, $.wildcard),

    up: $ => seq(
      '(',
      'up',
      field('body', $.expression),
      repeat($.binding),
      ')',
    ),

    dn: $ => seq('(', 'dn', field('value', $.expression), ')'),

    tuple: $ => tuple(choice(
      $.expression,
      alias($._annotated_element, $.annotation),
    )),

    _annotated_element: $ => seq(
      field('value', $.expression),
      ':',
      field('type', $._type_sequence),
    ),

    annotation: $ => seq('(', $._annotated_element, ')'),

    index: $ => seq(
      '(',
      field('value', $.expression),
      '!',
      field('index', $.expression),
      ')',
    ),

    projection: $ => choice(
      seq('(', field('value', $.expression), '.', field('element', $.number), ')'),
      prec(1, seq(
        field('value', $.expression),
        field('element', alias(token.immediate(/\.[0-9]+/), $.element)),
      )),
    ),

    application: $ => seq(
      '(',
      field('function', $.expression),
      repeat1(field('argument', $.expression)),
      ')',
    ),

    parenthesized_expression: $ => seq('(', $.expression, ')'),

    // Tokens. A number is before the names, since a word that is both is a number.

    number: _ => token(NUMBER),

    identifier: _ => token(NAME),

    string: $ => seq(
      '"',
      repeat(choice($.string_content, $.escape_sequence)),
      token.immediate('"'),
    ),

    escape_sequence: _ => token.immediate(/\\([nt\\"]|x[0-9a-fA-F]{2})/),

    comment: _ => token(/;[^\r\n]*/),

    // A line `;; test name: X=[1 2] => 3`, the values of which may be texts of any form.
    test: $ => seq(
      alias(token(prec(1, /;;[ \t]*test[ \t]/)), $.test_marker),
      repeat(choice(
        $._test_space,
        alias($._test_arrow, '=>'),
        alias($._test_error, $.test_error),
        alias($._test_name, $.test_name),
        alias($._test_number, $.number),
        alias($._test_string, $.string),
        alias($._test_word, $.test_value),
        $._test_punctuation,
      )),
      $._test_end,
    ),
    _test_space: _ => token.immediate(/[ \t\r]+/),
    _test_arrow: _ => token.immediate('=>'),
    _test_error: _ => token.immediate(prec(1, /error[ \t]+[a-z]+/)),
    _test_name: _ => token.immediate(prec(1, /[^\s()\[\],:;"=0-9-][^\s()\[\],:;"=]*[=:]/)),
    _test_number: _ => token.immediate(/-?[0-9][^\s()\[\],:;"]*/),
    _test_string: _ => token.immediate(/"([^"\\\r\n]|\\[^\r\n])*"/),
    _test_word: _ => token.immediate(/[^\s()\[\],:;"=0-9][^\s()\[\],:;"=]*/),
    _test_punctuation: _ => token.immediate(/[()\[\],:;"=]/),
  },
});
