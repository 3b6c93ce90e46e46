/* A front end in C that writes text. It reads sums of waves and prints a program of NOVA.
 *
 *     waves FILE.wave >FILE.nova
 *
 * Each line of a file is a name, its frequency and its amplitude: `low 2 0.5`. The program is a function of
 * times, and its value at each time is the sum of all waves. `#` starts a comment. Each piece of the program
 * has its place in the file, so that messages are about the file and not about the text printed here. */
#include <stdio.h>
#include <string.h>

/* The longest line of a file. */
#define LINE 200

/* Prints a text of NOVA. */
static void print_text(const char *text)
{
    putchar('"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            putchar('\\');
        putchar(*text);
    }
    putchar('"');
}

/* Prints the beginning of a form that has its place in the file: the line, the columns from `start` up to
 * `end`, and what messages call it. Columns count characters from 1. */
static void print_place(const char *file, int line, int start, int end, const char *construct)
{
    printf("(at ");
    print_text(file);
    printf(" %d %d %d %d ", line, start, line, end);
    print_text(construct);
    putchar(' ');
}

/* Prints the wave of a line. `words` are its frequency and its amplitude, as they stand in the line. A word
 * that is no number becomes a name that the program does not have, so that NOVA reports it in its place. */
static void print_wave(const char *file, int number, const char *line, const char *name, char words[2][LINE])
{
    int start = (int)(strstr(line, name) - line) + 1, end = (int)strlen(line) + 1;
    print_place(file, number, start, end, name);
    printf("(wave ");
    const char *from = line + start - 1 + strlen(name);
    for (int k = 0; k < 2; k++) {
        const char *word = strstr(from, words[k]);
        int column = (int)(word - line) + 1;
        from = word + strlen(words[k]);
        print_place(file, number, column, (int)(from - line) + 1, k == 0 ? "frequency" : "amplitude");
        printf("%s) ", words[k]);
    }
    printf("t))");
}

int main(int count, char **arguments)
{
    FILE *file = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (file == NULL) {
        fprintf(stderr, "usage: waves FILE.wave\n");
        return 2;
    }
    printf("(define (wave (lambda (frequency : double) (amplitude : double) (t : double)\n"
           "  (* amplitude (sin (* frequency t))))))\n"
           "((times : vector double))\n"
           "(map (lambda (t) (reduce + 0.0 [0.0");
    char line[LINE], name[LINE], words[2][LINE];
    for (int number = 1; fgets(line, LINE, file) != NULL; number++) {
        if (strlen(line) == LINE - 1) {
            fprintf(stderr, "%s:%d: the line is too long\n", arguments[1], number);
            return 1;
        }
        line[strcspn(line, "#\r\n")] = '\0';
        for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]) != NULL; end--)
            line[end - 1] = '\0';
        if (sscanf(line, "%199s %199s %199s", name, words[0], words[1]) == 3) {
            printf("\n    ");
            print_wave(arguments[1], number, line, name, words);
        }
    }
    printf("])) times)\n");
    fclose(file);
    return ferror(stdout) ? 1 : 0;
}
