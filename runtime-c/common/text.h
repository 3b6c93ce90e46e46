/* Values as text, for trace: the same text on every system and in every locale. */
#ifndef NOVA_TEXT_H
#define NOVA_TEXT_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Text that grows. It stays as it is if there is no more memory: a trace never fails. */
typedef struct nova_text {
    char *bytes;
    size_t length;
    size_t capacity;
} nova_text;

static void nova_text_bytes(nova_text *text, const void *bytes, size_t length)
{
    if (length > text->capacity - text->length) {
        size_t capacity = 2 * (text->length + length) + 256;
        char *larger = (char *)realloc(text->bytes, capacity);
        if (larger == NULL)
            return;
        text->bytes = larger;
        text->capacity = capacity;
    }
    if (length > 0)
        memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
}

static void nova_text_string(nova_text *text, const char *string)
{
    nova_text_bytes(text, string, strlen(string));
}

static void nova_text_bool(nova_text *text, bool value)
{
    nova_text_string(text, value ? "true" : "false");
}

static void nova_text_signed(nova_text *text, int64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRId64, value);
    nova_text_string(text, digits);
}

static void nova_text_unsigned(nova_text *text, uint64_t value)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRIu64, value);
    nova_text_string(text, digits);
}

/* The fewest digits, in scientific notation, that read back to the value; `single` says that they are
 * read as a float. Writes them to digits without a point. The value is 0.d1d2d3… · 10^result. */
static int nova_shortest_digits(double value, bool single, char digits[32])
{
    char written[48];
    for (int precision = 0; precision <= 16; precision++) {
        snprintf(written, sizeof written, "%.*e", precision, value);
        if (single ? strtof(written, NULL) == (float)value : strtod(written, NULL) == value)
            break;
    }
    int count = 0;
    const char *rest = written;
    for (; *rest != 'e' && *rest != '\0'; rest++)
        /* The decimal point depends on the locale. */
        if (*rest >= '0' && *rest <= '9' && count < 31)
            digits[count++] = *rest;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return *rest == 'e' ? (int)strtol(rest + 1, NULL, 10) + 1 : 1;
}

/* A floating-point number: plain from 1e-4 up to 1e16, with an exponent otherwise. */
static void nova_text_float(nova_text *text, double value, bool single)
{
    char digits[32];
    if (value != value) {
        nova_text_string(text, "nan");
        return;
    }
    if (signbit(value))
        nova_text_string(text, "-");
    value = fabs(value);
    if (isinf(value)) {
        nova_text_string(text, "inf");
        return;
    }
    int point = nova_shortest_digits(value, single, digits);
    int count = (int)strlen(digits);
    double smallest = single ? (double)1e-4f : 1e-4;
    if (value != 0.0 && (value < smallest || value >= 1e16)) {
        nova_text_bytes(text, digits, 1);
        if (count > 1) {
            nova_text_string(text, ".");
            nova_text_string(text, digits + 1);
        }
        nova_text_string(text, "e");
        nova_text_signed(text, point - 1);
    } else if (point <= 0) {
        nova_text_string(text, "0.");
        for (int k = point; k < 0; k++)
            nova_text_string(text, "0");
        nova_text_string(text, digits);
    } else {
        for (int k = 0; k < point; k++)
            nova_text_bytes(text, k < count ? &digits[k] : "0", 1);
        nova_text_string(text, ".");
        nova_text_string(text, count > point ? digits + point : "0");
    }
}

/* Writes the text as one line to standard error and frees it. */
static void nova_text_show(nova_text *text)
{
    nova_text_string(text, "\n");
    fwrite(text->bytes, 1, text->length, stderr);
    free(text->bytes);
}

/* A part of recursive data that is still to be written: text or a link. */
typedef struct nova_token {
    int32_t table; /* the table of the link, -1 for text */
    int64_t link;
    size_t start;  /* the offset of its text in the pieces */
    size_t length;
} nova_token;

/* A stack of tokens, the next one last. The tokens of the current node are above it, in order. */
typedef struct nova_tokens {
    nova_token *stack;
    size_t count;
    size_t capacity;
    size_t node;      /* the first token of the node being written */
    nova_text pieces; /* the text of the tokens */
    size_t mark;      /* the start of text that has no token yet */
} nova_tokens;

static void nova_push_token(nova_tokens *tokens, nova_token token)
{
    if (tokens->count == tokens->capacity) {
        size_t capacity = 2 * tokens->capacity + 64;
        void *larger = realloc(tokens->stack, capacity * sizeof(nova_token));
        if (larger == NULL)
            return;
        tokens->stack = (nova_token *)larger;
        tokens->capacity = capacity;
    }
    tokens->stack[tokens->count++] = token;
}

/* Makes a token of the text since the last token. */
static void nova_token_text(nova_tokens *tokens)
{
    nova_token token = {-1, 0, tokens->mark, tokens->pieces.length - tokens->mark};
    tokens->mark = tokens->pieces.length;
    if (token.length > 0)
        nova_push_token(tokens, token);
}

/* Makes a token of a link. */
static void nova_token_link(nova_tokens *tokens, int32_t table, int64_t link)
{
    nova_token token = {table, link, 0, 0};
    nova_token_text(tokens);
    nova_push_token(tokens, token);
}

/* Ends a node: its first token becomes the next one. */
static void nova_finish_tokens(nova_tokens *tokens)
{
    nova_token_text(tokens);
    for (size_t low = tokens->node, high = tokens->count; low + 1 < high; low++, high--) {
        nova_token token = tokens->stack[low];
        tokens->stack[low] = tokens->stack[high - 1];
        tokens->stack[high - 1] = token;
    }
}

/* Writes text up to the next link. Returns false if there is none. */
static bool nova_next_link(nova_tokens *tokens, nova_text *text, int32_t *table, int64_t *link)
{
    while (tokens->count > 0) {
        nova_token token = tokens->stack[--tokens->count];
        if (token.table >= 0) {
            *table = token.table;
            *link = token.link;
            tokens->node = tokens->count;
            return true;
        }
        nova_text_bytes(text, tokens->pieces.bytes + token.start, token.length);
    }
    return false;
}

static void nova_free_tokens(nova_tokens *tokens)
{
    free(tokens->stack);
    free(tokens->pieces.bytes);
}

#endif
