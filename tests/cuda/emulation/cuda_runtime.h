/* The part of CUDA that generated programs use, on a CPU.
 *
 * Continuous integration has no GPU. So that programs that are generated for one are run there all
 * the same, a C++ compiler reads them with this folder before all others, and links the machine:
 *
 *     cd tests/cuda/emulation && g++ -std=c++17 -I . -x c++ prog.cu host.cpp emulation.cpp
 *
 * tests/cuda/emulated-nvcc does so with nvcc's options, and compiles the machine only once. What is
 * asked for here is not speed, but that a program that is wrong on some GPU goes wrong here, every
 * time, with a message:
 *
 * - Each thread of a block is a fiber (machine/fibers.h): an activity with a stack of its own on
 *   the one thread of the host that launched the kernel. Fibers change places only at barriers,
 *   warp operations and atomic operations, in an order that a seed decides (machine/scheduler.h).
 *   So a run can be repeated, and other seeds are other orders, from "one after the other" to "all
 *   blocks at once". Only some blocks are resident at the same time; a kernel that waits for one
 *   that is not is found out, as is every other deadlock, and every barrier that not all threads
 *   reach.
 * - Device memory is memory that the host cannot touch (machine/memory.h): it is accessible only
 *   while a kernel runs or an API function copies. New memory holds a pattern, what was freed stays
 *   inaccessible, and there is a page without access behind each allocation.
 * - Operations of streams run at once, or as late as CUDA allows (machine/streams.h).
 * - Every function of the API can be made to fail, there may be little memory, and no device
 *   (machine/settings.h lists what can be set).
 *
 * Under ThreadSanitizer every fiber is a thread of its own, and only what CUDA promises orders two
 * of them: __syncthreads, __syncwarp, fences with atomic operations, launches. Shuffles and votes
 * order nothing. Since ThreadSanitizer looks at this order, not at time, a race is reported
 * although all fibers share one thread, whichever of the two accesses came first. Under
 * AddressSanitizer the gaps between allocations, and between shared arrays, are poisoned.
 *
 * What is not emulated: memory that becomes visible late (but ThreadSanitizer sees the fence that
 * is missing), the scope of __threadfence_block, symbols that the host copies to, textures,
 * surfaces, graphs, dynamic parallelism, clusters, cooperative launches, half precision. A loop
 * that waits for memory to change reads it by nova_load (runtime-c/cuda/kernel.h) or an atomic
 * operation, since no other thread goes on until this one gets to such a place.
 *
 * parts/ is what programs see, machine/ what is behind it. All programs of a process share one
 * machine, and threads of the host take turns with it. */
#ifndef NOVA_EMULATED_CUDA_RUNTIME_H
#define NOVA_EMULATED_CUDA_RUNTIME_H

#ifndef NOVA_CUDA_EMULATION
#define NOVA_CUDA_EMULATION
#endif

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tuple>
#include <utility>

#include "parts/types.h"
#include "parts/threads.h"
#include "parts/warps.h"
#include "parts/atomics.h"
#include "parts/scalars.h"
#include "parts/api.h"
#include "parts/launches.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
/* Nothing: headers of the standard library name an attribute so, and may come later. */
#define __noinline__
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
/* Every block has shared arrays of its own, at addresses of their own, which a declaration of C++
 * cannot say. Generated programs declare them by macros (runtime-c/cuda/kernel.h); emulated-nvcc
 * makes NOVA_EMULATION_SHARED of other declarations. */
#define __shared__ write_NOVA_SHARED_or_compile_by_emulated_nvcc
#define NOVA_EMULATION_SHARED(type, name, extents)                                                 \
    typedef type name##_type extents;                                                              \
    static const char name##_declared = 0;                                                         \
    name##_type &name = *(name##_type *)nova_emulation::find_shared(                               \
        &name##_declared, sizeof(name##_type), alignof(type) > 16 ? alignof(type) : 16)
#define NOVA_SHARED(type, name, count) NOVA_EMULATION_SHARED(type, name, [count])
#define NOVA_DYNAMIC_SHARED(type, name) type *name = (type *)nova_emulation::dynamic_shared()

/* Reads and writes at which others go on, and which ThreadSanitizer takes for atomic ones. */
#define nova_load(address) nova_emulation::load(address)
#define nova_store(address, value) nova_emulation::store(address, value)

#define threadIdx (::nova_emulation::here()->index)
#define blockIdx (::nova_emulation::here()->home->index)
#define blockDim (::nova_emulation::here()->home->launch->block)
#define gridDim (::nova_emulation::here()->home->launch->grid)
static const int warpSize = 32;

#endif
