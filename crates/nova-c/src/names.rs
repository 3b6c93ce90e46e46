//! C identifiers for NOVA names: injective for names that users see, unique for the others.

use nova_c_ast::ast::Name;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

/// Keywords of C11 and C++17.
const KEYWORDS: &str = "
alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool
break case catch char char16_t char32_t char8_t class co_await co_return co_yield compl concept const
const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else
enum explicit export extern false float for friend goto if inline int long mutable namespace new
noexcept not not_eq nullptr operator or or_eq private protected public reflexpr register
reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct
switch synchronized template this thread_local throw true try typedef typeid typename typeof union
unsigned using virtual void volatile wchar_t while xor xor_eq _Alignas _Alignof _Atomic _Bool _Complex
_Generic _Imaginary _Noreturn _Static_assert _Thread_local";

/// Functions, types, variables and macros of the C library and of the headers that generated files
/// include.
const LIBRARY: &str = "
abort abs access acos acosf acosh acosl alarm aligned_alloc alloca asctime asin asinf asinh asinl
assert atan atan2 atan2f atan2l atanf atanh atanl atexit atof atoi atol atoll bcmp bcopy brk bsearch
bzero calloc cbrt cbrtf ceil ceilf ceill chdir chmod chown clearerr clock clock_t close connect
copysign copysignf cos cosf cosh coshf coshl cosl creat ctime daemon difftime div div_t double_t drem
dup dup2 environ erf erfc erfcf erff errno execl execv execve exit exp exp2 exp2f exp10 expf expl
expm1 expm1f fabs fabsf fabsl fclose fdim fdimf feof ferror fflush fgetc fgetpos fgets fileno
float_t floor floorf floorl fma fmaf fmax fmaxf fmin fminf fmod fmodf fopen fork fpclassify fpos_t
fprintf fputc fputs fread free freopen frexp frexpf fscanf fseek fsetpos fstat fsync ftell ftruncate
fwrite gamma getc getchar getcwd getenv gets getpid getline gmtime hypot hypotf ilogb imaxabs index
isalnum isalpha isascii isblank iscntrl isdigit isfinite isgraph isgreater isinf isless islower isnan
isnormal isprint ispunct isspace isunordered isupper isxdigit j0 j1 jn jmp_buf kill labs ldexp ldexpf
ldiv lgamma lgammaf link llabs lldiv llrint llround localeconv localtime log log10 log10f log1p
log1pf log2 log2f logb logf logl longjmp lrint lround lseek malloc max_align_t mblen mbstowcs mbtowc
memchr memcmp memcpy memmove memset mktime modf modff nan nanf nanosleep nearbyint nextafter nice
offsetof open pause perror pid_t pipe poll pow powf powl printf ptrdiff_t putc putchar puts putenv
qsort raise rand random read realloc remainder remove remquo rename rewind rindex rint rintf round
roundf roundl scalb scalbln scalbn scanf select setbuf setjmp setlocale setvbuf sig_atomic_t sigaction
signal signbit signgam significand sin sincos sinf sinh sinhf sinhl sinl size_t sleep snprintf socket
sprintf sqrt sqrtf sqrtl srand srandom sscanf ssize_t stat stderr stdin stdout strcat strchr strcmp
strcoll strcpy strcspn strdup strerror strftime strlen strncat strncmp strncpy strpbrk strrchr strspn
strstr strtod strtof strtok strtol strtold strtoll strtoul strtoull strxfrm swab sync system tan tanf
tanh tanhf tanhl tanl tgamma time time_t timespec tm tmpfile tmpnam tolower toupper trunc truncf
truncate uint unlink ungetc usleep va_arg va_copy va_end va_list va_start vfprintf vprintf vsnprintf
vsprintf wait wcstombs wctomb write y0 y1 yn
int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t intmax_t
uintmax_t INT8_MAX INT8_MIN INT16_MAX INT16_MIN INT32_MAX INT32_MIN INT64_MAX INT64_MIN UINT8_MAX
UINT16_MAX UINT32_MAX UINT64_MAX INT8_C INT16_C INT32_C INT64_C UINT8_C UINT16_C UINT32_C UINT64_C
SIZE_MAX PTRDIFF_MAX PTRDIFF_MIN CHAR_BIT CHAR_MAX INT_MAX INT_MIN LONG_MAX LONG_MIN UINT_MAX NULL
EOF BUFSIZ EXIT_FAILURE EXIT_SUCCESS FILE FILENAME_MAX RAND_MAX SEEK_CUR SEEK_END SEEK_SET HUGE_VAL
HUGE_VALF INFINITY NAN M_E M_PI M_PI_2 MATH_ERRNO FP_NAN FP_ZERO EDOM ERANGE EILSEQ I complex unix
linux i386 main argc argv near far min max std";

/// True for keywords of C, for names of the C library and of generated files, and for names that the
/// runtime defines.
fn is_taken(name: &str) -> bool {
    static LISTED: OnceLock<HashSet<&'static str>> = OnceLock::new();
    let listed = LISTED.get_or_init(|| {
        let keywords = KEYWORDS.split_whitespace();
        keywords.chain(LIBRARY.split_whitespace()).collect()
    });
    let is_listed = listed.contains(name) || is_a_macro(name);
    is_listed || of_libraries(name) == Some(true) || nova_runtime::is_defined(name)
}

/// Macros without parameters from headers of the C library.
const MACRO_NAMES: &str = include_str!("macro_names.txt");

/// Returns the names of [`MACRO_NAMES`], in order.
pub fn macro_names() -> impl Iterator<Item = &'static str> {
    MACRO_NAMES.lines().filter(|line| !line.starts_with('#'))
}

fn is_a_macro(name: &str) -> bool {
    static NAMES: OnceLock<Vec<&'static str>> = OnceLock::new();
    let names = NAMES.get_or_init(|| macro_names().collect());
    names.binary_search(&name).is_ok()
}

/// The functions and variables that the libraries of common systems define: the C and mathematical
/// libraries of GNU, musl and macOS, and the libraries that compilers link. There is one name on each
/// line, in order; ` _` follows names that are always declared.
const LIBRARY_NAMES: &str = include_str!("library_names.txt");

/// Returns the names that libraries define; `true` for those that are declared where generated C is
/// compiled.
pub fn library_names() -> impl Iterator<Item = (&'static str, bool)> {
    let lines = LIBRARY_NAMES.lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| match line.strip_suffix(" _") {
        Some(name) => (name, true),
        None => (line, false),
    })
}

/// Looks a name up in [`library_names`]: `true` if it is declared where generated C is compiled, `None`
/// if no library defines it.
fn of_libraries(name: &str) -> Option<bool> {
    static NAMES: OnceLock<Vec<(&'static str, bool)>> = OnceLock::new();
    let names = NAMES.get_or_init(|| library_names().collect());
    let at = names.binary_search_by_key(&name, |(name, _)| name).ok()?;
    names.get(at).map(|(_, is_declared)| *is_declared)
}

/// True if a library of a common system defines a function or variable of this name.
pub fn is_of_a_library(name: &str) -> bool {
    of_libraries(name).is_some()
}

/// True if a C identifier is a keyword, a name of the C library, or a name of the runtime.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with("nova_") || name.starts_with("NOVA_") || is_taken(name)
}

/// Returns the C identifier of a NOVA name, different for different names.
///
/// Letters, digits and `_` stand for themselves. Any other character, and a digit at the start, is
/// `_uX_` with its code point X in hexadecimal. In a name that already contains such a sequence, its
/// `_u` becomes `_u5F_u`. A reserved word, also with further `_` at its end, gets one more `_`.
pub fn identifier(name: &str) -> String {
    let mut out = escape(name);
    if is_reserved(out.trim_end_matches('_')) || is_reserved(&out) {
        out.push('_');
    }
    out
}

/// Returns the C name of an entry's function, different for different entries. Without a prefix it is
/// the [`identifier`] of the entry's name, with a prefix the prefix and the escaped name. With
/// [`LOADED_PREFIX`] the identifier follows the prefix, so that names clash exactly where they do
/// without a prefix.
pub fn external(prefix: &str, name: &str) -> String {
    if prefix.is_empty() || prefix == LOADED_PREFIX {
        return format!("{prefix}{}", identifier(name));
    }
    let mut out = format!("{prefix}{}", escape(name));
    if is_taken(out.trim_end_matches('_')) || is_taken(&out) {
        out.push('_');
    }
    out
}

/// The prefix of code that is compiled to be loaded at once. No library defines names with this prefix,
/// so that calls from inside and outside of the program reach the program's own functions.
pub const LOADED_PREFIX: &str = "nova_loaded_";

/// Returns the reason why a text cannot be a prefix of external names; `None` if it can.
pub fn wrong_prefix(prefix: &str) -> Option<String> {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let plain = prefix.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    let reserved = |why: &str| Some(format!("`{prefix}` cannot stand before names: {why}"));
    match prefix.chars().next() {
        None => reserved("it is empty"),
        Some(first) if !is_letter(first) || !plain => {
            reserved("a name of C begins with a letter or `_`, and has letters, digits and `_`")
        }
        Some('_') => reserved("names of C and C++ that begin with `_` are the compiler's"),
        Some(_) if prefix.contains("__") => {
            reserved("names of C++ that hold `__` are the compiler's")
        }
        Some(_) if prefix.to_ascii_lowercase().starts_with("nova_") => {
            reserved("names that begin with `nova_` are the runtime's")
        }
        Some(_) => None,
    }
}

/// Returns the C name of a foreign function: the name as it is written, since the host defines it. Only
/// keywords get a `_`.
pub fn foreign(name: &str) -> String {
    let mut out = escape(name);
    let keyword = KEYWORDS
        .split_whitespace()
        .any(|k| k == out.trim_end_matches('_'));
    if keyword {
        out.push('_');
    }
    out
}

/// As [`identifier`], but reserved words stay as they are: for use inside of names.
pub fn escape(name: &str) -> String {
    let mut out = String::new();
    for (at, c) in name.char_indices() {
        let plain = c.is_ascii_alphabetic() || (c.is_ascii_digit() && at > 0) || c == '_';
        if plain && !(c == '_' && reads_as_escape(&name[at..])) {
            out.push(c);
        } else {
            out.push_str(&format!("_u{:X}_", u32::from(c)));
        }
    }
    if out.is_empty() {
        out.push('_');
    }
    out
}

/// Returns a hash of a text that is the same on all machines and in all versions (FNV-1a).
pub fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// True if the text starts with a sequence like the escapes of [`identifier`].
fn reads_as_escape(text: &str) -> bool {
    let Some(rest) = text.strip_prefix("_u") else {
        return false;
    };
    let digits = rest.trim_start_matches(|c: char| c.is_ascii_digit() || ('A'..='F').contains(&c));
    digits.len() < rest.len() && digits.starts_with('_')
}

/// Returns a readable identifier for a name that users of the C do not see. Characters other than
/// letters, digits and `_` become `_`. Names in capitals, or with two capitals in a row, become
/// lower-case: compilers and headers of devices define many different macros with such names. Names
/// that begin like the other macros of devices get the prefix `x`.
fn readable(name: &str) -> String {
    let mut out: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let is_small = |c: &u8| c.is_ascii_lowercase();
    let are_capitals = |two: &[u8]| two.iter().all(u8::is_ascii_uppercase);
    let bytes = out.as_bytes();
    let is_all_capitals = bytes.len() > 1 && !bytes.iter().any(is_small);
    if is_all_capitals || bytes.windows(2).any(are_capitals) {
        out.make_ascii_lowercase();
    }
    let mut devices = ["cl_", "cles_", "cuda"].iter();
    if devices.any(|start| out.starts_with(start))
        || !out.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        out.insert(0, 'x');
    }
    let end = out.trim_end_matches('_').len();
    out.truncate(end.max(1));
    // Longer names do not help readers.
    out.truncate(40);
    out
}

/// A generator of names that are unique in a scope, and in its enclosing scope if there is one.
#[derive(Clone, Debug, Default)]
pub struct Names {
    used: HashSet<String>,
    /// The last number tried after each name.
    last: HashMap<String, u32>,
}

impl Names {
    /// Reserves a name as it is. Returns whether it was free.
    pub fn take(&mut self, name: &str) -> bool {
        self.used.insert(name.to_string())
    }

    /// Returns a fresh name like `name` that is free here and in `outer`.
    pub fn fresh(&mut self, name: &str, outer: Option<&Names>) -> Name {
        let base = readable(name);
        let taken = |candidate: &str| outer.is_some_and(|o| o.used.contains(candidate));
        if !is_reserved(&base) && !taken(&base) && self.used.insert(base.clone()) {
            return base.into();
        }
        let counter = self.last.entry(base.clone()).or_insert(1);
        loop {
            *counter += 1;
            let candidate = format!("{base}_{counter}");
            if !taken(&candidate) && self.used.insert(candidate.clone()) {
                return candidate.into();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_injective() {
        let names = [
            "x",
            "x'",
            "x?",
            "a-b",
            "a_b",
            "int",
            "int_",
            "int__",
            "free",
            "_u27_",
            "x_u27_",
            "_u5F_u27_",
            "2x",
            "_u32_x",
            "é",
            "nova_x",
            "nova_x_",
            "_",
            "__",
            "a",
            "X",
        ];
        let identifiers: HashSet<String> = names.iter().map(|n| identifier(n)).collect();
        assert_eq!(identifiers.len(), names.len(), "{identifiers:?}");
        for name in &identifiers {
            assert!(!is_taken(name), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'));
        }
        assert_eq!(identifier("int"), "int_");
        assert_eq!(identifier("x'"), "x_u27_");
        assert_eq!(identifier("X"), "X");
    }

    #[test]
    fn fresh_names_are_unique() {
        let mut outer = Names::default();
        outer.take("sum");
        let mut names = Names::default();
        let given: Vec<Name> = ["x", "x", "x'", "sum", "free", "", "x_2"]
            .iter()
            .map(|n| names.fresh(n, Some(&outer)))
            .collect();
        let given: Vec<&str> = given.iter().map(|n| &**n).collect();
        assert_eq!(
            given,
            ["x", "x_2", "x_3", "sum_2", "free_2", "x_4", "x_2_2"]
        );
    }
}
