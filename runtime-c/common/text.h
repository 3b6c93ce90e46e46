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

/* Text that grows. When memory runs out it stays as it is: nothing fails for a trace. */
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

/* The fewest digits, in scientific notation, that read back to the value; single says that they are
 * read as a float. Afterwards digits holds them without a point, and the value is
 * 0.d1d2d3… · 10^result. */
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
        /* The decimal point is whatever the locale says. */
        if (*rest >= '0' && *rest <= '9' && count < 31)
            digits[count++] = *rest;
    while (count > 1 && digits[count - 1] == '0')
        count--;
    digits[count] = '\0';
    return *rest == 'e' ? (int)strtol(rest + 1, NULL, 10) + 1 : 1;
}

/* A floating-point number: plain from 1e-5 up to 1e16, with an exponent otherwise. */
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
    double smallest = single ? (double)1e-5f : 1e-5;
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

#endif
