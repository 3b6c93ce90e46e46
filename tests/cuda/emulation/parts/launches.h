/* Launches of kernels, and what is asked about a kernel before. */
#ifndef NOVA_EMULATION_LAUNCHES_H
#define NOVA_EMULATION_LAUNCHES_H

namespace nova_emulation
{

/* A kernel with its arguments. */
struct kernel_call {
    const void *kernel = NULL;
    int count = 0;                   /* of arguments */
    const void *const *pointers = NULL; /* those that are pointers, null for others */

    virtual ~kernel_call() = default;
    virtual void call() const = 0; /* by each thread */
};

template <typename T> inline const void *pointer_in(T *value)
{
    return (const void *)value;
}

template <typename T> inline const void *pointer_in(const T &)
{
    return NULL;
}

template <typename... Parameters> struct call_of : kernel_call {
    void (*function)(Parameters...);
    std::tuple<Parameters...> values;
    const void *all[sizeof...(Parameters) + 1];

    call_of(void (*function_)(Parameters...), Parameters... arguments)
        : function(function_), values(arguments...), all{pointer_in(arguments)..., NULL}
    {
        kernel = (const void *)function_;
        count = sizeof...(Parameters);
        pointers = all;
    }

    void call() const override { std::apply(function, values); }
};

/* Puts a launch into a stream, which takes the call over. The text begins with the kernel's name.
 * */
cudaError_t put_launch(const char *text, kernel_call *call, dim3 grid, dim3 block,
                       size_t dynamic_shared, cudaStream_t stream);

template <typename... Parameters, typename... Arguments>
inline cudaError_t launch_kernel(const char *text, void (*kernel)(Parameters...), dim3 grid,
                                 dim3 block, size_t dynamic_shared, cudaStream_t stream,
                                 Arguments... arguments)
{
    kernel_call *call = new call_of<Parameters...>(kernel, arguments...);
    return put_launch(text, call, grid, block, dynamic_shared, stream);
}

/* A kernel whatever its parameters are, with its name, where in a program its loop stands, and the function
 * that knows its parameters. */
struct any_kernel {
    const char *name;
    const char *place;
    void (*kernel)(void);
    kernel_call *(*call)(void (*kernel)(void), void **arguments);
};

template <typename... Parameters, size_t... at>
inline kernel_call *call_with(void (*kernel)(Parameters...), void **arguments,
                              std::index_sequence<at...>)
{
    (void)arguments; /* of a kernel without parameters */
    return new call_of<Parameters...>(kernel, *(const Parameters *)arguments[at]...);
}

template <typename... Parameters>
inline kernel_call *call_by_list(void (*kernel)(void), void **arguments)
{
    return call_with((void (*)(Parameters...))kernel, arguments,
                     std::index_sequence_for<Parameters...>());
}

template <typename... Parameters>
inline any_kernel kernel_of(const char *name, const char *place, void (*kernel)(Parameters...))
{
    return {name, place, (void (*)(void))kernel, call_by_list<Parameters...>};
}

/* As cudaLaunchKernel, where room for much shared memory has been asked for. */
cudaError_t put_any_launch(const any_kernel &kernel, dim3 grid, dim3 block, size_t dynamic_shared,
                           cudaStream_t stream, void **arguments);

cudaError_t describe_kernel(cudaFuncAttributes *result, const void *kernel);
cudaError_t set_kernel(const void *kernel, cudaFuncAttribute attribute, int value);
cudaError_t count_blocks(int *blocks, int threads, size_t dynamic_shared);

} // namespace nova_emulation

/* As runtime-c/cuda/launch.h has it. */
#define nova_put_launch(...) nova_emulation::launch_kernel(#__VA_ARGS__, __VA_ARGS__)
#define NOVA_KERNEL(kernel, place) nova_emulation::kernel_of(#kernel, place, kernel)
typedef nova_emulation::any_kernel nova_kernel;
#define nova_put_kernel(...) nova_emulation::put_any_launch(__VA_ARGS__)

template <typename... Parameters>
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *result, void (*kernel)(Parameters...))
{
    return nova_emulation::describe_kernel(result, (const void *)kernel);
}

template <typename... Parameters>
inline cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute,
                                        int value)
{
    return nova_emulation::set_kernel((const void *)kernel, attribute, value);
}

template <typename... Parameters>
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                                 void (*)(Parameters...),
                                                                 int threads, size_t dynamic_shared)
{
    return nova_emulation::count_blocks(blocks, threads, dynamic_shared);
}

#endif
