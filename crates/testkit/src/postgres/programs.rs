//! PostgreSQL's programs on this machine, and the user and the network that they run in.

use std::fs;
use std::io;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::ServerError;

/// The user that servers run as, where the tests run as root.
#[derive(Debug, Clone, Copy)]
pub(super) struct Owner {
    pub(super) user: u32,
    pub(super) group: u32,
}

/// Where the programs are, and how they are run.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    bin: PathBuf,
    pub(super) owner: Option<Owner>,
    /// The name of a network name space, as `ip netns` has it.
    network: Option<String>,
}

impl Programs {
    /// The newest that are installed.
    pub(super) fn find(network: Option<&str>) -> Result<Programs, ServerError> {
        Ok(Programs {
            bin: folder()?,
            owner: owner()?,
            network: network.map(str::to_owned),
        })
    }

    /// Where a program of PostgreSQL's is.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.bin.join(name)
    }

    /// Makes the servers' user the owner of a file.
    pub(super) fn give(&self, path: &Path) -> io::Result<()> {
        match self.owner {
            Some(owner) => chown(path, Some(owner.user), Some(owner.group)),
            None => Ok(()),
        }
    }

    /// A program that runs as this process does, in the servers' network.
    pub(super) fn command(&self, program: &Path) -> Command {
        match &self.network {
            None => Command::new(program),
            Some(network) => {
                let mut command = Command::new("nsenter");
                command
                    .arg(format!("--net=/run/netns/{network}"))
                    .arg("--")
                    .arg(program);
                command
            }
        }
    }

    /// A program that runs as the servers' user, in their network.
    pub(super) fn as_owner(&self, program: &Path) -> Command {
        let mut command = match self.owner {
            None => self.command(program),
            Some(owner) => {
                let mut command = self.command(Path::new("setpriv"));
                command
                    .arg(format!("--reuid={}", owner.user))
                    .arg(format!("--regid={}", owner.group))
                    .args(["--clear-groups", "--"])
                    .arg(program);
                command
            }
        };
        alone(&mut command);
        command
    }
}

/// Lets a program see nothing of where the tests run, where the servers' user may not look.
pub(super) fn alone(command: &mut Command) {
    command
        .current_dir("/")
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("LC_ALL", "C");
}

/// The folder of the programs: the newest.
fn folder() -> Result<PathBuf, ServerError> {
    if let Some(folder) = std::env::var_os("ANNALS_POSTGRES_BIN") {
        return Ok(PathBuf::from(folder));
    }
    let folder = Path::new("/usr/lib/postgresql");
    let versions = fs::read_dir(folder)
        .map_err(|error| ServerError::NotInstalled(format!("{}: {error}", folder.display())))?;
    let versions = versions.filter_map(|entry| {
        let path = entry.ok()?.path();
        let version: u32 = path.file_name()?.to_str()?.parse().ok()?;
        let bin = path.join("bin");
        bin.join("initdb").exists().then_some((version, bin))
    });
    let newest = versions.max().map(|(_, bin)| bin);
    newest.ok_or_else(|| ServerError::NotInstalled(format!("{} has no server", folder.display())))
}

fn owner() -> Result<Option<Owner>, ServerError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(None);
    }
    let users = fs::read_to_string("/etc/passwd")?;
    let found = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next()? == "postgres").then_some(())?;
        let user = fields.nth(1)?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        Some(Owner { user, group })
    });
    let missing = || ServerError::NotInstalled("there is no user postgres to run it as".to_owned());
    found.map(Some).ok_or_else(missing)
}
