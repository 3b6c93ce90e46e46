/* The peak of the memory in which a list of 1,000 nodes is reversed many times. */
#include "recursion.h"
#include "reversing.h"
#include "threads_reversing.h"

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int32_t result, k = (int32_t)setting.n;
    double begin = now();
    int code = is(setting, "2 threads") ? threads_reversing(&result, 1000, k) : reversing(&result, 1000, k);
    double seconds = now() - begin;
    expect("reversing", code, reversing_error(), result == (k % 2 == 0 ? 999 : 0));
    print_value("peak in MB", peak() / 1e6);
    print_value("ns per node", seconds * 1e6 / (double)k);
    return 0;
}
