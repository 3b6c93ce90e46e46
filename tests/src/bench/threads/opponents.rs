//! The opponents of NOVA with threads: the build of each, and its requirements.

use crate::bench::build::{
    C, NO_PREFETCH, OPENMP, PAGE_INTERLEAVED, Peer, Program, Side, THRUST, Toolchain, run,
};
use std::path::Path;

/// An opponent of NOVA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// C written by hand with OpenMP.
    OpenMp,
    /// C with OpenMP, without prefetch.
    Alone,
    /// C with OpenMP, reading page-interleaved streams.
    Interleaved,
    /// C with OpenMP, with dynamic scheduling of rows.
    Dynamic,
    /// C++ with Thrust and its OpenMP back end.
    Thrust,
    /// OpenBLAS.
    OpenBlas,
}

/// All of them.
pub const OPPONENTS: [Opponent; 6] = [
    Opponent::OpenMp,
    Opponent::Alone,
    Opponent::Interleaved,
    Opponent::Dynamic,
    Opponent::Thrust,
    Opponent::OpenBlas,
];

/// The opponents of the programs.
pub const OF_PROGRAMS: [Opponent; 5] = [
    Opponent::OpenMp,
    Opponent::Alone,
    Opponent::Interleaved,
    Opponent::Thrust,
    Opponent::OpenBlas,
];

/// The library that OpenBLAS's programs load.
const OPENBLAS: &str = "libopenblas.so.0";

impl Opponent {
    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Opponent::OpenMp => "OpenMP",
            Opponent::Alone => "OpenMP without prefetch",
            Opponent::Interleaved => "OpenMP with interleaved pages",
            Opponent::Dynamic => "OpenMP dynamic",
            Opponent::Thrust => "Thrust",
            Opponent::OpenBlas => "OpenBLAS",
        }
    }

    /// Returns the suffix of the program's name in the names of its file and its function.
    pub fn suffix(self) -> &'static str {
        match self {
            Opponent::OpenMp | Opponent::Alone | Opponent::Interleaved => "openmp",
            Opponent::Dynamic => "dynamic",
            Opponent::Thrust => "thrust",
            Opponent::OpenBlas => "openblas",
        }
    }

    /// Returns the toolchain of its files.
    pub fn toolchain(self) -> Toolchain {
        match self {
            Opponent::OpenMp | Opponent::Alone | Opponent::Interleaved | Opponent::Dynamic => {
                OPENMP
            }
            Opponent::Thrust => THRUST,
            Opponent::OpenBlas => C,
        }
    }

    /// Returns its requirement that this machine lacks, in words.
    pub fn missing(self, folder: &Path) -> Option<String> {
        match self {
            Opponent::OpenMp | Opponent::Alone | Opponent::Interleaved | Opponent::Dynamic => {
                let there = compiles(self.toolchain(), "#include <omp.h>\n", folder);
                (!there).then(|| "gcc has no OpenMP".to_string())
            }
            Opponent::Thrust => {
                let text = "#include <thrust/transform.h>\n";
                let there = compiles(self.toolchain(), text, folder);
                (!there).then(|| "g++ or libthrust-dev is not installed".to_string())
            }
            Opponent::OpenBlas => {
                // SAFETY: the library is a common one, which runs only its initialisation.
                let there = unsafe { libloading::Library::new(OPENBLAS) };
                match there {
                    // Its threads never end, so its code must stay loaded.
                    Ok(library) => {
                        std::mem::forget(library);
                        None
                    }
                    Err(_) => Some(format!("{OPENBLAS} is not installed")),
                }
            }
        }
    }

    /// Builds its version of a program in a folder, with this number of threads. Returns `None` if
    /// it has none.
    pub fn side(
        self,
        program: &Program,
        threads: usize,
        results: usize,
        folder: &Path,
    ) -> Result<Option<Side>, String> {
        let name = format!("{}_{}", program.name, self.suffix());
        let threads = format!("-DTHREADS={threads}");
        let order = match self {
            Opponent::Interleaved => PAGE_INTERLEAVED,
            Opponent::Alone => NO_PREFETCH,
            Opponent::OpenMp | Opponent::Dynamic | Opponent::Thrust | Opponent::OpenBlas => &[],
        };
        let define = [&[threads.as_str()], order].concat();
        let peer = Peer {
            name: &name,
            toolchain: self.toolchain(),
            define: &define,
        };
        if !peer.source(&program.name).exists() {
            return Ok(None);
        }
        let folder = folder.join(self.name());
        std::fs::create_dir(&folder).map_err(|error| error.to_string())?;
        Side::peer(program, &peer, results, &folder).map(Some)
    }
}

/// True if a text compiles.
fn compiles(toolchain: Toolchain, text: &str, folder: &Path) -> bool {
    let source = folder.join(format!("try.{}", toolchain.extension));
    let flags = [toolchain.flags, &["-fsyntax-only"]];
    let written = std::fs::write(&source, text).is_ok();
    written && run(toolchain.compiler, folder, &flags, &[&source], &[], "try.o").is_ok()
}
