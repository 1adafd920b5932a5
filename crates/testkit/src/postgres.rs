//! A PostgreSQL server of one's own, for the tests of one process: in a temporary folder, on a free port of the
//! loopback interface, and gone with the process, however that ends.
//!
//! It runs the programs of Debian's package `postgresql` (below `/usr/lib/postgresql`), or those in
//! `ANNALS_POSTGRES_BIN`. PostgreSQL refuses to run as root: where the tests do, the server runs as the user
//! `postgres`.
//!
//! ```no_run
//! use annals_testkit::postgres::{Server, Setup};
//!
//! let Some(server) = Server::or_say_not_run(&Setup::default()) else { return };
//! println!("{}", server.url("postgres"));
//! ```

use std::fs;
use std::io::{self, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use uuid::Uuid;

/// The superuser of the server.
pub const USER: &str = "annals";

/// How long the server may take to start.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the server until its own input ends, which it does with the process that started it, and removes the folder.
const KEEPER: &str = r#"
    home=$1; shift
    "$@" >>"$home/log" 2>&1 &
    server=$!
    cat >/dev/null
    kill -QUIT "$server" 2>/dev/null
    wait "$server"
    [ -e "$home/keep" ] || rm -rf "$home"
"#;

/// What a server is started with.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// Settings, such as `("fsync", "on")`. Without any, nothing is synced and 300 connections are taken.
    pub settings: Vec<(String, String)>,
    /// Files in the data folder, such as `server.key`; only the server's user may read them.
    pub files: Vec<(String, String)>,
    /// `pg_hba.conf`; without it passwords are asked for by SCRAM.
    pub hba: Option<String>,
    /// Bytes of a file system for [`Server::small`], which takes root.
    pub small: Option<u64>,
}

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// Its programs are not installed, or there is no user to run them as.
    #[error("no PostgreSQL server can be started here: {0}; install Debian's package postgresql")]
    NotInstalled(String),
    /// It did not start.
    #[error("the PostgreSQL server did not start: {0}")]
    Failed(String),
    /// The operating system refused something.
    #[error("the PostgreSQL server cannot be started: {0}")]
    Io(#[from] io::Error),
}

/// The user that the server runs as, where the tests run as root.
#[derive(Debug, Clone, Copy)]
struct Owner {
    user: u32,
    group: u32,
}

/// A running server. It stops, and its folder goes, when this is dropped or the process ends.
#[derive(Debug)]
pub struct Server {
    home: PathBuf,
    bin: PathBuf,
    owner: Option<Owner>,
    setup: Setup,
    password: String,
    port: u16,
    keeper: Option<Child>,
}

impl Server {
    /// Starts a server, or says why there is none.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(setup: &Setup) -> Result<Server, ServerError> {
        let bin = programs()?;
        let owner = owner()?;
        let home = tempfile::Builder::new()
            .prefix("annals-postgres-")
            .tempdir()?
            .keep();
        let mut server = Server {
            home,
            bin,
            owner,
            setup: setup.clone(),
            password: Uuid::new_v4().simple().to_string(),
            port: 0,
            keeper: None,
        };
        server.make()?;
        server.run()?;
        Ok(server)
    }

    /// Starts a server. Where none can be started, a test says so and does not run; with `CI` set it fails.
    pub fn or_say_not_run(setup: &Setup) -> Option<Server> {
        match Server::start(setup) {
            Ok(server) => Some(server),
            Err(error) => {
                say_not_run(&error);
                None
            }
        }
    }

    /// The URL of a database, with the superuser and its password.
    pub fn url(&self, database: &str) -> String {
        let (password, port) = (&self.password, self.port);
        format!("postgres://{USER}:{password}@127.0.0.1:{port}/{database}")
    }

    /// The port that it listens on. It is another one after a restart only if it was taken meanwhile.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The superuser's password.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A folder on a file system of few bytes ([`Setup::small`]), for a table space.
    pub fn small(&self) -> PathBuf {
        self.home.join("small")
    }

    /// Runs statements with `psql` and gives what they print, a line a row.
    ///
    /// # Errors
    /// [`ServerError::Failed`] with what `psql` said.
    pub fn sql(&self, database: &str, statements: &str) -> Result<String, ServerError> {
        let said = self
            .psql(database)
            .args(["-c", statements])
            .stdin(Stdio::null())
            .output()?;
        match said.status.success() {
            true => Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned()),
            false => Err(ServerError::Failed(
                String::from_utf8_lossy(&said.stderr).into_owned(),
            )),
        }
    }

    /// `psql` at a database, to be given statements; it stops at the first that fails.
    pub fn psql(&self, database: &str) -> Command {
        let mut command = Command::new(self.bin.join("psql"));
        command
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"])
            .arg(self.url(database));
        command
    }

    /// Stops the server at once, as if it had crashed. Its folder stays.
    ///
    /// # Errors
    /// [`ServerError::Io`].
    pub fn stop(&mut self) -> Result<(), ServerError> {
        fs::write(self.home.join("keep"), "")?;
        self.end_keeper();
        Ok(())
    }

    /// Starts it again.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.end_keeper();
        self.run()
    }

    fn end_keeper(&mut self) {
        if let Some(mut keeper) = self.keeper.take() {
            drop(keeper.stdin.take());
            let _ = keeper.wait();
        }
    }

    /// Makes the data folder.
    fn make(&self) -> Result<(), ServerError> {
        let password = self.home.join("password");
        fs::write(&password, &self.password)?;
        for path in [&self.home, &password] {
            self.give(path)?;
        }
        let data = self.data();
        let made = self
            .as_owner(&self.bin.join("initdb"))
            .args([
                "--username",
                USER,
                "--auth",
                "scram-sha-256",
                "--encoding",
                "UTF8",
            ])
            .args([
                "--locale",
                "C",
                "--no-sync",
                "--no-instructions",
                "--pgdata",
            ])
            .arg(&data)
            .arg("--pwfile")
            .arg(&password)
            .stdin(Stdio::null())
            .output()?;
        if !made.status.success() {
            let said = String::from_utf8_lossy(&made.stderr).into_owned();
            return Err(ServerError::Failed(said));
        }
        let hba = self.setup.hba.iter().map(|text| ("pg_hba.conf", text));
        let files = self
            .setup
            .files
            .iter()
            .map(|(name, text)| (name.as_str(), text));
        for (name, text) in files.chain(hba) {
            let path = data.join(name);
            fs::write(&path, text)?;
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
            self.give(&path)?;
        }
        if self.setup.small.is_some() {
            fs::create_dir(self.small())?;
        }
        Ok(())
    }

    fn data(&self) -> PathBuf {
        self.home.join("data")
    }

    fn give(&self, path: &Path) -> io::Result<()> {
        match self.owner {
            Some(owner) => chown(path, Some(owner.user), Some(owner.group)),
            None => Ok(()),
        }
    }

    /// A program that runs as the server's user.
    fn as_owner(&self, program: &Path) -> Command {
        let mut command = match self.owner {
            None => Command::new(program),
            Some(owner) => {
                let mut command = Command::new("setpriv");
                command
                    .arg(format!("--reuid={}", owner.user))
                    .arg(format!("--regid={}", owner.group))
                    .args(["--clear-groups", "--"])
                    .arg(program);
                command
            }
        };
        // The server's user may not look at where the tests run.
        command
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C");
        command
    }

    /// Starts the server in its folder.
    fn run(&mut self) -> Result<(), ServerError> {
        let mut said = String::new();
        for _ in 0..5 {
            if self.port == 0 || !said.is_empty() {
                self.port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
            }
            let _ = fs::remove_file(self.home.join("keep"));
            let _ = fs::remove_file(self.data().join("postmaster.pid"));
            let mut keeper = self.keeper()?.spawn()?;
            match self.is_ready(&mut keeper)? {
                true => {
                    self.keeper = Some(keeper);
                    return Ok(());
                }
                // Another process was faster with the port.
                false => {
                    fs::write(self.home.join("keep"), "")?;
                    drop(keeper.stdin.take());
                    let _ = keeper.wait();
                    said = fs::read_to_string(self.home.join("log")).unwrap_or_default();
                    said.push('\n');
                }
            }
        }
        Err(ServerError::Failed(said))
    }

    fn keeper(&self) -> io::Result<Command> {
        let mut command = match self.setup.small {
            None => self.as_owner(Path::new("/bin/sh")),
            Some(bytes) => self.with_small(bytes)?,
        };
        command.args(["-c", KEEPER, "keeper"]).arg(&self.home);
        command
            .arg(self.bin.join("postgres"))
            .arg("-D")
            .arg(self.data());
        let port = self.port.to_string();
        let usual = [
            ("listen_addresses", "127.0.0.1"),
            ("port", port.as_str()),
            ("unix_socket_directories", ""),
            ("max_connections", "300"),
            ("shared_buffers", "64MB"),
            ("fsync", "off"),
        ];
        let own = self
            .setup
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
    fn with_small(&self, bytes: u64) -> io::Result<Command> {
        let Some(owner) = self.owner else {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                "a small file system takes root",
            ));
        };
        let mount = "mount -t tmpfs -o size=$1,uid=$2,gid=$3,mode=0700 tmpfs \"$4\" && shift 4 && exec \"$@\"";
        let mut command = Command::new("unshare");
        command.args(["--mount", "/bin/sh", "-c", mount, "mount"]);
        command
            .arg(bytes.to_string())
            .arg(owner.user.to_string())
            .arg(owner.group.to_string());
        command.arg(self.small());
        command.arg("setpriv");
        command
            .arg(format!("--reuid={}", owner.user))
            .arg(format!("--regid={}", owner.group));
        command.args(["--clear-groups", "--", "/bin/sh"]);
        command
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("LC_ALL", "C");
        Ok(command)
    }

    /// Whether the server takes connections; `false` where it ended.
    fn is_ready(&self, keeper: &mut Child) -> io::Result<bool> {
        let begun = Instant::now();
        let file = self.data().join("postmaster.pid");
        let process = |text: &str| text.lines().next().map(|id| format!("/proc/{id}"));
        while begun.elapsed() < PATIENCE {
            let text = fs::read_to_string(&file).unwrap_or_default();
            // Its eighth line says how far it is.
            if text
                .lines()
                .nth(7)
                .is_some_and(|state| state.trim() == "ready")
            {
                return Ok(true);
            }
            let is_gone = process(&text).is_some_and(|it| !Path::new(&it).exists());
            let log = fs::read_to_string(self.home.join("log")).unwrap_or_default();
            let has_ended = text.is_empty()
                && log.contains("FATAL")
                && begun.elapsed() > Duration::from_secs(1);
            if is_gone || has_ended || keeper.try_wait()?.is_some() {
                return Ok(false);
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(false)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.home.join("keep"));
        self.end_keeper();
        // Where it was stopped before, or the folder has a mount point, nobody has removed it.
        let _ = fs::remove_dir_all(&self.home);
    }
}

/// The folder of the server's programs: the newest.
fn programs() -> Result<PathBuf, ServerError> {
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

/// Says that a test did not run, or fails it where it had to.
#[expect(
    clippy::panic,
    reason = "a test that cannot run has to fail, and this is called in tests only"
)]
fn say_not_run(error: &ServerError) {
    let machine_lacks_it = matches!(error, ServerError::NotInstalled(_));
    if !machine_lacks_it || std::env::var_os("CI").is_some() {
        panic!("{error}");
    }
    let thread = thread::current();
    let test = thread.name().unwrap_or("a test");
    // Not `eprintln`: the harness shows what that prints only of tests that fail.
    let _ = writeln!(io::stderr(), "NOT RUN: {test}: {error}");
}
