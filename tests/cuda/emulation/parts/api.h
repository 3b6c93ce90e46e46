/* The runtime API: errors, types, functions. What they do is in machine/. */
#ifndef NOVA_EMULATION_API_H
#define NOVA_EMULATION_API_H

#define CUDART_VERSION 13000

/* Name, number, text. */
#define NOVA_EMULATION_ERRORS(error)                                                               \
    error(cudaSuccess, 0, "no error")                                                              \
    error(cudaErrorInvalidValue, 1, "invalid argument")                                            \
    error(cudaErrorMemoryAllocation, 2, "out of memory")                                           \
    error(cudaErrorInitializationError, 3, "initialization error")                                 \
    error(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                      \
    error(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                             \
    error(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                \
    error(cudaErrorInsufficientDriver, 35,                                                         \
          "CUDA driver version is insufficient for CUDA runtime version")                          \
    error(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                            \
    error(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                   \
    error(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                          \
    error(cudaErrorNotReady, 600, "device not ready")                                              \
    error(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                \
    error(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")           \
    error(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                  \
    error(cudaErrorAssert, 710, "device-side assert triggered")                                    \
    error(cudaErrorLaunchFailure, 719, "unspecified launch failure")                               \
    error(cudaErrorNotSupported, 801, "operation not supported")                                   \
    error(cudaErrorUnknown, 999, "unknown error")

enum cudaError {
#define NOVA_EMULATION_ERROR(name, number, text) name = number,
    NOVA_EMULATION_ERRORS(NOVA_EMULATION_ERROR)
#undef NOVA_EMULATION_ERROR
};
typedef cudaError cudaError_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost = 0,
    cudaMemcpyHostToDevice = 1,
    cudaMemcpyDeviceToHost = 2,
    cudaMemcpyDeviceToDevice = 3,
    cudaMemcpyDefault = 4
};

enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrMemoryPoolsSupported = 115
};

struct cudaDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor;
    int regsPerBlock, regsPerMultiprocessor, warpSize, maxThreadsPerBlock;
    int maxThreadsDim[3], maxGridSize[3];
    int major, minor, multiProcessorCount, maxThreadsPerMultiProcessor, maxBlocksPerMultiProcessor;
    int l2CacheSize, memoryBusWidth, unifiedAddressing, concurrentKernels, canMapHostMemory;
};

enum cudaLimit { cudaLimitStackSize = 0, cudaLimitPrintfFifoSize = 1, cudaLimitMallocHeapSize = 2 };

enum cudaMemoryType {
    cudaMemoryTypeUnregistered = 0,
    cudaMemoryTypeHost = 1,
    cudaMemoryTypeDevice = 2
};

struct cudaPointerAttributes {
    cudaMemoryType type;
    int device;
    void *devicePointer, *hostPointer;
};

#define cudaStreamDefault 0u
#define cudaStreamNonBlocking 1u
#define cudaEventDefault 0u
#define cudaEventBlockingSync 1u
#define cudaEventDisableTiming 2u
#define cudaHostAllocDefault 0u

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, maxDynamicSharedSizeBytes;
};

enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};

typedef struct CUstream_st *cudaStream_t;
typedef struct CUevent_st *cudaEvent_t;
#define cudaStreamLegacy ((cudaStream_t)0x1)
#define cudaStreamPerThread ((cudaStream_t)0x2)

extern "C" {

const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaPeekAtLastError(void);
cudaError_t cudaGetLastError(void);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *result, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit);
cudaError_t cudaMemGetInfo(size_t *available, size_t *total);
cudaError_t cudaMalloc(void **result, size_t bytes);
cudaError_t cudaMallocAsync(void **result, size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void *data);
cudaError_t cudaFreeAsync(void *data, cudaStream_t stream);
cudaError_t cudaHostAlloc(void **result, size_t bytes, unsigned flags);
cudaError_t cudaMallocHost(void **result, size_t bytes);
cudaError_t cudaFreeHost(void *data);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *result, const void *address);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = NULL);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream = NULL);
cudaError_t cudaMemset(void *to, int value, size_t bytes);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags);
cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = NULL);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventDestroy(cudaEvent_t event);

/* For hosts and tests. One setting (machine/settings.h) by its name without NOVA_EMULATION_; 0 if
 * it is known. Setting FAIL begins to count calls anew. */
int nova_emulation_set(const char *name, const char *value);

/* What of the API's is in use, or has been called: "calls", "launches", "allocations" and "bytes"
 * of device memory, "pinned" (pieces of host memory), "streams", "events"; bytes that copies have
 * brought "to device", "to host" and "on device"; "waits", the calls that have waited for the device. */
uint64_t nova_emulation_count(const char *what);

} // extern "C"

/* As nvcc has them: for pointers of every type. */
template <typename T> inline cudaError_t cudaMalloc(T **result, size_t bytes)
{
    return cudaMalloc((void **)(void *)result, bytes);
}

template <typename T>
inline cudaError_t cudaMallocAsync(T **result, size_t bytes, cudaStream_t stream)
{
    return cudaMallocAsync((void **)(void *)result, bytes, stream);
}

template <typename T> inline cudaError_t cudaMallocHost(T **result, size_t bytes)
{
    return cudaMallocHost((void **)(void *)result, bytes);
}

template <typename T> inline cudaError_t cudaHostAlloc(T **result, size_t bytes, unsigned flags)
{
    return cudaHostAlloc((void **)(void *)result, bytes, flags);
}

#endif
