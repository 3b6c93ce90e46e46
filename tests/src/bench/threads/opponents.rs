//! What NOVA with threads is measured against: how each is built, and what it needs.

use crate::bench::build::{
    C, NO_PREFETCH, OPENMP, PAGES_IN_TURN, Peer, Program, Side, THRUST, Toolchain, run,
};
use std::path::Path;

/// What NOVA is measured against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opponent {
    /// C written by hand with OpenMP.
    OpenMp,
    /// The same without prefetch.
    Alone,
    /// The same, reading several pages of memory in turn.
    InTurn,
    /// The same, with rows handed out dynamically.
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
    Opponent::InTurn,
    Opponent::Dynamic,
    Opponent::Thrust,
    Opponent::OpenBlas,
];

/// Those of the programs.
pub const OF_PROGRAMS: [Opponent; 5] = [
    Opponent::OpenMp,
    Opponent::Alone,
    Opponent::InTurn,
    Opponent::Thrust,
    Opponent::OpenBlas,
];

/// The library that OpenBLAS's programs load.
const OPENBLAS: &str = "libopenblas.so.0";

impl Opponent {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Opponent::OpenMp => "OpenMP",
            Opponent::Alone => "OpenMP without prefetch",
            Opponent::InTurn => "OpenMP with pages in turn",
            Opponent::Dynamic => "OpenMP dynamic",
            Opponent::Thrust => "Thrust",
            Opponent::OpenBlas => "OpenBLAS",
        }
    }

    /// What stands behind the program's name in that of its file and its function.
    pub fn suffix(self) -> &'static str {
        match self {
            Opponent::OpenMp | Opponent::Alone | Opponent::InTurn => "openmp",
            Opponent::Dynamic => "dynamic",
            Opponent::Thrust => "thrust",
            Opponent::OpenBlas => "openblas",
        }
    }

    /// How its files are compiled.
    pub fn toolchain(self) -> Toolchain {
        match self {
            Opponent::OpenMp | Opponent::Alone | Opponent::InTurn | Opponent::Dynamic => OPENMP,
            Opponent::Thrust => THRUST,
            Opponent::OpenBlas => C,
        }
    }

    /// What it needs and this machine lacks, in words.
    pub fn missing(self, folder: &Path) -> Option<String> {
        match self {
            Opponent::OpenMp | Opponent::Alone | Opponent::InTurn | Opponent::Dynamic => {
                let there = compiles(self.toolchain(), "#include <omp.h>\n", folder);
                (!there).then(|| "gcc has no OpenMP".to_string())
            }
            Opponent::Thrust => {
                let text = "#include <thrust/transform.h>\n";
                let there = compiles(self.toolchain(), text, folder);
                (!there).then(|| "g++ or libthrust-dev is not installed".to_string())
            }
            Opponent::OpenBlas => {
                // SAFETY: the library is a common one, which runs nothing but its initialisation.
                let there = unsafe { libloading::Library::new(OPENBLAS) };
                match there {
                    // Its threads never end, so its code has to stay.
                    Ok(library) => {
                        std::mem::forget(library);
                        None
                    }
                    Err(_) => Some(format!("{OPENBLAS} is not installed")),
                }
            }
        }
    }

    /// Builds its version of a program in a folder, with so many threads; `None` if it has none.
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
            Opponent::InTurn => PAGES_IN_TURN,
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
