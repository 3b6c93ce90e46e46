/* The machine behind cuda_runtime.h, compiled once and linked to all programs that include that. */
#include "cuda_runtime.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "machine/sanitizers.h"
#include "machine/settings.h"
#include "machine/fibers.h"
#include "machine/records.h"
#include "machine/scheduler.h"
#include "machine/kernel_side.h"
#include "machine/memory.h"
#include "machine/streams.h"
#include "machine/faults.h"
#include "machine/driver.h"
#include "machine/device_calls.h"
#include "machine/memory_calls.h"
#include "machine/stream_calls.h"
#include "machine/launches.h"
