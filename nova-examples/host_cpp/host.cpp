// A host application in C++17 with the NOVA programs of ../host_c, compiled as C++ themselves.
#include "statistics.h"
#include "words.h"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

// Results that the functions allocate are freed with free.
struct Free {
    void operator()(void *p) const { std::free(p); }
};
template <typename T> using Array = std::unique_ptr<T[], Free>;

struct FreeTree {
    void operator()(nova_data_Tree *tree) const
    {
        nova_data_Tree_free(tree);
        delete tree;
    }
};
using Tree = std::unique_ptr<nova_data_Tree, FreeTree>;

void check(int code, const char *message)
{
    if (code != 0)
        throw std::runtime_error(message);
}

const std::vector<float> rows = {1.5f, 2.5f, 5.0f, 10.0f, 20.0f};
const std::vector<std::int64_t> offsets = {0, 3, 3, 5};

std::vector<std::vector<float>> rows_longer_than(std::int32_t limit)
{
    std::int64_t count = 0, *starts = nullptr;
    float *data = nullptr;
    check(longer_rows(&count, &starts, &data, 3, offsets.data(), rows.data(), limit),
          longer_rows_error());
    Array<std::int64_t> own_starts(starts);
    Array<float> own_data(data);
    std::vector<std::vector<float>> result;
    for (std::int64_t r = 0; r < count; r++)
        result.emplace_back(data + starts[r], data + starts[r + 1]);
    return result;
}

std::vector<float> means()
{
    const std::vector<std::int64_t> two_rows = {0, 3, 5};
    std::vector<float> result(2);
    float *buffer = result.data();
    std::int64_t room = 1;
    int code = row_means(&room, &buffer, 2, two_rows.data(), rows.data());
    std::cout << "a buffer of 1: error " << code << ", " << room << " are needed\n";
    room = 2;
    check(row_means(&room, &buffer, 2, two_rows.data(), rows.data()), row_means_error());
    return result;
}

Tree tree_of(const std::vector<std::int32_t> &numbers)
{
    auto tree = std::make_unique<nova_data_Tree>();
    check(grow(tree.get(), static_cast<std::int64_t>(numbers.size()), numbers.data()),
          grow_error());
    return Tree(tree.release());
}

void arrays()
{
    for (const auto &row : rows_longer_than(0)) {
        std::cout << "row of " << row.size() << ":";
        for (float x : row)
            std::cout << " " << x;
        std::cout << "\n";
    }
    auto m = means();
    std::cout << "means: " << m[0] << " " << m[1] << "\n";

    const std::vector<float> matrix = {1, 2, 3, 4, 5, 6};
    float *data = nullptr;
    std::int64_t height = 0, width = 0;
    check(turned(&height, &width, &data, 2, 3, matrix.data()), turned_error());
    Array<float> columns(data);
    std::cout << height << " x " << width << ":";
    for (std::int64_t k = 0; k < height * width; k++)
        std::cout << " " << columns[static_cast<std::size_t>(k)];
    std::cout << "\n";

    const std::vector<nova_tuple2_float_float> points = {{1, 2}, {3, 4}};
    nova_tuple2_float_float *swapped = nullptr;
    std::int64_t count = 0;
    check(mirrored(&count, &swapped, 2, points.data()), mirrored_error());
    Array<nova_tuple2_float_float> own(swapped);
    std::cout << "mirrored: (" << own[0].e0 << ", " << own[0].e1 << ") (" << own[1].e0 << ", "
              << own[1].e1 << ")\n";
}

void sums_and_trees()
{
    const std::string text = "It was the best of times, it was the worst of times";
    nova_sum_Most most;
    check(most_frequent(&most, static_cast<std::int64_t>(text.size()),
                        reinterpret_cast<const std::uint8_t *>(text.data())),
          most_frequent_error());
    if (most.tag == NOVA_Most_Letter)
        std::cout << "most frequent: " << static_cast<char>(most.u.Letter.e0) << ", "
                  << most.u.Letter.e1 << " times\n";
    Tree tree = tree_of({5, 2, 8, 1, 9});
    std::cout << "the tree's root: " << tree->nodes[tree->root].u.Node.e1 << "\n";
    std::int64_t count = 0;
    std::int32_t *data = nullptr;
    check(in_order(&count, &data, *tree), in_order_error());
    Array<std::int32_t> sorted(data);
    std::cout << "in order:";
    for (std::int64_t k = 0; k < count; k++)
        std::cout << " " << sorted[static_cast<std::size_t>(k)];
    std::cout << "\n";
}

void errors()
{
    float value = 0;
    try {
        check(element(&value, 3, offsets.data(), rows.data(), 0, 7), element_error());
    } catch (const std::runtime_error &error) {
        std::cout << "error: " << error.what() << "\n";
    }
    check(element(&value, 3, offsets.data(), rows.data(), 2, 1), element_error());
    std::cout << "and on: " << value << "\n";
}

void threads()
{
    std::vector<int> failures(4);
    std::vector<std::thread> workers;
    for (int &mine : failures)
        workers.emplace_back([&mine] {
            for (int round = 0; round < 200; round++) {
                float value = 0;
                mine += element(&value, 3, offsets.data(), rows.data(), 0, round) != 0;
                tree_of({round, 3, 1, 2});
            }
        });
    int total = 0;
    for (std::size_t k = 0; k < workers.size(); k++) {
        workers[k].join();
        total += failures[k];
    }
    std::cout << "4 threads, " << total << " errors of 800 calls\n";
}

} // namespace

int main()
{
    arrays();
    sums_and_trees();
    errors();
    threads();
}
