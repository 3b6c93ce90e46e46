// Tokens that need more than a regular expression:
//
// - BLOCK_COMMENT `#| … |#`, which nests.
// - STRING_CONTENT, the characters of a text between its quotes and escapes.
// - LAST, without characters, in front of the last item of a form. It stands where the parser asks
//   for it and the next item is followed by `)`.
// - TEST_END, without characters, at the end of the line of a `;; test`.
//
// The scanner has no state.

#include "tree_sitter/parser.h"

#include <wctype.h>

enum TokenType {
  BLOCK_COMMENT,
  STRING_CONTENT,
  LAST,
  TEST_END,
  // Never in a rule, so that it is asked for only while the parser recovers from an error.
  ERROR,
};

void *tree_sitter_nova_external_scanner_create(void) { return NULL; }

void tree_sitter_nova_external_scanner_destroy(void *payload) { (void)payload; }

unsigned tree_sitter_nova_external_scanner_serialize(void *payload, char *buffer) {
  (void)payload;
  (void)buffer;
  return 0;
}

void tree_sitter_nova_external_scanner_deserialize(void *payload, const char *buffer,
                                                   unsigned length) {
  (void)payload;
  (void)buffer;
  (void)length;
}

static void advance(TSLexer *lexer) { lexer->advance(lexer, false); }

static bool is_space(int32_t c) { return c == 0xFEFF || iswspace((wint_t)c); }

// True for a character that ends a name or number.
static bool is_delimiter(int32_t c) {
  switch (c) {
  case '(': case ')': case '[': case ']': case ',': case ':': case ';': case '"':
    return true;
  default:
    return is_space(c);
  }
}

// Skips the rest of a block comment, after its `#|`. One that is not closed reaches to the end of
// the text. Returns false for such a comment.
static bool skip_block_comment(TSLexer *lexer) {
  unsigned depth = 1;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    advance(lexer);
    if (c == '#' && lexer->lookahead == '|') {
      advance(lexer);
      depth++;
    } else if (c == '|' && lexer->lookahead == '#') {
      advance(lexer);
      if (--depth == 0) return true;
    }
  }
  return false;
}

static void skip_line(TSLexer *lexer) {
  while (!lexer->eof(lexer) && lexer->lookahead != '\n') advance(lexer);
}

// Skips a text, from its first quote on. Returns false if it is not closed on its line.
static bool skip_string(TSLexer *lexer) {
  advance(lexer);
  while (!lexer->eof(lexer) && lexer->lookahead != '\n') {
    int32_t c = lexer->lookahead;
    advance(lexer);
    if (c == '"') return true;
    if (c == '\\' && !lexer->eof(lexer) && lexer->lookahead != '\n') advance(lexer);
  }
  return false;
}

// Skips the characters of a name or number.
static void skip_atom(TSLexer *lexer) {
  while (!lexer->eof(lexer) && !is_delimiter(lexer->lookahead)) advance(lexer);
}

// Skips one character `#` and what it begins: a block comment, or a name. Returns false at a comment
// that is not closed.
static bool skip_hash(TSLexer *lexer, bool *is_comment) {
  advance(lexer);
  *is_comment = lexer->lookahead == '|';
  if (*is_comment) {
    advance(lexer);
    return skip_block_comment(lexer);
  }
  skip_atom(lexer);
  return true;
}

// Skips an atom right behind a closing parenthesis, if it is `.k` or `.k.j`. Returns false if it is
// an item of its own.
static bool skip_projection(TSLexer *lexer) {
  while (lexer->lookahead == '.') {
    advance(lexer);
    if (!iswdigit((wint_t)lexer->lookahead)) return false;
    while (iswdigit((wint_t)lexer->lookahead)) advance(lexer);
  }
  return lexer->eof(lexer) || is_delimiter(lexer->lookahead);
}

// Skips from an opening parenthesis or bracket behind the one that closes it. Returns false if there is none.
static bool skip_sequence(TSLexer *lexer) {
  unsigned depth = 0;
  while (!lexer->eof(lexer)) {
    bool is_comment;
    switch (lexer->lookahead) {
    case '(': case '[':
      depth++;
      advance(lexer);
      break;
    case ')': case ']':
      advance(lexer);
      if (--depth == 0) return true;
      break;
    case '"':
      if (!skip_string(lexer)) return false;
      break;
    case ';':
      skip_line(lexer);
      break;
    case '#':
      if (!skip_hash(lexer, &is_comment)) return false;
      break;
    case ',': case ':':
      advance(lexer);
      break;
    default:
      if (is_space(lexer->lookahead)) advance(lexer);
      else skip_atom(lexer);
    }
  }
  return false;
}

// True if nothing but blanks and comments stands before the next `)`.
static bool at_closing_parenthesis(TSLexer *lexer) {
  while (!lexer->eof(lexer)) {
    bool is_comment;
    int32_t c = lexer->lookahead;
    if (c == ';') skip_line(lexer);
    else if (c == '#') {
      if (!skip_hash(lexer, &is_comment) || !is_comment) return false;
    } else if (is_space(c)) advance(lexer);
    else return c == ')';
  }
  return false;
}

// Scans LAST, at the first character of an item. `begun` is true behind a `#` that is none of a comment.
static bool scan_last(TSLexer *lexer, bool begun) {
  lexer->result_symbol = LAST;
  if (!begun) {
    switch (lexer->lookahead) {
    case '(': case '[':
      if (!skip_sequence(lexer) || !skip_projection(lexer)) return false;
      return at_closing_parenthesis(lexer);
    case '"':
      return skip_string(lexer) && at_closing_parenthesis(lexer);
    default:
      if (is_delimiter(lexer->lookahead)) return false;
    }
  }
  skip_atom(lexer);
  return at_closing_parenthesis(lexer);
}

static bool scan_string_content(TSLexer *lexer) {
  bool any = false;
  while (!lexer->eof(lexer)) {
    int32_t c = lexer->lookahead;
    if (c == '"' || c == '\\' || c == '\n') break;
    advance(lexer);
    any = true;
  }
  lexer->mark_end(lexer);
  lexer->result_symbol = STRING_CONTENT;
  return any;
}

bool tree_sitter_nova_external_scanner_scan(void *payload, TSLexer *lexer,
                                            const bool *valid_symbols) {
  (void)payload;
  bool recovering = valid_symbols[ERROR];
  if (valid_symbols[STRING_CONTENT] && !recovering) return scan_string_content(lexer);
  if (valid_symbols[TEST_END] && !recovering) {
    lexer->result_symbol = TEST_END;
    return lexer->eof(lexer) || lexer->lookahead == '\n';
  }
  while (!lexer->eof(lexer) && is_space(lexer->lookahead)) lexer->advance(lexer, true);
  // LAST has no characters; a comment sets the end anew.
  lexer->mark_end(lexer);
  bool begun = lexer->lookahead == '#';
  if (begun) {
    advance(lexer);
    if (lexer->lookahead == '|') {
      advance(lexer);
      if (!valid_symbols[BLOCK_COMMENT]) return false;
      skip_block_comment(lexer);
      lexer->mark_end(lexer);
      lexer->result_symbol = BLOCK_COMMENT;
      return true;
    }
  }
  return valid_symbols[LAST] && !recovering && scan_last(lexer, begun);
}
