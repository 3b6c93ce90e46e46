/* Memory and streams of CUDA, by the names that all devices have for them. */
#ifndef NOVA_CUDA_MEMORY_H
#define NOVA_CUDA_MEMORY_H

#include <cuda_runtime.h>

/* Memory on a device; an address that only kernels may use. */
typedef char *nova_device_memory;

/* Runs the kernels of a call, and its copies, one after the other. */
typedef cudaStream_t nova_queue;

/* Gives memory back to the device. */
static void nova_release_memory(nova_device_memory memory)
{
    cudaFree(memory);
}

#endif
