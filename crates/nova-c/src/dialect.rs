//! Differences between the targets in the code of functions: how a loop at a level runs, and how the
//! threads of a level synchronise. Everything else is the same C.

use crate::options::Target;
use nova_c_ast::ast::{Binary, Expression, Hint, Name, Statement, Type};
use nova_core::Scalar;
use nova_loop::ir::Level;

/// Returns a loop over `0 … count - 1`.
pub fn counted_loop(
    target: Target,
    level: Level,
    variable: Name,
    count: Expression,
    body: Vec<Statement>,
) -> Vec<Statement> {
    match (target, level) {
        (
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl | Target::Cuda,
            Level::Vector,
        ) => {
            vec![Statement::Lanes {
                hint: Hint::NotUnrolled,
                variable,
                count,
                body: body.into(),
            }]
        }
        (
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl | Target::Cuda,
            Level::Independent,
        ) => {
            vec![Statement::Lanes {
                hint: Hint::Independent,
                variable,
                count,
                body: body.into(),
            }]
        }
        (
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl | Target::Cuda,
            Level::Unrolled,
        ) => {
            vec![Statement::Lanes {
                hint: Hint::Unrolled,
                variable,
                count,
                body: body.into(),
            }]
        }
        // Loops that threads share are emitted as regions or kernels.
        (
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl | Target::Cuda,
            Level::Sequential | Level::Grid | Level::Block | Level::Thread | Level::Rank,
        ) => vec![Statement::For {
            ty: Type::name("int64_t"),
            variable,
            count,
            body: body.into(),
        }],
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

/// Returns the type of elements in memory that the threads of a work-group share, for declarations of
/// pointers.
pub fn group_type(target: Target, element: Type) -> Type {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::Cuda => element,
        Target::OpenCl => Type::name(format!(
            "__local {}",
            nova_c_ast::print::type_text(&element)
        )),
    }
}

/// Returns the declaration of a variable that the threads of a work-group share, and an expression for
/// its address.
pub fn group_variable(target: Target, ty: &str, name: Name) -> (Statement, Expression) {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => {
            let declared = Statement::Declare {
                ty: group_type(target, Type::name(ty)),
                name: name.clone(),
                value: None,
            };
            (declared, Expression::Name(name).address())
        }
        Target::Cuda => {
            let one = Expression::literal("1");
            let all = vec![Expression::name(ty), Expression::Name(name.clone()), one];
            (Statement::call("NOVA_SHARED", all), Expression::Name(name))
        }
    }
}

/// Returns the declaration before the arrays of a work-group, in a kernel that gets their offsets in
/// the memory of the group. `None` if the kernel gets their addresses.
pub fn group_memory(target: Target, name: Name) -> Option<Statement> {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => None,
        Target::Cuda => {
            let all = vec![Expression::name("unsigned char"), Expression::Name(name)];
            Some(Statement::call("NOVA_DYNAMIC_SHARED", all))
        }
    }
}

/// Returns the type of a vector of neighbouring elements that are loaded and stored together; `None`
/// for truth values.
pub fn vector_type(target: Target, element: Scalar, width: usize) -> Option<Type> {
    let text = match target {
        Target::Seq | Target::Traced | Target::Pthreads => return None,
        Target::OpenCl => format!("{}{width}", crate::dialect::opencl_vector(element)?),
        Target::Cuda if element == Scalar::Bool => return None,
        Target::Cuda => {
            let element = nova_c_ast::print::type_text(&crate::scalar::memory_type(element));
            format!("nova_vector<{element}, {width}>")
        }
    };
    Some(Type::name(text))
}

/// Returns an expression that loads a vector of neighbouring elements.
pub fn load_vector(target: Target, width: usize, place: Expression) -> Expression {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => {
            let arguments = vec![Expression::literal("0"), place];
            Expression::call(format!("vload{width}"), arguments)
        }
        Target::Cuda => Expression::call(format!("nova_load_vector<{width}>"), vec![place]),
    }
}

/// Returns an expression for one lane of a vector.
pub fn lane(target: Target, vector: Name, lane: usize) -> Expression {
    let vector = Expression::Name(vector);
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => {
            vector.member(format!("s{lane:x}"))
        }
        Target::Cuda => {
            let lane = Expression::literal(lane.to_string());
            vector.member("lanes").index(lane)
        }
    }
}

/// Returns a statement that stores values to neighbouring elements.
pub fn store_vector(
    target: Target,
    ty: &Type,
    values: Vec<Expression>,
    place: Expression,
) -> Statement {
    let width = values.len();
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => {
            let vector =
                Expression::call(format!("({})", nova_c_ast::print::type_text(ty)), values);
            let all = vec![vector, Expression::literal("0"), place];
            Statement::call(format!("vstore{width}"), all)
        }
        Target::Cuda => Statement::call("nova_store_vector", [vec![place], values].concat()),
    }
}

/// Returns the barrier of a work-group.
pub fn group_barrier(target: Target) -> Statement {
    match target {
        // These targets have no work-groups.
        Target::Seq | Target::Traced | Target::Pthreads => Statement::Block(Vec::new().into()),
        Target::OpenCl => {
            let fences = ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"];
            let [local, global] = fences.map(Expression::name);
            let both = Expression::binary(Binary::BitOr, local, global);
            Statement::call("barrier", vec![both])
        }
        Target::Cuda => Statement::call("__syncthreads", Vec::new()),
    }
}

/// Returns the barrier at the end of a block that not all threads of a group reach; `None` where
/// compilers do not need one.
pub fn barrier_at_end(target: Target) -> Option<Statement> {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::Cuda => None,
        Target::OpenCl => Some(group_barrier(target)),
    }
}

/// Returns the barrier of a level on the host.
pub fn barrier(target: Target, level: Level) -> Vec<Statement> {
    match (target, level) {
        // One thread needs no barrier, and regions end together.
        (
            Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl | Target::Cuda,
            Level::Sequential
            | Level::Grid
            | Level::Block
            | Level::Thread
            | Level::Vector
            | Level::Independent
            | Level::Unrolled
            | Level::Rank,
        ) => Vec::new(),
    }
}

/// Returns the type of elements in global memory of a device, for declarations of pointers.
pub fn shared_type(target: Target, element: Type) -> Type {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::Cuda => element,
        Target::OpenCl => Type::name(format!(
            "__global {}",
            nova_c_ast::print::type_text(&element)
        )),
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

/// Returns the words before a kernel.
pub fn kernel_prefix(target: Target, occupancy: Occupancy) -> &'static str {
    match (target, occupancy) {
        (Target::Seq | Target::Traced | Target::Pthreads, _) => "static",
        (Target::OpenCl, _) => "__kernel",
        (Target::Cuda, Occupancy::AnyRegisters) => {
            "static __global__ __launch_bounds__(NOVA_BLOCK_SIZE)"
        }
        (Target::Cuda, Occupancy::Usual) => {
            "static __global__ __launch_bounds__(NOVA_BLOCK_SIZE, NOVA_LEAST_BLOCKS)"
        }
        (Target::Cuda, Occupancy::Waiting) => {
            "static __global__ __launch_bounds__(NOVA_BLOCK_SIZE, NOVA_LEAST_ORDERED_BLOCKS)"
        }
    }
}

/// Returns the words before a function that kernels call.
pub fn device_prefix(target: Target) -> &'static str {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => "static",
        Target::Cuda => "static __device__",
    }
}

/// Returns the words before a foreign function that is code of the device; empty in C.
pub fn foreign_prefix(target: Target) -> &'static str {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => "",
        Target::Cuda => "__device__",
    }
}

/// True if a kernel gets an array as memory and the offset of its first element, false if as an
/// address. A kernel that gets addresses also gets structures that hold addresses.
pub fn passes_offsets(target: Target) -> bool {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => true,
        Target::Cuda => false,
    }
}

/// Returns an expression for a kernel in a launch: its number, or its function and the place of its
/// loop.
pub fn kernel_reference(target: Target, number: usize, name: &Name, place: &str) -> Expression {
    match target {
        Target::Seq | Target::Traced | Target::Pthreads | Target::OpenCl => {
            Expression::literal(number.to_string())
        }
        Target::Cuda => {
            let function = format!("{}::{name}", crate::dialect::NAMESPACE);
            let place = Expression::text(place);
            Expression::call("NOVA_KERNEL", vec![Expression::name(function), place])
        }
    }
}

/// Returns the words that are no names of variables, besides those of C.
pub fn reserved(target: Target) -> impl Iterator<Item = &'static str> {
    let words = match target {
        Target::Seq | Target::Traced | Target::Pthreads => "",
        Target::OpenCl => OPENCL_WORDS,
        Target::Cuda => CUDA_WORDS,
    };
    words.split_whitespace()
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
