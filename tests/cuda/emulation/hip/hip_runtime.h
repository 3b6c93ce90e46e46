/* HIP by the emulation of CUDA. Names of HIP become those of CUDA, which runtime-c/hip/names.h has
 * replaced by names of HIP before. The platform is not AMD's: warps have CUDA's operations. */
#ifndef NOVA_EMULATED_HIP_RUNTIME_H
#define NOVA_EMULATED_HIP_RUNTIME_H

#include "../cuda_runtime.h"

#define hipDeviceProp_t cudaDeviceProp
#define hipError_t cudaError_t
#define hipErrorOutOfMemory cudaErrorMemoryAllocation
#define hipEventCreate cudaEventCreate
#define hipEventDestroy cudaEventDestroy
#define hipEventElapsedTime cudaEventElapsedTime
#define hipEventRecord cudaEventRecord
#define hipEvent_t cudaEvent_t
#define hipFree cudaFree
#define hipFuncAttributeMaxDynamicSharedMemorySize cudaFuncAttributeMaxDynamicSharedMemorySize
#define hipFuncSetAttribute cudaFuncSetAttribute
#define hipGetDevice cudaGetDevice
#define hipGetDeviceCount cudaGetDeviceCount
#define hipGetDeviceProperties cudaGetDeviceProperties
#define hipGetErrorString cudaGetErrorString
#define hipGetLastError cudaGetLastError
#define hipLaunchKernel cudaLaunchKernel
#define hipMalloc cudaMalloc
#define hipMemcpyAsync cudaMemcpyAsync
#define hipMemcpyDeviceToDevice cudaMemcpyDeviceToDevice
#define hipMemcpyDeviceToHost cudaMemcpyDeviceToHost
#define hipMemcpyHostToDevice cudaMemcpyHostToDevice
#define hipMemsetAsync cudaMemsetAsync
#define hipSetDevice cudaSetDevice
#define hipStreamCreateWithFlags cudaStreamCreateWithFlags
#define hipStreamDestroy cudaStreamDestroy
#define hipStreamSynchronize cudaStreamSynchronize
#define hipStream_t cudaStream_t
#define hipSuccess cudaSuccess

/* This one is a macro there. */
enum { hipStreamNonBlocking = cudaStreamNonBlocking };
#undef cudaStreamNonBlocking

#endif
