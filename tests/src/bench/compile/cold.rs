//! First runs of programs on an OpenCL device, in processes of their own: without the compiled programs and
//! the compiled kernels of earlier runs.

use super::inputs;
use crate::bench::applications::APPLICATIONS;
use crate::random::Random;
use nova_core::Value;
use nova_driver::test_lines::{Expected, test_lines};
use nova_driver::{Checked, Signature};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

/// A program that every device runs.
const SMALL: &str = "((X : vector int)) (map (+ 1) X)\n";

/// An OpenCL device, by the command that runs programs on it.
pub struct Device {
    novac: PathBuf,
}

impl Device {
    /// Returns the device if a small program runs on it, or what it lacks.
    pub fn find(novac: &Path) -> Result<Device, String> {
        let device = Device {
            novac: novac.to_path_buf(),
        };
        let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
        let program = folder.path().join("small.nova");
        std::fs::write(&program, SMALL).map_err(|error| error.to_string())?;
        device.run(&program, &["X=[1 2 3]".to_string()])?;
        Ok(device)
    }

    /// Writes inputs of a program into a folder. Returns the arguments of the command that name them. They
    /// are the small data of an application, else those of the longest test line that gives a value.
    pub fn prepare(
        &self,
        path: &Path,
        checked: &Checked,
        shrink: usize,
        folder: &Path,
    ) -> Result<Vec<String>, String> {
        let signatures = checked.signatures();
        let (entry, values) = match of_application(path, shrink) {
            Some(values) => (0, values),
            None => of_test(path, checked)?,
        };
        let signature: &Signature = signatures.get(entry).ok_or("it has no entry")?;
        let mut arguments = inputs::files(checked, signature, values, folder)?;
        if signatures.len() > 1 {
            arguments.splice(0..0, ["--entry".to_string(), signature.name.to_string()]);
        }
        // Foreign functions lie beside the program.
        let foreign = path.with_extension("c");
        if foreign.exists() {
            arguments.splice(0..0, ["--link".to_string(), foreign.display().to_string()]);
        }
        Ok(arguments)
    }

    /// Runs a program without caches. Returns the seconds until it has ended.
    pub fn run(&self, path: &Path, arguments: &[String]) -> Result<f64, String> {
        let kernels = tempfile::tempdir().map_err(|error| error.to_string())?;
        let mut command = Command::new(&self.novac);
        command.args(["run", "--target", "opencl", "-o"]);
        command.arg(kernels.path().join("result.txt"));
        command.arg(path).args(arguments);
        command.env("NOVA_CACHE", "");
        command.env("POCL_CACHE_DIR", kernels.path());
        let begin = Instant::now();
        let result: Output = command
            .output()
            .map_err(|error| format!("{}: {error}", self.novac.display()))?;
        let seconds = begin.elapsed().as_secs_f64();
        match result.status.success() {
            true => Ok(seconds),
            false => Err(String::from_utf8_lossy(&result.stderr).trim().to_string()),
        }
    }
}

/// Returns the small data of an application.
fn of_application(path: &Path, shrink: usize) -> Option<Vec<Value>> {
    let folder = path.parent()?.file_name()?;
    let name = path.file_stem()?;
    let of_name = |application: &&crate::bench::applications::Application| {
        folder == "applications" && name == application.name
    };
    let application = APPLICATIONS.iter().find(of_name)?;
    let size = *application.sizes.first()? / shrink.max(1);
    Some((application.draw)(&mut Random::new(1), size.max(1)))
}

/// Returns the entry and the inputs of the longest test line that gives a value.
fn of_test(path: &Path, checked: &Checked) -> Result<(usize, Vec<Value>), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let folder = path.parent().ok_or("it lies in no folder")?;
    let mut longest = None;
    for line in test_lines(&text) {
        let length = text.lines().nth(line.number - 1).map_or(0, str::len);
        let test = line.read(checked, folder)?;
        let is_longer = longest.as_ref().is_none_or(|(most, _)| length > *most);
        if is_longer && matches!(test.expected, Expected::Value(_)) {
            longest = Some((length, (test.entry, test.inputs)));
        }
    }
    let (_, test) = longest.ok_or("no test line gives a value")?;
    Ok(test)
}
