//! Running the cases under callgrind, as many at a time as there are processors.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use annals_benches::guard::baseline::Counts;
use annals_benches::guard::callgrind::{CountError, Counted, count};
use annals_benches::guard::report::change_percent;

use crate::case::{COUNTED, Case, Way};

/// Counts each case so many times. The smallest count is taken; where there are several, it is
/// said by how much the largest one is more.
pub(crate) fn counts(cases: &[Case], runs: usize) -> Counts {
    let runs = runs.max(1);
    let jobs: Vec<&Case> = (0..runs).flat_map(|_| cases).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(case) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let count = one(case).unwrap_or_else(|error| panic!("{}: {error}", case.name));
                    let mut found = found.lock().expect("no thread panicked");
                    found.entry(case.name).or_insert_with(Vec::new).push(count);
                }
            });
        }
    });
    let found = found.into_inner().expect("no thread panicked");
    let mut counts = Counts::new();
    for (name, mut of_case) in found {
        of_case.sort_unstable();
        let (least, most) = (of_case[0], of_case[of_case.len() - 1]);
        if runs > 1 {
            let spread = change_percent(least, most);
            eprintln!("{name:<24} {runs} runs, {least} to {most}: {spread:.3} %");
        }
        counts.insert(name.to_owned(), least);
    }
    counts
}

fn one(case: &Case) -> Result<u64, CountError> {
    let program = std::env::current_exe()?;
    match case.way {
        Way::Within(_) => {
            let home = tempfile::tempdir()?;
            let arguments = ["case", case.name];
            count(
                &program,
                &arguments,
                home.path(),
                Counted::Function(COUNTED),
            )
        }
        Way::Whole { prepare, more, .. } => {
            let whole = |times: usize| {
                let home = tempfile::tempdir()?;
                let folder = home.path().join("log");
                prepare(&folder);
                whole_process(&program, case.name, home.path(), &folder, times)
            };
            let difference = whole(1 + more)?.saturating_sub(whole(1)?);
            Ok(difference / more as u64)
        }
    }
}

fn whole_process(
    program: &Path,
    name: &str,
    home: &Path,
    folder: &Path,
    times: usize,
) -> Result<u64, CountError> {
    let folder = folder.display().to_string();
    let arguments = ["case", name, &folder, &times.to_string()];
    count(program, &arguments, home, Counted::Process)
}
