//! Unmounting after a process that could not: killed, interrupted or aborted.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// Reads a line; where its input ends without one, unmounts.
const SCRIPT: &str = r#"
trap '' INT HUP TERM
read -r _ || umount -l -- "$1" || fusermount3 -uz -- "$1"
"#;

/// A shell that unmounts when this process has ended and did not do it. Without, a
/// test that is interrupted leaves a mount point where every look fails.
#[derive(Debug)]
pub(super) struct Watch(Child);

impl Watch {
    /// `None` where it cannot be started: only tidiness is lost.
    pub(super) fn over(path: &Path) -> Option<Watch> {
        Command::new("sh")
            .args(["-c", SCRIPT, "fault-fs-watch"])
            .arg(path)
            .current_dir("/")
            .process_group(0) // an interrupt at the terminal is not for it
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()
            .map(Watch)
    }

    /// Ends it: nothing is left to unmount.
    pub(super) fn end(mut self) {
        if let Some(mut input) = self.0.stdin.take() {
            let _ = input.write_all(b"unmounted\n");
        }
        let _ = self.0.wait();
    }
}
