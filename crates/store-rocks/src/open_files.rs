//! How many files the process may have open.

use std::sync::OnceLock;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of open files to the hard one, once, and returns how many files may be open then.
///
/// A reader holds each table open, and the usual soft limit (1,024) is for programs that call `select`.
pub fn raise_open_files() -> usize {
    static FILES: OnceLock<usize> = OnceLock::new();
    *FILES.get_or_init(|| {
        let limit = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: limit.maximum,
            ..limit
        };
        let current = match setrlimit(Resource::Nofile, raised) {
            Ok(()) => limit.maximum,
            Err(_) => limit.current,
        };
        current.map_or(usize::MAX, |files| {
            usize::try_from(files).unwrap_or(usize::MAX)
        })
    })
}
