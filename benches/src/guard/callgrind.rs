//! Counting the instructions of a program under valgrind's callgrind.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take, also on a busy machine. One that takes longer waits for
/// something that does not come.
const PATIENCE: Duration = Duration::from_secs(600);
/// How often it is looked whether it has ended.
const LOOK: Duration = Duration::from_millis(20);

/// Which instructions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// Those of a function and of what it calls, on its thread. The name is a part of the
    /// symbol's.
    Function(&'static str),
    /// Those of the whole process, on all of its threads.
    Process,
}

/// Why the count failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CountError {
    /// valgrind does not start, or its file cannot be read.
    #[error("valgrind: {0}")]
    Io(#[from] io::Error),
    /// The program failed under valgrind.
    #[error("under valgrind it ended with {status}:\n{said}")]
    Failed {
        /// How it ended.
        status: ExitStatus,
        /// What it, or valgrind, said.
        said: String,
    },
    /// The program did not end.
    #[error("under valgrind it did not end within {} s; does it wait for another thread?", PATIENCE.as_secs())]
    Endless,
    /// The file has no total.
    #[error("callgrind's file has no line \"totals:\"")]
    NoTotal,
    /// Nothing was counted.
    #[error("callgrind counted nothing: no function's name has {0:?} in it")]
    Nothing(&'static str),
}

/// Runs a program with these arguments, and says how many instructions were counted. The
/// folder is for callgrind's file.
///
/// # Errors
/// [`CountError`].
pub fn count<S: AsRef<OsStr>>(
    program: &Path,
    arguments: &[S],
    folder: &Path,
    counted: Counted,
) -> Result<u64, CountError> {
    let (file, said) = (folder.join("callgrind.out"), folder.join("said"));
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--tool=callgrind"]);
    valgrind.arg(format!("--callgrind-out-file={}", file.display()));
    if let Counted::Function(name) = counted {
        valgrind.arg("--collect-atstart=no");
        valgrind.arg(format!("--toggle-collect=*{name}*"));
    }
    valgrind.arg(program).args(arguments);
    // Work that is shared between the threads of a pool is all done by one.
    valgrind.env("RAYON_NUM_THREADS", "1");
    let says = File::create(&said)?;
    valgrind
        .stdin(Stdio::null())
        .stdout(says.try_clone()?)
        .stderr(says);
    let status = ended(&mut valgrind.spawn()?)?;
    if !status.success() {
        let said = std::fs::read_to_string(&said)?;
        return Err(CountError::Failed { status, said });
    }
    let total = total(&std::fs::read_to_string(&file)?).ok_or(CountError::NoTotal)?;
    match counted {
        Counted::Function(name) if total == 0 => Err(CountError::Nothing(name)),
        _ => Ok(total),
    }
}

fn ended(child: &mut Child) -> Result<ExitStatus, CountError> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > PATIENCE {
            child.kill()?;
            child.wait()?;
            return Err(CountError::Endless);
        }
        std::thread::sleep(LOOK);
    }
}

/// The total of a file of callgrind's: the instructions that it collected.
fn total(text: &str) -> Option<u64> {
    let total = text.lines().find_map(|line| line.strip_prefix("totals:"))?;
    total.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_the_first_number_behind_its_word() {
        let text = "# callgrind format\nversion: 1\nevents: Ir\nsummary: 7\n\nfn=(1) main\n12 7\n\ntotals: 365684\n";
        assert_eq!(total(text), Some(365_684));
        assert_eq!(total("totals: 12 34 56\n"), Some(12));
    }

    #[test]
    fn a_file_without_a_total_has_none() {
        for text in [
            "",
            "events: Ir\nsummary: 7\n",
            "totals:\n",
            "totals: many\n",
        ] {
            assert_eq!(total(text), None, "{text:?}");
        }
    }
}
