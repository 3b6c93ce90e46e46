/* Tests of the number of threads: the number that is asked for, and the limits of control groups. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE
#endif
#include "../pthreads/processors.h"
#include "test.h"
#include <sys/stat.h>

static char root[64];

/* Writes a file below the root, and makes the folders that contain it. */
static void put(const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, file);
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *stream = fopen(path, "w");
    CHECK(stream != NULL && fputs(text, stream) >= 0 && fclose(stream) == 0);
}

/* The limit of a process in these groups. */
static int quota(const char *groups)
{
    char list[256];
    put("list", groups);
    snprintf(list, sizeof list, "%s/list", root);
    return nova_quota(list, root);
}

static void texts_ask_for_threads(void)
{
    static const struct {
        const char *text;
        int count;
    } cases[] = {
        {NULL, 0},      {"", 0},        {" ", 0},     {"1", 1},       {"8", 8},
        {" 8 ", 8},     {"+3", 3},      {"007", 7},   {"0", 0},       {"-1", 0},
        {"many", 0},    {"4 threads", 0}, {"2.5", 0}, {"4,2", 0},     {"0x10", 0},
        {"256", 256},   {"257", 256},   {"99999999999999999999", 256}, {"-99999999999999999999", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK(nova_asked_threads(cases[i].text) == cases[i].count);
}

static void groups_limit(void)
{
    CHECK(quota("") == 0);
    CHECK(quota("0::/\n") == 0);
    put("two/cpu.max", "max 100000\n");
    CHECK(quota("0::/two\n") == 0);
    put("two/cpu.max", "250000 100000\n");
    CHECK(quota("0::/two\n") == 3);
    put("two/inner/cpu.max", "max 100000\n");
    CHECK(quota("0::/two/inner\n") == 3);
    put("two/inner/cpu.max", "50000 100000\n");
    CHECK(quota("0::/two/inner\n") == 1);
    CHECK(quota("0::/two/other\n") == 3);
    put("cpu.max", "100000 50000\n");
    CHECK(quota("0::/elsewhere\n") == 2);
    CHECK(quota("0::/\n") == 2);
    put("cpu.max", "nonsense\n");
    CHECK(quota("0::/\n") == 0);
    put("cpu.max", "9000000000000 1\n");
    CHECK(quota("0::/\n") == 0);
    put("cpu,cpuacct/one/cpu.cfs_quota_us", "150000\n");
    CHECK(quota("3:cpu,cpuacct:/one\n") == 0);
    put("cpu,cpuacct/one/cpu.cfs_period_us", "100000\n");
    CHECK(quota("4:memory:/one\n3:cpu,cpuacct:/one\n") == 2);
    CHECK(quota("3:cpuset:/one\n2:cpuacct:/one\n") == 0);
    put("cpu,cpuacct/one/cpu.cfs_quota_us", "-1\n");
    CHECK(quota("3:cpu,cpuacct:/one\n0::/two\n") == 3);
    CHECK(quota("rubbish\n:\n::\n1:cpu\n") == 0);
    CHECK(nova_quota("/nowhere/at/all", root) == 0);
}

int main(void)
{
    texts_ask_for_threads();
    CHECK(nova_count_processors() >= 1);
    strcpy(root, "/tmp/nova_groups_XXXXXX");
    CHECK(mkdtemp(root) != NULL);
    groups_limit();
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return 0;
}
