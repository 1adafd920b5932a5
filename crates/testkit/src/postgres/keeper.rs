//! The process that runs a server for as long as the tests' process lives: whatever ends that one ends both.

use std::fs;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::programs::{Programs, alone};
use super::setup::Setup;

/// How long the server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the server until its own input ends, which it does with the process that started it, and removes the folder.
const SCRIPT: &str = r#"
    home=$1; shift
    "$@" >>"$home/log" 2>&1 &
    server=$!
    cat >/dev/null
    kill -QUIT "$server" 2>/dev/null
    wait "$server"
    [ -e "$home/keep" ] || rm -rf "$home"
"#;

/// One of them, and the server that it runs.
#[derive(Debug)]
pub(super) struct Keeper(Child);

impl Keeper {
    /// Starts a server in its folder, and waits until it takes connections; nothing where it ended instead.
    pub(super) fn start(home: &Home, setup: &Setup, port: u16) -> io::Result<Option<Keeper>> {
        let _ = fs::remove_file(home.keep());
        let _ = fs::remove_file(home.process());
        // What it said before it was stopped tells nothing of how it starts.
        let _ = fs::rename(home.log(), home.folder.join("log.before"));
        let mut keeper = Keeper(command(home, setup, port)?.spawn()?);
        match keeper.is_ready(home)? {
            true => Ok(Some(keeper)),
            false => {
                fs::write(home.keep(), "")?;
                keeper.end();
                Ok(None)
            }
        }
    }

    /// Ends the server at once, as if it had crashed. Its folder goes, unless it is to be kept.
    pub(super) fn end(mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }

    /// Whether the server takes connections; `false` where it ended.
    fn is_ready(&mut self, home: &Home) -> io::Result<bool> {
        let begun = Instant::now();
        let process = |text: &str| text.lines().next().map(|id| format!("/proc/{id}"));
        while begun.elapsed() < PATIENCE {
            let text = fs::read_to_string(home.process()).unwrap_or_default();
            // Its eighth line says how far it is.
            if text
                .lines()
                .nth(7)
                .is_some_and(|state| state.trim() == "ready")
            {
                return Ok(true);
            }
            let is_gone = process(&text).is_some_and(|it| !Path::new(&it).exists());
            let log = fs::read_to_string(home.log()).unwrap_or_default();
            let has_ended = text.is_empty()
                && log.contains("FATAL")
                && begun.elapsed() > Duration::from_secs(1);
            if is_gone || has_ended || self.0.try_wait()?.is_some() {
                return Ok(false);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(false)
    }
}

/// A server's folder, and the programs that work in it.
#[derive(Debug)]
pub(super) struct Home {
    pub(super) folder: PathBuf,
    pub(super) programs: Programs,
}

impl Home {
    pub(super) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// A file system of few bytes, where there is to be one.
    pub(super) fn small(&self) -> PathBuf {
        self.folder.join("small")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// While it is there, the folder stays when the server ends.
    pub(super) fn keep(&self) -> PathBuf {
        self.folder.join("keep")
    }

    /// Where the server writes down its first process.
    pub(super) fn process(&self) -> PathBuf {
        self.data().join("postmaster.pid")
    }
}

fn command(home: &Home, setup: &Setup, port: u16) -> io::Result<Command> {
    let mut command = match setup.small {
        None => home.programs.as_owner(Path::new("/bin/sh")),
        Some(bytes) => with_small(home, bytes)?,
    };
    command.args(["-c", SCRIPT, "keeper"]).arg(&home.folder);
    command
        .arg(home.programs.path("postgres"))
        .arg("-D")
        .arg(home.data());
    // In a network of its own it is for whoever is there.
    let listens = setup.network.as_ref().map_or("127.0.0.1", |_| "*");
    let port = port.to_string();
    let usual = [
        ("listen_addresses", listens),
        ("port", port.as_str()),
        ("unix_socket_directories", ""),
        ("max_connections", "300"),
        ("shared_buffers", "64MB"),
        ("fsync", "off"),
    ];
    let own = setup
        .settings
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    for (name, value) in usual.into_iter().chain(own) {
        command.arg("-c").arg(format!("{name}={value}"));
    }
    // What is typed to end the tests is not for the server, which ends with them.
    command.process_group(0).stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    Ok(command)
}

/// A shell as the server's user, in a name space of its own with a small file system in it.
fn with_small(home: &Home, bytes: u64) -> io::Result<Command> {
    let Some(owner) = home.programs.owner else {
        return Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            "a small file system takes root",
        ));
    };
    let mount =
        "mount -t tmpfs -o size=$1,uid=$2,gid=$3,mode=0700 tmpfs \"$4\" && shift 4 && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "/bin/sh", "-c", mount, "mount"]);
    command
        .arg(bytes.to_string())
        .arg(owner.user.to_string())
        .arg(owner.group.to_string());
    command.arg(home.small());
    command.arg("setpriv");
    command
        .arg(format!("--reuid={}", owner.user))
        .arg(format!("--regid={}", owner.group));
    command.args(["--clear-groups", "--", "/bin/sh"]);
    alone(&mut command);
    Ok(command)
}
