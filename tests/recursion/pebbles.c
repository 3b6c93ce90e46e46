/* Moves of the pebble game on trees of one shape, of 2^10 nodes to the size asked for, with their
 * bound: the logarithm of the number of leaves. */
#include "recursion.h"
#include "pebbles.h"

/* The number that nova-examples/recursive/shapes.nova gives a shape; -1 for Fibonacci trees. */
static int32_t number_of(struct setting setting)
{
    static const struct {
        const char *name;
        int32_t number;
    } shapes[] = {{"caterpillar", 0}, {"zigzag", 2}, {"balanced", 3},
                  {"comb", 4},        {"random", 5}, {"Fibonacci", -1}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        if (is(setting, shapes[k].name))
            return shapes[k].number;
    fail("usage", "no such shape");
}

/* The largest k whose Fibonacci tree has at most this many leaves. */
static int32_t fibonacci_of(int64_t leaves)
{
    int64_t a = 1, b = 2;
    int32_t k = 1;
    for (; b <= leaves; k++) {
        int64_t sum = a + b;
        a = b;
        b = sum;
    }
    return k;
}

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    int32_t which = number_of(setting);
    for (int64_t nodes = 1 << 10; nodes <= setting.n; nodes *= 4) {
        int64_t leaves = nodes / 2;
        nova_tuple3_int_int_bool result;
        int code = which < 0 ? game_of_fibonacci(&result, fibonacci_of(leaves))
                             : game(&result, which, (int32_t)leaves);
        expect("game", code, game_error(), code != 0 || result.e0 > nodes / 2);
        print_bounded("moves", result.e1, ceil_log2((result.e0 + 1) / 2));
    }
    return 0;
}
