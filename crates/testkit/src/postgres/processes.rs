//! The processes of a server, and how all of them are killed.

use std::fs;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long the system may take to end what was killed.
const PATIENCE: Duration = Duration::from_secs(60);

/// Kills a process and those that it has started, as if the machine had lost its power: none of them says another word.
pub(super) fn kill_with_children(process: i32) -> io::Result<()> {
    // It starts no other one any more.
    signal(process, Signal::STOP)?;
    let children = children(process)?;
    for child in &children {
        signal(*child, Signal::KILL)?;
    }
    signal(process, Signal::KILL)?;
    // A server that starts again refuses to, where one of them still has its memory.
    let begun = Instant::now();
    while children.iter().any(|child| lives(*child)) {
        if begun.elapsed() > PATIENCE {
            return Err(io::ErrorKind::TimedOut.into());
        }
        thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}

/// Sends a signal; a process that has ended meanwhile does not need it.
fn signal(process: i32, signal: Signal) -> io::Result<()> {
    let Some(process) = Pid::from_raw(process) else {
        return Ok(());
    };
    match kill_process(process, signal) {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        sent => Ok(sent?),
    }
}

fn children(of: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let process = name.to_str().and_then(|name| name.parse().ok());
        if let Some(process) = process
            && status(process).is_some_and(|(_, parent)| parent == of)
        {
            children.push(process);
        }
    }
    Ok(children)
}

fn lives(process: i32) -> bool {
    status(process).is_some_and(|(state, _)| !matches!(state.as_str(), "Z" | "X"))
}

/// The state and the parent of a process, if it is there.
fn status(process: i32) -> Option<(String, i32)> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of its program is in brackets, and may have any sign in it.
    let (_, behind) = text.rsplit_once(") ")?;
    let mut fields = behind.split(' ');
    let state = fields.next()?.to_owned();
    Some((state, fields.next()?.parse().ok()?))
}
