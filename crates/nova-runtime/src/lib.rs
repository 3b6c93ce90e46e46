//! The embedded files of `runtime-c`, and the selection of their sections for a generated program.
//!
//! Each file is C that a person can read and test alone. It is split into sections at the blank lines
//! between its definitions. The identifiers of a section tell which names it defines and which it uses.
//! A program asks for names, and gets the sections that define them, the sections that these need, and
//! the standard headers of all, in the order of the files.

mod sections;

use sections::{Section, is_ours};
use std::collections::{BTreeSet, HashMap};
use std::sync::OnceLock;

/// Declares the table of all files.
macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../runtime-c/", $path)))),*]
    };
}

/// All files, in the order in which a program would include them.
pub const FILES: &[(&str, &str)] = files![
    "common/platform.h",
    "common/context.h",
    "common/errors.h",
    "common/memory.h",
    "common/one_memory.h",
    "opencl/memory.h",
    "cuda/memory.h",
    "device/pool.h",
    "device/profile.h",
    "opencl/device.h",
    "cuda/launch.h",
    "cuda/device.h",
    "device/memory.h",
    "device/buffer_pairs.h",
    "common/links.h",
    "device/links.h",
    "common/blocks.h",
    "common/races.h",
    "device/nodes.h",
    "device/result_buffers.h",
    "common/non_temporal.h",
    "common/call.h",
    "common/profile.h",
    "common/profile_report.h",
    "common/profile_calls.h",
    "common/bits.h",
    "opencl/bits.h",
    "common/integers.h",
    "common/floats.h",
    "common/vector_math.h",
    "common/bounded_math.h",
    "common/fixed_blocks.h",
    "common/panels.h",
    "common/gathers.h",
    "common/prefix_scans.h",
    "common/word_sorts.h",
    "cuda/kernel.h",
    "opencl/threads.h",
    "cuda/threads.h",
    "cuda/vectors.h",
    "cuda/ordered.h",
    "common/fast_math.h",
    "common/compaction.h",
    "common/nova_math.h",
    "common/arguments.h",
    "common/nodes.h",
    "common/walks.h",
    "common/sublists.h",
    "common/reached.h",
    "common/reclaim.h",
    "common/text.h",
    "pthreads/atomics.h",
    "pthreads/processors.h",
    "pthreads/waiting.h",
    "pthreads/pool.h",
    "pthreads/region.h",
    "pthreads/word_sorts.h",
    "pthreads/profile.h",
    "pthreads/shared_nodes.h",
    "device/call.h",
    "device/callers.h",
    "device/threads.h",
    "device/offset_check.h",
    "device/heap.h",
    "device/new_nodes.h",
    "device/arguments.h",
    "opencl/launch.h",
    "cuda/run.h",
    "device/kernels.h",
    "device/offsets.h",
];

/// The text before all kernels of OpenCL.
pub const OPENCL_PRELUDE: &str = include_str!("../runtime-c/opencl/kernel.h");

/// The text before all parts of CUDA's runtime in programs for HIP. It includes HIP's header.
pub const HIP_NAMES: &str = include_str!("../runtime-c/hip/names.h");

/// The files of `opencl` for kernels, besides the prelude.
const OPENCL_KERNELS: [&str; 2] = ["bits.h", "threads.h"];

/// The files of `cuda` that are for kernels.
const CUDA_KERNELS: [&str; 4] = ["kernel.h", "threads.h", "vectors.h", "ordered.h"];

/// True if a file of `device` is for kernels.
fn is_for_kernels(name: &str) -> bool {
    matches!(
        name,
        "threads.h" | "offset_check.h" | "heap.h" | "links.h" | "new_nodes.h"
    )
}

/// A platform on which a part of a generated program runs. Some files define the same functions for
/// different platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Platform {
    /// A processor, with threads if it uses them.
    Processor,
    /// The host of a device of OpenCL.
    OpenClHost,
    /// The device of OpenCL: the text of kernels.
    OpenClKernels,
    /// The host of a device of CUDA.
    CudaHost,
    /// The device of CUDA: the functions in the namespace of kernels.
    CudaKernels,
}

impl Platform {
    /// All platforms.
    pub const ALL: [Platform; 5] = [
        Platform::Processor,
        Platform::OpenClHost,
        Platform::OpenClKernels,
        Platform::CudaHost,
        Platform::CudaKernels,
    ];

    /// True if the platform uses a file.
    fn has(self, path: &str) -> bool {
        let (folder, name) = path.split_once('/').unwrap_or(("", path));
        match (self, folder) {
            (Platform::Processor, "common" | "pthreads") => true,
            (Platform::OpenClHost | Platform::CudaHost, "common") => {
                !matches!(name, "one_memory.h" | "links.h") && !name.starts_with("profile")
            }
            (Platform::OpenClHost | Platform::CudaHost, "device") => {
                name == "links.h" || !is_for_kernels(name)
            }
            // Devices need only the result buffers of this file.
            (Platform::OpenClHost | Platform::CudaHost, "pthreads") => name == "region.h",
            (Platform::OpenClHost, "opencl") => !OPENCL_KERNELS.contains(&name),
            (Platform::CudaHost, "cuda") => !CUDA_KERNELS.contains(&name),
            (Platform::OpenClKernels, "opencl") => OPENCL_KERNELS.contains(&name),
            (Platform::OpenClKernels | Platform::CudaKernels, "device") => is_for_kernels(name),
            (Platform::CudaKernels, "cuda") => CUDA_KERNELS.contains(&name),
            (Platform::CudaKernels, "common") if name == "bits.h" => true,
            (Platform::OpenClKernels | Platform::CudaKernels, "common") => matches!(
                name,
                "integers.h" | "floats.h" | "fast_math.h" | "nova_math.h"
            ),
            _ => false,
        }
    }
}

/// The standard headers, each with the names that the runtime and generated programs use from it.
const HEADERS: &[(&str, &[&str])] = &[
    ("CL/cl.h", &["cl_mem", "cl_int", "cl_kernel"]),
    ("cuda_runtime.h", &["cudaError_t", "cudaStream_t"]),
    ("inttypes.h", &["PRId64", "PRIu64"]),
    ("limits.h", &["INT_MAX"]),
    (
        "math.h",
        &[
            "fabs",
            "fabsf",
            "fmod",
            "sqrt",
            "sqrtf",
            "exp",
            "expf",
            "exp2",
            "exp2f",
            "log",
            "logf",
            "log2",
            "log2f",
            "log10",
            "log10f",
            "sin",
            "sinf",
            "cos",
            "cosf",
            "tan",
            "tanf",
            "asin",
            "asinf",
            "acos",
            "acosf",
            "atan",
            "atanf",
            "sinh",
            "sinhf",
            "cosh",
            "coshf",
            "tanh",
            "tanhf",
            "pow",
            "powf",
            "atan2",
            "atan2f",
            "floor",
            "floorf",
            "ceil",
            "ceilf",
            "round",
            "roundf",
            "trunc",
            "truncf",
            "erf",
            "erff",
            "fma",
            "fmaf",
            "signbit",
            "isinf",
            "isnan",
            "isfinite",
            "NAN",
            "INFINITY",
            "ldexp",
            "frexp",
            "scalbn",
            "copysign",
            "nearbyint",
            "rint",
        ],
    ),
    (
        "pthread.h",
        &[
            "pthread_t",
            "pthread_mutex_t",
            "pthread_mutex_lock",
            "pthread_atfork",
        ],
    ),
    ("sched.h", &["sched_yield"]),
    ("setjmp.h", &["jmp_buf", "setjmp", "longjmp"]),
    ("signal.h", &["sigset_t"]),
    ("stdarg.h", &["va_list"]),
    ("stdbool.h", &["bool", "true", "false"]),
    ("stddef.h", &["NULL", "size_t"]),
    (
        "stdint.h",
        &[
            "int8_t",
            "int16_t",
            "int32_t",
            "int64_t",
            "uint8_t",
            "uint16_t",
            "uint32_t",
            "uint64_t",
            "uintptr_t",
            "PTRDIFF_MAX",
            "SIZE_MAX",
            "INT32_MIN",
            "INT32_MAX",
            "INT64_MIN",
            "INT64_MAX",
            "INT64_C",
            "UINT64_C",
        ],
    ),
    (
        "stdio.h",
        &[
            "snprintf",
            "vsnprintf",
            "fwrite",
            "stderr",
            "fopen",
            "fgets",
        ],
    ),
    (
        "stdlib.h",
        &[
            "malloc",
            "realloc",
            "free",
            "aligned_alloc",
            "strtod",
            "strtof",
            "strtol",
            "strtoll",
            "getenv",
            "atexit",
            "qsort",
        ],
    ),
    (
        "string.h",
        &[
            "memcpy", "memmove", "memset", "strlen", "strchr", "strrchr", "strncmp", "strspn",
            "strcspn",
        ],
    ),
    ("sys/mman.h", &["madvise", "mmap", "mprotect", "munmap"]),
    ("time.h", &["timespec", "clock_gettime"]),
    ("unistd.h", &["getpid", "sysconf", "syscall"]),
];

/// The macros that must be defined before the first header, so that strict C11 sees all declarations of
/// these headers.
const FEATURES: &[(&str, &[&str])] = &[(
    "_DEFAULT_SOURCE",
    &["signal.h", "sys/mman.h", "time.h", "unistd.h"],
)];

/// The part of the runtime that a program needs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Macros to define before the first header, unless they are defined.
    pub features: Vec<&'static str>,
    /// Standard headers, without brackets, in order.
    pub headers: Vec<&'static str>,
    /// The sections, each with a blank line after it.
    pub text: String,
}

struct Library {
    sections: Vec<Section>,
    /// The section that defines a name.
    definitions: HashMap<&'static str, usize>,
}

/// Returns the runtime of a platform. It is split into sections on first use.
fn library(platform: Platform) -> &'static Library {
    static LIBRARIES: [OnceLock<Library>; Platform::ALL.len()] =
        [const { OnceLock::new() }; Platform::ALL.len()];
    LIBRARIES[platform as usize].get_or_init(|| {
        let files = FILES.iter().filter(|(path, _)| platform.has(path));
        let (sections, definitions) = sections::split(&files.collect::<Vec<_>>());
        Library {
            sections,
            definitions,
        }
    })
}

/// Returns the header that declares a name.
fn header(name: &str) -> Option<&'static str> {
    static HEADER_OF: OnceLock<HashMap<&'static str, &'static str>> = OnceLock::new();
    let header_of = HEADER_OF.get_or_init(|| {
        let names = HEADERS.iter();
        names
            .flat_map(|(header, names)| names.iter().map(|name| (*name, *header)))
            .collect()
    });
    header_of.get(name).copied()
}

/// True if the runtime of any platform, or a header that it uses, defines a name.
pub fn is_defined(name: &str) -> bool {
    let is_mentioned = || FILES.iter().any(|(_, text)| text.contains(name));
    let is_in = |platform| library(platform).definitions.contains_key(name);
    let is_of_the_runtime = is_ours(name) && is_mentioned() && Platform::ALL.into_iter().any(is_in);
    is_of_the_runtime || header(name).is_some()
}

/// Returns all names that the runtime of a platform defines, in order.
pub fn names(platform: Platform) -> Vec<&'static str> {
    let mut names: Vec<&str> = library(platform).definitions.keys().copied().collect();
    names.sort_unstable();
    names
}

/// Returns the part of the runtime that a program needs on a platform if it uses these names. Names
/// that the runtime does not know are ignored.
pub fn select<'a>(platform: Platform, used: impl IntoIterator<Item = &'a str>) -> Selection {
    let library = library(platform);
    let mut chosen = BTreeSet::new();
    let mut headers = BTreeSet::new();
    let mut left: Vec<usize> = Vec::new();
    let mut visit = |name: &str, left: &mut Vec<usize>| {
        headers.extend(header(name));
        if let Some(section) = library.definitions.get(name).filter(|_| is_ours(name))
            && chosen.insert(*section)
        {
            left.push(*section);
        }
    };
    for name in used {
        visit(name, &mut left);
    }
    while let Some(section) = left.pop() {
        for name in library.sections.get(section).iter().flat_map(|s| &s.uses) {
            visit(name, &mut left);
        }
    }
    let mut text = String::new();
    for section in chosen.iter().filter_map(|s| library.sections.get(*s)) {
        text.push_str(section.text);
        text.push_str("\n\n");
    }
    if platform == Platform::OpenClKernels {
        // Tables of constants have their own address space.
        let tables = text.replace("static const ", "__constant ");
        text = tables.replace("const double *", "__constant double *");
    }
    let features = FEATURES
        .iter()
        .filter(|(_, needed_by)| needed_by.iter().any(|header| headers.contains(header)))
        .map(|(feature, _)| *feature)
        .collect();
    Selection {
        features,
        headers: headers.into_iter().collect(),
        text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_brings_what_it_needs() {
        let selection = select(Platform::Processor, ["nova_minimum_i32"]);
        assert_eq!(selection.headers, ["stdint.h"]);
        assert!(
            selection.text.starts_with("/* Minima and maxima;"),
            "{}",
            selection.text
        );
        let selection = select(Platform::Processor, ["nova_call"]);
        for name in [
            "nova_context;",
            "nova_close_blocks",
            "NOVA_SLAB_SIZE",
            "struct nova_tables;",
        ] {
            assert!(
                selection.text.contains(name),
                "{name} in {}",
                selection.text
            );
        }
        assert!(!selection.text.contains("nova_call_deep"));
        assert!(!selection.headers.contains(&"pthread.h"));
    }

    #[test]
    fn a_parallel_program_stops_its_pool() {
        let selection = select(Platform::Processor, ["nova_parallel"]);
        assert_eq!(selection.features, ["_DEFAULT_SOURCE"]);
        for text in ["__attribute__((destructor))", "#include <sys/syscall.h>"] {
            assert!(selection.text.contains(text), "{text}");
        }
        assert!(
            select(Platform::Processor, ["nova_call_deep"])
                .features
                .is_empty()
        );
    }

    #[test]
    fn nothing_is_needed_for_nothing() {
        assert_eq!(
            select(Platform::Processor, ["unknown"]),
            Selection::default()
        );
    }

    #[test]
    fn no_section_is_lost() {
        for platform in Platform::ALL {
            let all = select(platform, names(platform));
            for (file, text) in FILES.iter().filter(|(file, _)| platform.has(file)) {
                // There, tables and parameters for them have another address space.
                let is_other =
                    |l: &str| platform == Platform::OpenClKernels && l.contains("const ");
                let is_kept = |l: &&str| l.starts_with("static ") && !is_other(l);
                for line in text.lines().filter(is_kept) {
                    assert!(all.text.contains(line), "{file}: {line}");
                }
            }
        }
    }
}
