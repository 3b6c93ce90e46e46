//! Dialects of C. A [`Dialect`] is a value: the words, types and files in which a target differs from
//! the others. The rest of the crate asks the dialect and never the target. A new target is a new
//! constant here.

use crate::scalar::Functions;
use crate::syntax::{declaration, int64, literal};
use nova_c_ast::ast::{Binary, Expression, Hint, Name, Statement, Type};
use nova_core::Scalar;
use nova_loop::ir::Level;
use nova_runtime::{HIP_NAMES, Platform};

/// A dialect of C. Fields on kernels have no meaning in a dialect without kernels.
#[derive(Debug, PartialEq, Eq)]
pub struct Dialect {
    /// The name of the dialect, which no other one has.
    pub name: &'static str,
    /// The extension of source files.
    pub extension: &'static str,
    /// The form of loops whose iterations run in parallel.
    pub parallel: Parallel,
    /// The compiler of the source file.
    pub compiler: Compiler,
    /// Flags of the libraries that programs are linked with in addition to the C library.
    pub libraries: &'static [&'static str],
    /// The source of mathematical functions on the host, unless floating point is strict.
    pub functions: Functions,
    /// The words that are no names of variables, besides those of C.
    words: &'static str,
    /// Functions with C linkage that the compiler declares before it reads a file, and that the C
    /// library does not have.
    pub taken: &'static str,
    /// The runtime of the host, in a program with kernels.
    pub host: Platform,
    /// The runtime of kernels.
    pub kernels: Platform,
    /// Compiler directives at the start of every file.
    pub directives: &'static [&'static str],
    /// Compiler directives before the headers of a file with kernels.
    pub device_directives: &'static [&'static str],
    /// The text that takes the place of the header of CUDA in a file with kernels, if it does.
    pub names: Option<&'static str>,
    /// The extensions of files with foreign functions in the language of kernels.
    pub foreign_extensions: &'static [&'static str],
    /// The word for pointers to global memory.
    global: Option<&'static str>,
    /// The word for pointers to memory of a work-group.
    group: Option<&'static str>,
    /// The words before a kernel, for each [`Occupancy`].
    kernel_words: [&'static str; 3],
    /// The words before a function that kernels call.
    pub function_words: &'static str,
    /// The words before a foreign function that is code of the device; empty in C.
    pub foreign_words: &'static str,
    /// True if the groups of a kernel make progress while others wait for them.
    pub groups_progress: bool,
    /// The structure that an array in the memory of the device is for the host, where it is not an
    /// address.
    pub memory: Option<&'static str>,
    /// The stream of an entry for arrays on the device, in words.
    pub stream: &'static str,
    /// The function that frees memory of the device.
    pub free: &'static str,
}

/// The form of loops whose iterations run in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parallel {
    /// Loops in order.
    InOrder,
    /// Loops in order that trace their accesses, and fail where two iterations race. Such a dialect
    /// accepts programs of Loop made for any target.
    Traced,
    /// Regions that a pool of threads runs.
    Regions,
    /// Kernels in OpenCL C. They are text in the file of the host, with address spaces and vector
    /// types. The host names them by their numbers.
    OpenClKernels,
    /// Kernels in CUDA C++. They are functions in the file of the host, in a namespace of their own.
    CudaKernels,
}

/// The compiler of a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compiler {
    /// A compiler of C11 or C++17.
    C,
    /// A compiler of C++17 with kernels.
    Device {
        /// Its command.
        name: &'static str,
        /// The flags for strict floating point. There is no pragma for it.
        strict: &'static str,
    },
}

impl Dialect {
    /// Sequential C.
    pub const SEQUENTIAL: &'static Dialect = &Self::C;

    /// Sequential C that traces races.
    pub const TRACED: &'static Dialect = &Dialect {
        name: "traced",
        parallel: Parallel::Traced,
        ..Self::C
    };

    /// C with a pool of threads.
    pub const PTHREADS: &'static Dialect = &Dialect {
        name: "pthreads",
        parallel: Parallel::Regions,
        ..Self::C
    };

    /// C for the host of an OpenCL device, with the kernels as text.
    pub const OPENCL: &'static Dialect = &Dialect {
        name: "opencl",
        parallel: Parallel::OpenClKernels,
        libraries: &["-lOpenCL"],
        words: OPENCL_WORDS,
        host: Platform::OpenClHost,
        kernels: Platform::OpenClKernels,
        device_directives: &["define CL_TARGET_OPENCL_VERSION 120"],
        foreign_extensions: &["cl"],
        global: Some("__global"),
        group: Some("__local"),
        kernel_words: ["__kernel"; 3],
        memory: Some("_cl_mem"),
        stream: "a cl_command_queue that keeps its order",
        free: "clReleaseMemObject",
        ..Self::C
    };

    /// CUDA C: C++ for the host, with the kernels in the same file.
    pub const CUDA: &'static Dialect = &Self::CUDA_VALUE;

    /// HIP: CUDA C by other names.
    pub const HIP: &'static Dialect = &Dialect {
        name: "hip",
        extension: "hip",
        compiler: Compiler::Device {
            name: "hipcc",
            strict: "-ffp-contract=off",
        },
        directives: &[],
        names: Some(HIP_NAMES),
        foreign_extensions: &["hip"],
        // The second number would be one of wavefronts, not of blocks.
        kernel_words: ["static __global__ __launch_bounds__(NOVA_BLOCK_SIZE)"; 3],
        stream: "a HIP stream, or NULL, of the current device",
        free: "hipFree",
        ..Self::CUDA_VALUE
    };

    /// The dialect that others differ from.
    const C: Dialect = Dialect {
        name: "seq",
        extension: "c",
        parallel: Parallel::InOrder,
        compiler: Compiler::C,
        libraries: &[],
        functions: Functions::Vector,
        words: "",
        taken: "",
        host: Platform::Processor,
        kernels: Platform::Processor,
        directives: &[],
        device_directives: &[],
        names: None,
        foreign_extensions: &[],
        global: None,
        group: None,
        kernel_words: ["static"; 3],
        function_words: "static",
        foreign_words: "",
        groups_progress: false,
        memory: None,
        stream: "",
        free: "",
    };

    /// CUDA C, which other dialects with kernels in CUDA C++ differ from.
    const CUDA_VALUE: Dialect = Dialect {
        name: "cuda",
        extension: "cu",
        parallel: Parallel::CudaKernels,
        compiler: Compiler::Device {
            name: "nvcc",
            strict: "-fmad=false -Xcompiler -ffp-contract=off",
        },
        functions: Functions::Library,
        words: CUDA_WORDS,
        taken: CUDA_FUNCTIONS,
        host: Platform::CudaHost,
        kernels: Platform::CudaKernels,
        // nvcc passes the pragmas of the host's compiler through, but warns about unknown ones (1675).
        // It also warns about negative constants that become unsigned (68), which sums with wrapping
        // consist of.
        directives: &[
            "if defined(__CUDACC__)",
            "pragma nv_diag_suppress 1675, 68",
            "endif",
        ],
        foreign_extensions: &["cu", "cuh"],
        kernel_words: [
            "static __global__ __launch_bounds__(NOVA_BLOCK_SIZE)",
            "static __global__ __launch_bounds__(NOVA_BLOCK_SIZE, NOVA_LEAST_BLOCKS)",
            "static __global__ __launch_bounds__(NOVA_BLOCK_SIZE, NOVA_LEAST_ORDERED_BLOCKS)",
        ],
        function_words: "static __device__",
        foreign_words: "__device__",
        groups_progress: true,
        stream: "a CUDA stream, or NULL, of the current device",
        free: "cudaFree",
        ..Self::C
    };

    /// True if parallel loops become kernels of a device.
    pub fn has_device(&self) -> bool {
        match self.parallel {
            Parallel::OpenClKernels | Parallel::CudaKernels => true,
            Parallel::InOrder | Parallel::Traced | Parallel::Regions => false,
        }
    }

    /// True if kernels are functions in the file of the host, and see its types.
    pub fn kernels_see_host(&self) -> bool {
        self.parallel == Parallel::CudaKernels
    }

    /// True if a kernel gets an array as memory and the offset of its first element, false if as an
    /// address. A kernel that gets addresses also gets structures that hold addresses.
    pub fn passes_offsets(&self) -> bool {
        !self.kernels_see_host()
    }

    /// Returns the words that are no names of variables, besides those of C.
    pub fn reserved(&self) -> impl Iterator<Item = &'static str> {
        self.words.split_whitespace()
    }

    /// Returns the type of elements in global memory of a device, for declarations of pointers.
    pub fn shared_type(&self, element: Type) -> Type {
        in_space(self.global, element)
    }

    /// Returns the type of elements in memory that the threads of a work-group share, for
    /// declarations of pointers.
    pub fn group_type(&self, element: Type) -> Type {
        in_space(self.group, element)
    }

    /// Returns the declaration of a variable that the threads of a work-group share, and an
    /// expression for its address.
    pub fn group_variable(&self, ty: &str, name: Name) -> (Statement, Expression) {
        if self.kernels_see_host() {
            let one = literal(1);
            let all = vec![Expression::name(ty), Expression::Name(name.clone()), one];
            return (Statement::call("NOVA_SHARED", all), Expression::Name(name));
        }
        let declared = declaration(self.group_type(Type::name(ty)), name.clone());
        (declared, Expression::Name(name).address())
    }

    /// Returns the declaration before the arrays of a work-group, in a kernel that gets their offsets
    /// in the memory of the group. `None` if the kernel gets their addresses.
    pub fn group_memory(&self, name: Name) -> Option<Statement> {
        let all = vec![Expression::name("unsigned char"), Expression::Name(name)];
        let declared = || Statement::call("NOVA_DYNAMIC_SHARED", all);
        self.kernels_see_host().then(declared)
    }

    /// Returns the type of a vector of neighbouring elements that are loaded and stored together;
    /// `None` for truth values.
    pub fn vector_type(&self, element: Scalar, width: usize) -> Option<Type> {
        let name = opencl_vector(element)?;
        let text = match self.parallel {
            Parallel::InOrder | Parallel::Traced | Parallel::Regions => return None,
            Parallel::OpenClKernels => format!("{name}{width}"),
            Parallel::CudaKernels => {
                let element = nova_c_ast::print::type_text(&crate::scalar::memory_type(element));
                format!("nova_vector<{element}, {width}>")
            }
        };
        Some(Type::name(text))
    }

    /// Returns an expression that loads a vector of neighbouring elements.
    pub fn load_vector(&self, width: usize, place: Expression) -> Expression {
        match self.kernels_see_host() {
            true => Expression::call(format!("nova_load_vector<{width}>"), vec![place]),
            false => {
                let arguments = vec![literal(0), place];
                Expression::call(format!("vload{width}"), arguments)
            }
        }
    }

    /// Returns an expression for one lane of a vector.
    pub fn lane(&self, vector: Name, lane: usize) -> Expression {
        let vector = Expression::Name(vector);
        match self.kernels_see_host() {
            true => {
                let lane = literal(lane);
                vector.member("lanes").index(lane)
            }
            false => vector.member(format!("s{lane:x}")),
        }
    }

    /// Returns a statement that stores values to neighbouring elements.
    pub fn store_vector(&self, ty: &Type, values: Vec<Expression>, place: Expression) -> Statement {
        if self.kernels_see_host() {
            return Statement::call("nova_store_vector", [vec![place], values].concat());
        }
        let width = values.len();
        let vector = Expression::call(format!("({})", nova_c_ast::print::type_text(ty)), values);
        let all = vec![vector, literal(0), place];
        Statement::call(format!("vstore{width}"), all)
    }

    /// Returns the barrier of a work-group.
    pub fn group_barrier(&self) -> Statement {
        match self.parallel {
            // These dialects have no work-groups.
            Parallel::InOrder | Parallel::Traced | Parallel::Regions => {
                Statement::Block(Vec::new().into())
            }
            Parallel::OpenClKernels => {
                let fences = ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"];
                let [local, global] = fences.map(Expression::name);
                let both = Expression::binary(Binary::BitOr, local, global);
                Statement::call("barrier", vec![both])
            }
            Parallel::CudaKernels => Statement::call("__syncthreads", Vec::new()),
        }
    }

    /// Returns the barrier at the end of a block that not all threads of a group reach; `None` where
    /// compilers do not need one.
    pub fn barrier_at_end(&self) -> Option<Statement> {
        (self.parallel == Parallel::OpenClKernels).then(|| self.group_barrier())
    }

    /// Returns the statement that tells the compiler how many threads the groups of a kernel have;
    /// `None` where it is not told.
    pub fn size_of_groups(&self, threads: Expression) -> Option<Statement> {
        let told = || Statement::call("NOVA_GROUPS_OF", vec![threads]);
        self.kernels_see_host().then(told)
    }

    /// Returns the words before a kernel.
    pub fn kernel_prefix(&self, occupancy: Occupancy) -> &'static str {
        let [any, usual, waiting] = self.kernel_words;
        match occupancy {
            Occupancy::AnyRegisters => any,
            Occupancy::Usual => usual,
            Occupancy::Waiting => waiting,
        }
    }

    /// Returns an expression for a kernel in a launch: its number, or its function and the place of
    /// its loop.
    pub fn kernel_reference(&self, number: usize, name: &Name, place: &str) -> Expression {
        if !self.kernels_see_host() {
            return literal(number);
        }
        let function = format!("{NAMESPACE}::{name}");
        let place = Expression::text(place);
        Expression::call("NOVA_KERNEL", vec![Expression::name(function), place])
    }
}

/// Returns the type of elements in an address space.
fn in_space(space: Option<&str>, element: Type) -> Type {
    match space {
        None => element,
        Some(space) => {
            let element = nova_c_ast::print::type_text(&element);
            Type::name(format!("{space} {element}"))
        }
    }
}

/// What a kernel does with the registers of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Occupancy {
    /// Its threads allocate memory. They are few, and may use any number of registers.
    AnyRegisters,
    /// Many threads are to be resident, each with several loads in flight.
    Usual,
    /// Groups wait for each other in an ordered region, so that more of them are to be resident.
    Waiting,
}

/// Returns a loop over `0 … count - 1`.
pub fn counted_loop(
    level: Level,
    variable: Name,
    count: Expression,
    body: Vec<Statement>,
) -> Statement {
    use Level::{Block, Grid, Rank, Sequential, Thread, Vector};
    let hint = match level {
        // gcc unrolls up to 16 iterations before it looks for vectors, and more than that after.
        Level::Vector if count.as_integer().is_none_or(|n| n <= 16) => Hint::NotUnrolled,
        Level::Independent => Hint::Independent,
        Level::Unrolled => Hint::Unrolled,
        // Loops that threads share are emitted as regions or kernels.
        Sequential | Vector | Grid | Block | Thread | Rank => {
            return Statement::For {
                ty: int64(),
                variable,
                count,
                body: body.into(),
            };
        }
    };
    Statement::Lanes {
        hint,
        variable,
        count,
        body: body.into(),
    }
}

/// Returns the hint by which the threads of a kernel share a loop at a level; `None` if they do not
/// share it.
pub fn shared_loop(level: Level) -> Option<Hint> {
    match level {
        Level::Grid => Some(Hint::SharedByThreads),
        Level::Block => Some(Hint::SharedByGroups),
        Level::Thread => Some(Hint::SharedInGroup),
        Level::Sequential | Level::Vector | Level::Independent | Level::Unrolled | Level::Rank => {
            None
        }
    }
}

/// Keywords, types and macros of OpenCL C. Variables may hide its functions, but not the vector types
/// of scalars.
const OPENCL_WORDS: &str = "
__global __local __constant __private __kernel global local constant private kernel half quad
uchar ushort uint ulong char2 char3 char4 char8 char16 uchar2 uchar3 uchar4 uchar8 uchar16 short2
short3 short4 short8 short16 ushort2 ushort3 ushort4 ushort8 ushort16 int2 int3 int4 int8 int16 uint2
uint3 uint4 uint8 uint16 long2 long3 long4 long8 long16 ulong2 ulong3 ulong4 ulong8 ulong16 float2
float3 float4 float8 float16 double2 double3 double4 double8 double16 half2 half3 half4 half8 half16
image1d_t image2d_t image3d_t image2d_array_t sampler_t event_t queue_t reserve_id_t clk_event_t
read_only write_only read_write uniform pipe generic vec_step complex imaginary bool true false as_int
as_uint as_float as_double as_long as_ulong rsqrt rsqrtf sqrtf fabsf expf exp2f logf log2f log10f sinf cosf tanf asinf acosf atanf
sinhf coshf tanhf powf atan2f floorf ceilf roundf truncf erff fmaf barrier";

/// Variables and macros of CUDA C, and functions that kernels call and C does not have. Variables may
/// hide other functions and types.
const CUDA_WORDS: &str = "
threadIdx blockIdx blockDim gridDim warpSize nova_kernels rsqrt rsqrtf";

/// Functions of CUDA with C linkage that the C library does not have.
const CUDA_FUNCTIONS: &str = "
rsqrt rsqrtf rcbrt rcbrtf sinpi sinpif cospi cospif sincospi sincospif norm normf rnorm rnormf norm3d
norm3df rnorm3d rnorm3df norm4d norm4df rnorm4d rnorm4df normcdf normcdff normcdfinv normcdfinvf
erfinv erfinvf erfcinv erfcinvf erfcx erfcxf cyl_bessel_i0 cyl_bessel_i0f cyl_bessel_i1
cyl_bessel_i1f";

/// The namespace of the code for the device.
pub const NAMESPACE: &str = "nova_kernels";

/// The name of the variable that represents the device in a program.
pub const DEVICE: &str = "nova_program_device";

/// Returns the name of OpenCL's vectors of a scalar, without their width; `None` for truth values.
pub fn opencl_vector(element: Scalar) -> Option<&'static str> {
    match element {
        Scalar::Bool => None,
        Scalar::I8 => Some("char"),
        Scalar::I16 => Some("short"),
        Scalar::I32 => Some("int"),
        Scalar::I64 => Some("long"),
        Scalar::U8 => Some("uchar"),
        Scalar::U16 => Some("ushort"),
        Scalar::U32 => Some("uint"),
        Scalar::U64 => Some("ulong"),
        Scalar::F32 => Some("float"),
        Scalar::F64 => Some("double"),
    }
}
