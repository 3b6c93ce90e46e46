/* HIP by the names of CUDA. The runtime of CUDA (runtime-c/cuda) then is that of HIP. Programs contain
 * this file as a whole, before all other parts of the runtime. */
#ifndef NOVA_HIP_NAMES_H
#define NOVA_HIP_NAMES_H

#include <hip/hip_runtime.h>

/* The functions, types and constants of the runtime API that programs use. */
#define cudaDeviceProp hipDeviceProp_t
#define cudaError_t hipError_t
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaEventCreate hipEventCreate
#define cudaEventDestroy hipEventDestroy
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaEventRecord hipEventRecord
#define cudaEvent_t hipEvent_t
#define cudaFree hipFree
#define cudaFuncAttributeMaxDynamicSharedMemorySize hipFuncAttributeMaxDynamicSharedMemorySize
#define cudaFuncSetAttribute hipFuncSetAttribute
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaLaunchKernel hipLaunchKernel
#define cudaMalloc hipMalloc
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaMemsetAsync hipMemsetAsync
#define cudaSetDevice hipSetDevice
#define cudaStreamCreateWithFlags hipStreamCreateWithFlags
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaStreamSynchronize hipStreamSynchronize
#define cudaStream_t hipStream_t
#define cudaSuccess hipSuccess

#ifdef __HIP_PLATFORM_AMD__

/* Functions of HIP ask that their results are used, those of CUDA do not. */
#pragma clang diagnostic ignored "-Wunused-result"

/* Blocks get no more shared memory for asking. */
#define sharedMemPerBlockOptin sharedMemPerBlock

/* The extents of blocks are calls, which clang's assumption would discard. */
#define __builtin_assume(condition) ((condition) ? (void)0 : __builtin_unreachable())

/* A warp has 32 lanes in programs. It is a half of a wavefront of 64 lanes (CDNA), or a wavefront of 32
 * lanes (RDNA). Masks name all lanes of the warp, which run in lockstep, so that operations ignore them. */
#define __shfl_down_sync(mask, value, distance) __shfl_down(value, distance, 32)
#define __ballot_sync(mask, predicate) nova_ballot(predicate)
#define __syncwarp() nova_sync_warp()

/* The votes of a warp: its half of the votes of the wavefront. */
static __device__ inline unsigned nova_ballot(bool predicate)
{
    return (unsigned)((unsigned long long)__ballot(predicate) >> (__lane_id() & 32));
}

/* Orders the accesses of the lanes of a warp. */
static __device__ inline void nova_sync_warp(void)
{
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
}

#endif

#endif
