//! Writes the seeds of a target into a folder, for libFuzzer: `fuzz-seeds TARGET FOLDER`. Without
//! arguments it lists the targets.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> io::Result<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let (Some(name), Some(folder)) = (arguments.next(), arguments.next()) else {
        for target in annals_fuzzing::TARGETS {
            writeln!(io::stdout(), "{}", target.name)?;
        }
        return Ok(ExitCode::SUCCESS);
    };
    let Some(target) = annals_fuzzing::by_name(&name.to_string_lossy()) else {
        writeln!(io::stderr(), "there is no target {name:?}")?;
        return Ok(ExitCode::FAILURE);
    };
    let folder = PathBuf::from(folder);
    fs::create_dir_all(&folder)?;
    for (number, seed) in (target.seeds)().into_iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), seed)?;
    }
    Ok(ExitCode::SUCCESS)
}
