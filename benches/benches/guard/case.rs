//! A case: what is counted, and how the counted part is separated from the rest.

use std::hint::black_box;
use std::path::Path;

use rayon::ThreadPoolBuilder;

/// The function that callgrind counts, as its symbol has it.
pub(crate) const COUNTED: &str = "guard_counted_work";

/// One thing that is counted.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    /// Its name in the baseline.
    pub(crate) name: &'static str,
    /// How.
    pub(crate) way: Way,
}

/// How a case is counted.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    /// Within [`counted`], which this function calls once.
    Within(fn()),
    /// As the difference of two processes. One does the work once, which counts for nothing:
    /// with it is done what is done once in a process. The other one does it more often.
    Whole {
        /// Makes ready a folder; not counted.
        prepare: fn(&Path),
        /// Does the work so many times in such a folder.
        work: fn(&Path, usize),
        /// How much more often. Threads that meet differ by some ten thousand instructions
        /// from process to process, so little work has to be done often.
        more: usize,
    },
}

/// Does some work, of which the second time is counted. `input` makes what the work takes,
/// and neither that nor dropping what comes of it counts.
pub(crate) fn counted<I, O>(input: impl Fn() -> I, work: impl Fn(I) -> O) {
    // Tables and patterns that are made once are made here.
    black_box(work(input()));
    let mut given = Some(input());
    let mut done = None;
    guard_counted_work(&mut || done = given.take().map(&work));
    black_box(done);
}

#[inline(never)]
fn guard_counted_work(work: &mut dyn FnMut()) {
    work();
    // So that it is a call and no jump, and the count ends with it.
    black_box(());
}

/// Runs a case in this process: `NAME` or `NAME FOLDER TIMES`.
pub(crate) fn run_here(cases: &[Case], arguments: &[String]) {
    let name = arguments.first().expect("a case's name");
    let case = cases.iter().find(|case| case.name == name);
    match (case.expect("a case of this name").way, arguments) {
        (Way::Within(case), _) => {
            // Work that is shared between threads is all done by this one, and counts.
            let pool = ThreadPoolBuilder::new().num_threads(1).build();
            pool.expect("a thread").install(case);
        }
        (Way::Whole { work, .. }, [_, folder, times]) => {
            work(Path::new(folder), times.parse().expect("a number"));
        }
        (Way::Whole { .. }, _) => panic!("{name} takes a folder and a number"),
    }
}
