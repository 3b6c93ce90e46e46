//! Compilation, loading and calls of generated C.
//!
//! A few lines of C are compiled with the generated source. For each entry they have a function of
//! two arrays of pointers, which calls the entry exactly as its header declares it. One array
//! points to the value of each parameter, the other to the place of each result.

use crate::binding;
use crate::cache::{Cache, Key};
use crate::compiler::{self, Compiler};
use crate::error::{CallError, CompileError, InputError};
use crate::image::{self, Image};
use crate::layout::Passing;
use crate::marshal::Argument;
use crate::places::Places;
use crate::prototype;
use crate::temporary::BuildFolder;
use crate::toolchain::CompilerOptions;
use crate::unmarshal::{Results, Returned};
use nova_core::{SumType, Type, Value};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An entry of a generated program.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryInterface {
    /// Its name in the program.
    pub name: Arc<str>,
    /// Its function in C.
    pub symbol: String,
    /// The C function that gives the message of its last failure.
    pub error: String,
    /// Its inputs.
    pub inputs: Vec<(Arc<str>, Type)>,
    /// The type of its value.
    pub result: Type,
}

/// A generated program that is to be loaded.
#[derive(Clone, Debug)]
pub struct Generated<'a> {
    /// The name of its files, without extension.
    pub name: &'a str,
    /// The header.
    pub header: &'a str,
    /// The source.
    pub source: &'a str,
    /// Its entries.
    pub entries: Vec<EntryInterface>,
    /// The C names of the foreign functions that it declares.
    pub foreigns: Vec<String>,
    /// The sum types that the entries' types name.
    pub sums: &'a [SumType],
}

/// The function compiled for an entry.
type Call = unsafe extern "C" fn(*const *const c_void, *const *mut c_void) -> c_int;
/// An entry's `NAME_error`.
type LastError = unsafe extern "C" fn() -> *const c_char;

/// A loaded program. It is unloaded when this is dropped. A program with linked files stays to the
/// end of the process.
#[derive(Debug)]
pub struct Library {
    entries: Vec<LoadedEntry>,
    sums: Vec<SumType>,
    warnings: Vec<String>,
    /// The key of its code, if that is in the cache.
    key: Option<Key>,
    _code: Option<Image>,
}

#[derive(Debug)]
struct LoadedEntry {
    interface: EntryInterface,
    inputs: Vec<Passing>,
    result: Passing,
    call: Call,
    error: LastError,
    /// What the places of its messages stand for, where these are numbers.
    places: Option<Places>,
}

impl Library {
    /// Compiles a program, or finds it in the cache, and loads it together with the files to be
    /// linked.
    pub fn load(
        generated: &Generated<'_>,
        options: CompilerOptions,
        link: &[PathBuf],
    ) -> Result<Library, CompileError> {
        // A linked file may change without its name changing.
        let cache = Cache::of_user().filter(|_| link.is_empty());
        Self::load_with(generated, options, link, cache.as_ref())
    }

    /// Does the work of [`Library::load`], with a cache chosen by the caller.
    pub fn load_with(
        generated: &Generated<'_>,
        options: CompilerOptions,
        link: &[PathBuf],
        cache: Option<&Cache>,
    ) -> Result<Library, CompileError> {
        let mut bridge = Bridge::default();
        for entry in &generated.entries {
            bridge.add(entry, generated)?;
        }
        generated
            .foreigns
            .iter()
            .for_each(|name| bridge.add_foreign(name));
        let bridge_source = bridge.source();
        let folder = BuildFolder::new().map_err(|error| CompileError::Files {
            what: "a temporary folder cannot be made".to_string(),
            error,
        })?;
        let compiler = Compiler::find(options, folder.path())?;
        let build = Build {
            generated,
            bridge: &bridge_source,
            compiler: &compiler,
            folder: &folder,
            extension: options.extension(),
            link,
        };
        let mut warnings = Vec::new();
        let key = build.key();
        let image = build.open(cache, &key, &mut warnings)?;
        check_foreigns(image.library(), &generated.foreigns)?;
        let interfaces = generated.entries.iter().cloned();
        let entries = bind(&image, interfaces.zip(bridge.passings))?;
        // The threads of a library end when it is unloaded. Linked files may have threads that do
        // not.
        let mut code = Some(image);
        if !link.is_empty() {
            std::mem::forget(code.take());
        }
        Ok(Library {
            entries,
            sums: generated.sums.to_vec(),
            warnings,
            key: cache.map(|_| key),
            _code: code,
        })
    }

    /// Loads code from the cache, if it is there and has these entries. It has no foreign functions.
    pub(crate) fn of_code(
        key: &Key,
        interfaces: Vec<EntryInterface>,
        sums: Vec<SumType>,
        cache: &Cache,
        mut warnings: Vec<String>,
    ) -> Option<Library> {
        let content = cache.get(key, &mut warnings)?;
        let passings: Result<Vec<Passings>, CompileError> =
            interfaces.iter().map(|e| passings(e, &sums)).collect();
        // A folder is made only where it is needed, since that looks for those of killed processes.
        let image = match Image::in_memory(&content).ok()? {
            Some(image) => image,
            None => Image::load(&content, &BuildFolder::new().ok()?).ok()?,
        };
        let entries = bind(&image, interfaces.into_iter().zip(passings.ok()?)).ok()?;
        Some(Library {
            entries,
            sums,
            warnings,
            key: Some(key.clone()),
            _code: Some(image),
        })
    }

    /// Returns the library with what the places of its messages stand for. They are numbers there.
    pub fn with_places(mut self, places: &Places) -> Library {
        let each = self.entries.iter_mut();
        each.for_each(|entry| entry.places = Some(places.clone()));
        self
    }

    /// Returns the key of its code, if that is in the cache.
    pub(crate) fn code_key(&self) -> Option<&Key> {
        self.key.as_ref()
    }

    /// Returns the entries, in order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = &EntryInterface> {
        self.entries.iter().map(|entry| &entry.interface)
    }

    /// Returns the problems with the cache, which are no errors.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the sum types that the entries' types name.
    pub fn sums(&self) -> &[SumType] {
        &self.sums
    }

    /// Calls an entry (by its position) with inputs of its types, and returns its value.
    pub fn call(&self, entry: usize, inputs: &[Value]) -> Result<Value, CallError> {
        let (value, _) = self.prepare(entry, inputs)?.call()?;
        Ok(value)
    }

    /// Prepares a call of an entry (by its position) that can be made many times. The inputs are
    /// converted to C once.
    pub fn prepare(&self, entry: usize, inputs: &[Value]) -> Result<PreparedCall<'_>, CallError> {
        let entry = self.entry(entry)?;
        let arguments = entry.marshal(inputs, &self.sums).map_err(wrong)?;
        Ok(PreparedCall { entry, arguments })
    }

    /// Prepares a call with inputs that are in the form of C already.
    pub fn prepare_arguments(
        &self,
        entry: usize,
        arguments: Vec<Argument>,
    ) -> Result<PreparedCall<'_>, CallError> {
        let entry = self.entry(entry)?;
        entry.check_count(arguments.len()).map_err(wrong)?;
        let inputs = arguments.iter().zip(&entry.inputs);
        for ((argument, passing), (name, _)) in inputs.zip(&entry.interface.inputs) {
            if argument.passing() != passing {
                return Err(wrong(mismatch(name)));
            }
        }
        Ok(PreparedCall { entry, arguments })
    }

    fn entry(&self, entry: usize) -> Result<&LoadedEntry, CallError> {
        let found = self.entries.get(entry);
        found.ok_or_else(|| wrong("no such entry".to_string()))
    }
}

fn wrong(message: String) -> CallError {
    CallError::Arguments(InputError(message))
}

fn mismatch(input: &str) -> String {
    format!("input {input} is given a value of another type")
}

/// A call with its arguments in the form of C.
#[derive(Debug)]
pub struct PreparedCall<'a> {
    entry: &'a LoadedEntry,
    arguments: Vec<Argument>,
}

impl<'a> PreparedCall<'a> {
    /// Calls the function. Returns the value, and the time that the C function took.
    pub fn call(&self) -> Result<(Value, Duration), CallError> {
        let (returned, time) = self.run()?;
        Ok((returned.value().map_err(CallError::Contract)?, time))
    }

    /// Calls the function. Returns the result in the memory that the function gave, and the time that
    /// it took.
    pub fn run(&self) -> Result<(Returned<'a>, Duration), CallError> {
        let mut results = Results::new(&self.entry.result);
        let time = self.call_with(&mut results)?;
        // SAFETY: the call returned 0.
        let returned = unsafe { results.returned(&self.entry.result) };
        Ok((returned.map_err(CallError::Contract)?, time))
    }

    /// Calls the function with a buffer for its result, which is a vector or an array whose elements have
    /// memory. Returns the extents of the result. It fills as many elements of the buffer.
    ///
    /// # Errors
    /// The program fails, or the buffer is too small. Code 3 says that the buffer is too small.
    ///
    /// # Safety
    ///
    /// The buffer has room for as many elements as the product of the extents.
    pub unsafe fn run_into(
        &self,
        extents: &[usize],
        data: *mut u8,
    ) -> Result<Vec<usize>, CallError> {
        let mut results = Results::into_buffer(&self.entry.result, extents, data)
            .ok_or_else(|| wrong("the result is not written to a buffer".to_string()))?;
        self.call_with(&mut results)?;
        results.filled(data).map_err(CallError::Contract)
    }

    /// Calls the function with places for its results. Returns the time that it took.
    fn call_with(&self, results: &mut Results) -> Result<Duration, CallError> {
        let entry = self.entry;
        let arguments = self.arguments.iter();
        let argument_pointers: Vec<*const u64> = arguments.flat_map(Argument::pointers).collect();
        let result_pointers = results.pointers();
        let start = Instant::now();
        // SAFETY: both arrays hold a pointer for each parameter that the bridge reads, to memory
        // laid out as the bridge asserted when it was compiled.
        let code = unsafe {
            (entry.call)(
                argument_pointers.as_ptr().cast(),
                result_pointers.as_ptr().cast(),
            )
        };
        let time = start.elapsed();
        match code {
            0 => Ok(time),
            code => Err(CallError::Failed {
                code,
                message: entry.last_error(code),
            }),
        }
    }
}

impl LoadedEntry {
    fn marshal(&self, inputs: &[Value], sums: &[SumType]) -> Result<Vec<Argument>, String> {
        self.check_count(inputs.len())?;
        let inputs = inputs.iter().zip(&self.interface.inputs).zip(&self.inputs);
        let converted = inputs.map(|((value, (name, ty)), passing)| {
            if !value.conforms(ty, sums) {
                return Err(mismatch(name));
            }
            Argument::of_value(passing, value).map_err(|_| mismatch(name))
        });
        converted.collect()
    }

    fn check_count(&self, given: usize) -> Result<(), String> {
        let (name, expected) = (&self.interface.name, self.interface.inputs.len());
        match given == expected {
            true => Ok(()),
            false => Err(format!("{name} takes {expected} inputs, {given} are given")),
        }
    }

    fn last_error(&self, code: i32) -> String {
        // SAFETY: the function returns null or a text that lives until the thread's next call.
        let text = unsafe {
            let text = (self.error)();
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        };
        match (text, &self.places) {
            (Some(text), Some(places)) if !text.is_empty() => places.named(text),
            (Some(text), None) if !text.is_empty() => text,
            (Some(_) | None, _) => format!("error code {code}"),
        }
    }
}

/// The function compiled for a foreign one. It returns the function that a call reaches, or null
/// where there are no calls.
type Bound = unsafe extern "C" fn() -> *const c_void;

/// Refuses foreign functions that resolve to others than the linked ones.
fn check_foreigns(library: &libloading::Library, foreigns: &[String]) -> Result<(), CompileError> {
    for (k, name) in foreigns.iter().enumerate() {
        let ask: Bound = symbol(library, &format!("nova_bridge_foreign_{k}"))?;
        // SAFETY: the function only returns an address.
        let bound = unsafe { ask() };
        // SAFETY: the address is only compared.
        let found = unsafe { library.get::<Bound>(name.as_bytes()) };
        let found = found.ok().map(|symbol| *symbol as *const c_void);
        if !bound.is_null() {
            binding::check(name, bound, found)?;
        }
    }
    Ok(())
}

/// The forms in which the inputs and the result of an entry are passed.
type Passings = (Vec<Passing>, Passing);

fn passings(entry: &EntryInterface, sums: &[SumType]) -> Result<Passings, CompileError> {
    let passing = |name: &str, ty: &Type| {
        Passing::of(ty, sums)
            .map_err(|why| CompileError::Ffi(format!("{}: {name}: {why}", entry.name)))
    };
    let inputs = entry.inputs.iter();
    let inputs: Result<Vec<Passing>, CompileError> =
        inputs.map(|(name, ty)| passing(name, ty)).collect();
    Ok((inputs?, passing("the result", &entry.result)?))
}

/// Finds the functions of entries in their code.
fn bind(
    image: &Image,
    entries: impl Iterator<Item = (EntryInterface, Passings)>,
) -> Result<Vec<LoadedEntry>, CompileError> {
    let library = image.library();
    let bound = entries
        .enumerate()
        .map(|(k, (interface, (inputs, result)))| {
            Ok(LoadedEntry {
                interface,
                inputs,
                result,
                call: symbol(library, &format!("nova_bridge_call_{k}"))?,
                error: symbol(library, &format!("nova_bridge_error_{k}"))?,
                places: None,
            })
        });
    bound.collect()
}

/// Finds a function of a library.
fn symbol<T: Copy>(library: &libloading::Library, name: &str) -> Result<T, CompileError> {
    // SAFETY: the names are those of the bridge, whose functions have these types.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found
        .map(|symbol| *symbol)
        .map_err(|error| CompileError::Load(error.to_string()))
}

/// The C that is compiled with a program.
#[derive(Default)]
struct Bridge {
    functions: String,
    passings: Vec<Passings>,
    /// The number of foreign functions.
    foreigns: usize,
}

impl Bridge {
    fn add(
        &mut self,
        entry: &EntryInterface,
        generated: &Generated<'_>,
    ) -> Result<(), CompileError> {
        let (inputs, result) = passings(entry, generated.sums)?;
        let sizes: Vec<usize> = [&result]
            .into_iter()
            .chain(&inputs)
            .flat_map(cell_sizes)
            .collect();
        let types = prototype::parameter_types(generated.header, &entry.symbol)
            .filter(|types| types.len() == sizes.len())
            .ok_or_else(|| {
                let symbol = &entry.symbol;
                CompileError::Ffi(format!(
                    "the generated header does not declare {symbol} as its types demand"
                ))
            })?;
        let mut values = Vec::new();
        let results = result.cells();
        for (k, (ty, size)) in types.iter().zip(sizes).enumerate() {
            let (value, held) = match k < results {
                true => (
                    format!("({ty})results[{k}]"),
                    prototype::target(ty).unwrap_or(ty),
                ),
                false => (format!("*({ty} *)arguments[{}]", k - results), ty.as_str()),
            };
            let check = format!("sizeof({held}) == {size}");
            // Writing to a String cannot fail.
            let _ = writeln!(self.functions, "_Static_assert({check}, \"{check}\");");
            values.push(value);
        }
        let k = self.passings.len();
        let (symbol, error, values) = (&entry.symbol, &entry.error, values.join(", "));
        let _ = write!(
            self.functions,
            "int nova_bridge_call_{k}(void *const *arguments, void *const *results)\n{{\n    \
             (void)arguments;\n    (void)results;\n    return {symbol}({values});\n}}\n\
             const char *nova_bridge_error_{k}(void)\n{{\n    return {error}();\n}}\n",
        );
        self.passings.push((inputs, result));
        Ok(())
    }

    /// Adds a function that returns the address of a foreign one. An undefined foreign function is
    /// allowed where nothing calls it.
    fn add_foreign(&mut self, symbol: &str) {
        let k = self.foreigns;
        // Writing to a String cannot fail.
        let _ = write!(
            self.functions,
            "#pragma weak {symbol}\n\
             void *nova_bridge_foreign_{k}(void)\n{{\n    return (void *){symbol};\n}}\n",
        );
        self.foreigns += 1;
    }

    fn source(&self) -> String {
        format!("#include \"{BRIDGE_HEADER}\"\n{}", self.functions)
    }
}

/// Returns the size of each C parameter.
fn cell_sizes(passing: &Passing) -> Vec<usize> {
    match passing {
        Passing::Bool => vec![size_of::<c_int>()],
        Passing::Value(layout) => vec![layout.size],
        Passing::Nothing(_) | Passing::Vector { .. } | Passing::Array { .. } => {
            vec![crate::layout::WORD; passing.cells()]
        }
    }
}

/// The name of the program's header for the bridge. It is a name that all compilers treat alike.
const BRIDGE_HEADER: &str = "program.h";

/// The data of one build, from text to a loaded library.
struct Build<'a> {
    generated: &'a Generated<'a>,
    bridge: &'a str,
    compiler: &'a Compiler,
    /// The folder of the build.
    folder: &'a BuildFolder,
    /// The extension of the source's name.
    extension: &'static str,
    link: &'a [PathBuf],
}

impl Build<'_> {
    /// Opens the program: from the cache, or else compiled and then kept there.
    fn open(
        &self,
        cache: Option<&Cache>,
        key: &Key,
        warnings: &mut Vec<String>,
    ) -> Result<Image, CompileError> {
        if let Some(content) = cache.and_then(|cache| cache.get(key, warnings))
            && let Ok(image) = Image::load(&content, self.folder)
        {
            return Ok(image);
        }
        let built = self.compile(self.folder.path())?;
        let content = std::fs::read(&built).map_err(|error| CompileError::Files {
            what: format!("{} cannot be read", built.display()),
            error,
        })?;
        let image = Image::load(&content, self.folder)?;
        if let Some(cache) = cache {
            cache.put(key, &content, warnings);
        }
        Ok(image)
    }

    /// Returns the key of all that decides the compiled code.
    fn key(&self) -> Key {
        let generated = self.generated;
        Key::of(&[
            env!("CARGO_PKG_VERSION"),
            &self.compiler.description(),
            compiler::processor(),
            generated.name,
            generated.header,
            generated.source,
            self.bridge,
            self.extension,
        ])
    }

    fn compile(&self, folder: &Path) -> Result<PathBuf, CompileError> {
        let name = self.generated.name;
        let source = folder.join(format!("{name}.{}", self.extension));
        // A folder of its own avoids clashes with the names of programs.
        let bridge = folder.join("bridge").join("bridge.c");
        std::fs::create_dir(folder.join("bridge")).map_err(|error| CompileError::Files {
            what: "a temporary folder cannot be made".to_string(),
            error,
        })?;
        compiler::write(&folder.join(format!("{name}.h")), self.generated.header)?;
        compiler::write(&source, self.generated.source)?;
        compiler::write(&bridge.with_file_name(BRIDGE_HEADER), self.generated.header)?;
        compiler::write(&bridge, self.bridge)?;
        let mut inputs = vec![source, bridge];
        for file in self.link {
            let path = std::fs::canonicalize(file)
                .map_err(|error| CompileError::Link(InputError::file(file, &error)))?;
            inputs.push(path);
        }
        let library = folder.join("library.so");
        match self.compiler.compile_shared(folder, &inputs, &library) {
            Ok(()) => Ok(library),
            Err(error) => Err(image::full(folder).unwrap_or(error)),
        }
    }
}
