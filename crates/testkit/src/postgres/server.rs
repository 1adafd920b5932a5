//! One server: made, run, stopped, killed and run again.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use uuid::Uuid;

use super::error::{ServerError, or_say_not_run};
use super::keeper::{Home, Keeper};
use super::programs::Programs;
use super::setup::{Address, Setup, USER};
use super::{port, processes};

/// A running server. It stops, and its folder goes, when this is dropped or the process ends.
#[derive(Debug)]
pub struct Server {
    pub(super) home: Home,
    setup: Setup,
    password: String,
    port: u16,
    keeper: Option<Keeper>,
}

impl Server {
    /// Starts a server, or says why there is none.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn start(setup: &Setup) -> Result<Server, ServerError> {
        let password = Uuid::new_v4().simple().to_string();
        let mut server = Server::without_data(setup, &password)?;
        server.make()?;
        server.run()?;
        Ok(server)
    }

    /// Starts a server. Where none can be started, a test says so and does not run; with `CI` set it fails.
    pub fn or_say_not_run(setup: &Setup) -> Option<Server> {
        or_say_not_run(Server::start(setup))
    }

    /// A server that has its folder, and no data yet.
    pub(super) fn without_data(setup: &Setup, password: &str) -> Result<Server, ServerError> {
        let network = setup.network.as_ref().map(|it| it.name.as_str());
        let programs = Programs::find(network)?;
        let mut folder = tempfile::Builder::new();
        folder.prefix("annals-postgres-");
        let folder = match &setup.folder {
            Some(place) => folder.tempdir_in(place)?,
            None => folder.tempdir()?,
        };
        let folder = folder.keep();
        programs.give(&folder)?;
        Ok(Server {
            home: Home { folder, programs },
            setup: setup.clone(),
            password: password.to_owned(),
            port: 0,
            keeper: None,
        })
    }

    /// The URL of a database, with the superuser and its password.
    pub fn url(&self, database: &str) -> String {
        let (password, Address { host, port }) = (&self.password, self.address());
        format!("postgres://{USER}:{password}@{host}:{port}/{database}")
    }

    /// Where it listens.
    pub fn address(&self) -> Address {
        let host = match &self.setup.network {
            None => "127.0.0.1".to_owned(),
            Some(network) => network.address.clone(),
        };
        let port = self.port;
        Address { host, port }
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
        self.home.small()
    }

    /// Runs statements with `psql` and gives what they print, a line a row.
    ///
    /// # Errors
    /// [`ServerError::Failed`] with what `psql` said.
    pub fn sql(&self, database: &str, statements: &str) -> Result<String, ServerError> {
        said(self.psql(database).args(["-c", statements]))
    }

    /// `psql` at a database, to be given statements; it stops at the first that fails.
    pub fn psql(&self, database: &str) -> Command {
        let programs = &self.home.programs;
        let mut command = programs.command(&programs.path("psql"));
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
        fs::write(self.home.keep(), "")?;
        self.end_keeper();
        Ok(())
    }

    /// Kills the server with all its processes, as if its machine had lost its power: none of them says another
    /// word to who is connected. Its folder stays.
    ///
    /// # Errors
    /// [`ServerError::Io`].
    pub fn kill(&mut self) -> Result<(), ServerError> {
        if self.keeper.is_some()
            && let Some(process) = self.process()
        {
            processes::kill_with_children(process)?;
        }
        self.stop()
    }

    /// Starts it again.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn restart(&mut self) -> Result<(), ServerError> {
        self.stop()?;
        self.run()
    }

    fn end_keeper(&mut self) {
        if let Some(keeper) = self.keeper.take() {
            keeper.end();
        }
    }

    /// The server's first process, as it writes it down.
    fn process(&self) -> Option<i32> {
        let text = fs::read_to_string(self.home.process()).ok()?;
        text.lines().next()?.trim().parse().ok()
    }

    /// Makes the data folder.
    fn make(&self) -> Result<(), ServerError> {
        let (home, programs) = (&self.home, &self.home.programs);
        let password = home.folder.join("password");
        fs::write(&password, &self.password)?;
        programs.give(&password)?;
        let mut made = programs.as_owner(&programs.path("initdb"));
        made.args(["--username", USER, "--auth", "scram-sha-256"])
            .args(["--encoding", "UTF8", "--locale", "C"])
            .args(["--no-sync", "--no-instructions", "--pgdata"])
            .arg(home.data())
            .arg("--pwfile")
            .arg(&password);
        said(&mut made)?;
        if let Some(text) = &self.setup.hba {
            self.write("pg_hba.conf", text)?;
        }
        for (name, text) in &self.setup.files {
            self.write(name, text)?;
        }
        if self.setup.small.is_some() {
            fs::create_dir(home.small())?;
        }
        Ok(())
    }

    /// Writes a file of the data folder, which only the server's user may read.
    pub(super) fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.home.data().join(name);
        fs::write(&path, text)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        self.home.programs.give(&path)
    }

    /// Starts the server in its folder.
    pub(super) fn run(&mut self) -> Result<(), ServerError> {
        let mut said = String::new();
        for _ in 0..5 {
            // Another process may be faster with a port.
            if self.port == 0 || !said.is_empty() {
                self.port = port::free()?;
            }
            self.keeper = Keeper::start(&self.home, &self.setup, self.port)?;
            if self.keeper.is_some() {
                return Ok(());
            }
            said = fs::read_to_string(self.home.log()).unwrap_or_default();
            said.push('\n');
        }
        Err(ServerError::Failed(said))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.home.keep());
        self.end_keeper();
        // Where it was stopped before, or the folder has a mount point, nobody has removed it.
        let _ = fs::remove_dir_all(&self.home.folder);
    }
}

/// Runs a program, and gives what it prints.
pub(super) fn said(command: &mut Command) -> Result<String, ServerError> {
    let said = command.stdin(Stdio::null()).output()?;
    match said.status.success() {
        true => Ok(String::from_utf8_lossy(&said.stdout).trim().to_owned()),
        false => Err(ServerError::Failed(
            String::from_utf8_lossy(&said.stderr).into_owned(),
        )),
    }
}
