/* Calls an entry twice with its arrays on the device and a buffer there for its result, and counts what
 * the second call takes of the API: host ARGUMENTS RESULT.
 *
 * The file of arguments begins with the result: how many extents it has, these, and the bytes of an
 * element. For each parameter there follow the bytes of its array, 0 for a value; and the value or the
 * array. All of these numbers have 64 bits. The result is written to a file, and the counts are printed. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

/* The generated call, by pointers to the value of each argument and to the place of each result; and why
 * the last one failed. */
int call_entry(void *const *arguments, void *const *results, cudaStream_t stream);
const char *message();

static void check(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(cudaPeekAtLastError()));
        exit(1);
    }
}

static uint64_t read_number(FILE *in)
{
    uint64_t number = 0;
    check(fread(&number, sizeof number, 1, in) == 1, "the file of arguments ends");
    return number;
}

/* Memory on the device with the bytes that come next in a file. */
static void *read_array(FILE *in, size_t bytes)
{
    std::vector<char> data(bytes);
    void *memory = NULL;
    check(fread(data.data(), 1, bytes, in) == bytes, "the file of arguments ends");
    check(cudaMalloc(&memory, bytes) == cudaSuccess, "no memory");
    check(cudaMemcpy(memory, data.data(), bytes, cudaMemcpyHostToDevice) == cudaSuccess, "no copy");
    return memory;
}

/* What is counted, in the order in which it is printed. */
static const char *const counted[] = {"to device", "to host", "on device", "launches", "waits"};
enum { COUNTED = sizeof counted / sizeof *counted };

/* A result of some extents, a number or structure where it has none. */
struct result {
    std::vector<uint64_t> extents;
    size_t bytes;
    void *buffer; /* on the device */
    std::vector<char> host;
};

static result open_result(FILE *in)
{
    result made = {};
    for (uint64_t left = read_number(in); left > 0; left--)
        made.extents.push_back(read_number(in));
    made.bytes = read_number(in);
    for (uint64_t extent : made.extents)
        made.bytes *= extent;
    made.host.resize(made.bytes);
    check(cudaMalloc(&made.buffer, made.bytes) == cudaSuccess, "no memory");
    return made;
}

/* Calls the entry; gives the counts after it less those before. */
static std::vector<uint64_t> call(const std::vector<void *> &arguments, result &into,
                                  cudaStream_t stream)
{
    std::vector<uint64_t> counts, extents = into.extents;
    std::vector<void *> results;
    void *buffer = into.buffer;
    for (uint64_t &extent : extents)
        results.push_back(&extent);
    results.push_back(extents.empty() ? (void *)into.host.data() : (void *)&buffer);
    for (const char *what : counted)
        counts.push_back(nova_emulation_count(what));
    check(call_entry(arguments.data(), results.data(), stream) == 0, message());
    for (int k = 0; k < COUNTED; k++)
        counts[k] = nova_emulation_count(counted[k]) - counts[k];
    check(buffer == into.buffer && extents == into.extents, "another result");
    return counts;
}

int main(int count, char **words)
{
    FILE *in = count == 3 ? fopen(words[1], "rb") : NULL;
    check(in != NULL, "no arguments");
    cudaStream_t stream;
    check(cudaStreamCreate(&stream) == cudaSuccess, "no stream");
    result into = open_result(in);
    std::vector<uint64_t> cells(read_number(in));
    std::vector<void *> arguments;
    for (uint64_t &cell : cells) {
        size_t bytes = read_number(in);
        cell = bytes == 0 ? read_number(in) : (uint64_t)(uintptr_t)read_array(in, bytes);
        arguments.push_back(&cell);
    }
    fclose(in);
    call(arguments, into, stream);
    std::vector<uint64_t> counts = call(arguments, into, stream);
    if (!into.extents.empty())
        check(cudaMemcpy(into.host.data(), into.buffer, into.bytes, cudaMemcpyDeviceToHost)
                  == cudaSuccess,
              "no copy");
    FILE *out = fopen(words[2], "wb");
    check(out != NULL && fwrite(into.host.data(), 1, into.bytes, out) == into.bytes
              && fclose(out) == 0,
          "the result is not written");
    for (uint64_t each : counts)
        printf("%llu\n", (unsigned long long)each);
    return 0;
}
