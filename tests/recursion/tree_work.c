/* One sum of a tree of one shape by rake and compress, in a process whose work is counted. */
#include "shapes.h"

int main(int count, char **words)
{
    struct setting setting = read_setting(count, words);
    nova_data_Tree_int tree = table_of(shape_of(setting, (setting.n + 1) / 2));
    uint32_t expected = 0;
    for (int64_t i = 0; i < tree.len; i++)
        expected += (uint32_t)i;
    int32_t result;
    int code = tree_sum(&result, tree);
    expect("tree_sum", code, tree_sum_error(), result == (int32_t)expected);
    print_size(tree.len);
    return 0;
}
