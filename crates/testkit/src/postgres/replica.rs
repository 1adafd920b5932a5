//! A server that has a copy of another one and follows it, until it takes its place.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::error::ServerError;
use super::server::{Server, said};
use super::setup::{Address, USER};

/// How long a server may take to do what it was told.
const PATIENCE: Duration = Duration::from_secs(60);

/// How far a server has come that follows another one: what it has received, or what it has replayed, as it says nothing of
/// the first where it has received nothing since it was started.
const RECEIVED: &str = "SELECT pg_wal_lsn_diff(greatest(coalesce(pg_last_wal_receive_lsn(), '0/0'),
    coalesce(pg_last_wal_replay_lsn(), '0/0')), '0/0')::bigint";

/// Standbys that are waited for and follow.
const FOLLOWERS: &str =
    "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming' AND sync_state = 'quorum'";

/// How a server called `name` finds the one that it follows.
pub(super) fn way(to: &Address, password: &str, name: &str) -> String {
    let Address { host, port } = to;
    format!("host={host} port={port} user={USER} password={password} application_name={name}")
}

impl Server {
    /// Fills the data folder with a copy of what a server has, which this one follows by a [`way`] when it is run.
    pub(super) fn copy(&self, from: &Address, way: &str) -> Result<(), ServerError> {
        let (data, programs) = (self.home.data(), &self.home.programs);
        // The folder stays: by it the server finds what a killed one has left in memory.
        empty(&data)?;
        let mut copied = programs.as_owner(&programs.path("pg_basebackup"));
        copied
            .arg("--host")
            .arg(&from.host)
            .arg("--port")
            .arg(from.port.to_string())
            .args(["--username", USER, "--no-password"])
            .args(["--checkpoint", "fast", "--wal-method", "stream"])
            .arg("--no-sync")
            .arg("--pgdata")
            .arg(&data)
            .env("PGPASSWORD", self.password());
        said(&mut copied)?;
        self.write("standby.signal", "")?;
        // The last of several counts.
        let settings = data.join("postgresql.auto.conf");
        let mut settings = fs::OpenOptions::new().append(true).open(settings)?;
        writeln!(settings, "primary_conninfo = '{way}'")?;
        Ok(())
    }

    /// Lets it follow the server at the other end of a [`way`], or none.
    pub(super) fn follow(&self, way: Option<&str>) -> Result<(), ServerError> {
        let way = way.unwrap_or_default();
        let set = format!("ALTER SYSTEM SET primary_conninfo = '{way}'");
        self.sql("postgres", &set)?;
        self.sql("postgres", "SELECT pg_reload_conf()")?;
        if way.is_empty() {
            self.wait_for("SELECT count(*) FROM pg_stat_wal_receiver", "0")?;
        }
        Ok(())
    }

    /// How many bytes of its log it has received.
    pub(super) fn received(&self) -> Result<u64, ServerError> {
        let received = self.sql("postgres", RECEIVED)?;
        let not_said = |_| ServerError::Failed(format!("{received:?} is no place in a log"));
        received.parse().map_err(not_said)
    }

    /// Makes it a primary.
    pub(super) fn promote(&self) -> Result<(), ServerError> {
        let seconds = PATIENCE.as_secs();
        let promoted = self.sql("postgres", &format!("SELECT pg_promote(true, {seconds})"))?;
        match promoted.as_str() {
            "t" => Ok(()),
            _ => Err(ServerError::Failed("it was not promoted".to_owned())),
        }
    }

    /// Waits until so many standbys follow it, each of which it waits for.
    pub(super) fn await_followers(&self, count: usize) -> Result<(), ServerError> {
        self.wait_for(FOLLOWERS, &count.to_string())
    }

    fn wait_for(&self, question: &str, answer: &str) -> Result<(), ServerError> {
        let begun = Instant::now();
        loop {
            let said = self.sql("postgres", question)?;
            if said == answer {
                return Ok(());
            }
            if begun.elapsed() > PATIENCE {
                let failed = format!("{question} gives {said:?}, and not {answer:?}");
                return Err(ServerError::Failed(failed));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Removes what is in a folder, if that is there.
fn empty(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        match entry.file_type()?.is_dir() {
            true => fs::remove_dir_all(entry.path())?,
            false => fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}
