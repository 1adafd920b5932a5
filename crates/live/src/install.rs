//! Putting our hooks into an agent's own configuration, and taking them out again.
//!
//! The rest of the file stays as it is, with its comments and its formatting. The file as it was is kept beside, and
//! where nothing else has changed since, it is put back byte for byte.

mod difference;
mod json;
mod toml;

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use annals::event_log::{Classification, Classified, ErrorClass};

use crate::hook::HookAgent;

/// What the copy of a configuration is called, behind its name.
const COPY: &str = ".before-annals";

/// The largest configuration that is read.
const LARGEST: u64 = 4 * 1024 * 1024;

/// Why a configuration was not changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// There is no folder that is the user's own.
    #[error("the home folder is not known; set HOME, or use --project")]
    NoHome,
    /// The file cannot be understood.
    #[error("{path} is not changed: {reason}", path = .path.display())]
    NotUnderstood {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file was changed meanwhile.
    #[error("{path} has been changed meanwhile, and is left as it is; repeat the command", path = .path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("cannot read or write {path}: {source}", path = .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What failed.
        #[source]
        source: io::Error,
    },
}

impl Classified for InstallError {
    fn classify(&self) -> Classification {
        match self {
            InstallError::NoHome => ErrorClass::Invalid.code("no_home"),
            InstallError::NotUnderstood { .. } => ErrorClass::Refused.code("config_not_understood"),
            InstallError::Changed { .. } => ErrorClass::Refused.code("config_changed"),
            InstallError::Io { .. } => ErrorClass::Failed.code("config"),
        }
    }
}

/// Whose configuration is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The user's own, for all projects.
    User,
    /// That of the project in the current folder.
    Project,
}

/// Where an agent's configuration is.
///
/// # Errors
/// [`InstallError::NoHome`].
pub fn place(agent: HookAgent, scope: Scope) -> Result<PathBuf, InstallError> {
    let (folder, variable, file) = match agent {
        HookAgent::Claude => (".claude", Some("CLAUDE_CONFIG_DIR"), "settings.json"),
        HookAgent::Codex => (".codex", Some("CODEX_HOME"), "config.toml"),
        HookAgent::Cursor => (".cursor", None, "hooks.json"),
        HookAgent::Gemini => (".gemini", None, "settings.json"),
    };
    if scope == Scope::Project {
        return Ok(Path::new(folder).join(file));
    }
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(own) = variable.and_then(set) {
        return Ok(Path::new(&own).join(file));
    }
    let home = set("HOME").ok_or(InstallError::NoHome)?;
    Ok(Path::new(&home).join(folder).join(file))
}

/// A change of a file, which is not made yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// The file.
    pub path: PathBuf,
    /// What it is now; nothing, where it is not there.
    pub before: Option<String>,
    /// What it will be; nothing, where it goes.
    pub after: Option<String>,
    /// Whether what it is now is kept beside.
    keeps_copy: bool,
    /// Whether what it is now has hooks of ours: then what it was before them is what is kept, if anything is.
    has_hooks: bool,
}

impl Change {
    /// Whether it changes nothing.
    pub fn is_nothing(&self) -> bool {
        self.before == self.after
    }

    /// The lines that go and come, with three lines around them.
    pub fn difference(&self) -> String {
        let [before, after] = [&self.before, &self.after].map(|it| it.as_deref().unwrap_or(""));
        difference::between(before, after)
    }

    /// Where the file as it is now is kept.
    pub fn copy(&self) -> PathBuf {
        copy_of(&self.path)
    }

    /// Makes the change.
    ///
    /// # Errors
    /// [`InstallError`]; then the file is as it was.
    pub fn apply(&self) -> Result<(), InstallError> {
        if self.is_nothing() {
            return Ok(());
        }
        if read(&self.path)? != self.before {
            return Err(InstallError::Changed {
                path: self.path.clone(),
            });
        }
        let applied = self.write();
        applied.map_err(|source| InstallError::Io {
            path: self.path.clone(),
            source,
        })
    }

    fn write(&self) -> io::Result<()> {
        let copy = self.copy();
        if let (true, Some(before)) = (self.keeps_copy, &self.before)
            && !self.has_hooks
            && !copy.try_exists()?
        {
            write_whole(&copy, before, &self.path)?;
        }
        match &self.after {
            Some(after) => {
                if let Some(folder) = self.path.parent() {
                    annals_files::make_own_folders(folder)?;
                }
                // A link stays one, and what it leads to is written.
                let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
                write_whole(&real, after, &real)?;
            }
            None => fs::remove_file(&self.path)?,
        }
        if !self.keeps_copy && copy.try_exists()? {
            fs::remove_file(&copy)?;
        }
        Ok(())
    }
}

/// Puts our hooks into a configuration, each with this command; what we put there before is replaced.
///
/// # Errors
/// [`InstallError`].
pub fn install(agent: HookAgent, path: &Path, command: &str) -> Result<Change, InstallError> {
    let before = read(path)?;
    let (after, has_hooks) = match &before {
        None => (with_hooks(agent, path, None, command)?, false),
        // Where they are there already as they are to be, nothing moves.
        Some(text) if is_complete(agent, path, text, command)? => (text.clone(), true),
        Some(text) => {
            // Other hooks of ours come in the place of those that are there, so that all of them can be taken back.
            let own = without_hooks(agent, path, text)?;
            let after = with_hooks(agent, path, own.as_deref(), command)?;
            (after, !commands(agent, path, text)?.is_empty())
        }
    };
    Ok(Change {
        path: path.to_owned(),
        has_hooks,
        before,
        after: Some(after),
        keeps_copy: true,
    })
}

/// Takes our hooks out of a configuration. What it was before is put back, where nothing else has changed.
///
/// # Errors
/// [`InstallError`].
pub fn uninstall(agent: HookAgent, path: &Path) -> Result<Change, InstallError> {
    let before = read(path)?;
    let nothing = Change {
        path: path.to_owned(),
        after: before.clone(),
        before: before.clone(),
        keeps_copy: false,
        has_hooks: true,
    };
    let Some(text) = &before else {
        return Ok(nothing);
    };
    if commands(agent, path, text)?.is_empty() {
        return Ok(nothing);
    }
    let after = without_hooks(agent, path, text)?;
    Ok(Change { after, ..nothing })
}

/// The commands of our hooks in a configuration, each once.
///
/// # Errors
/// [`InstallError`].
pub fn installed(agent: HookAgent, path: &Path) -> Result<Vec<String>, InstallError> {
    match read(path)? {
        Some(text) => commands(agent, path, &text),
        None => Ok(Vec::new()),
    }
}

/// Whether a command runs our hook for an agent: a program of our name, or of any other that was installed as ours.
fn is_ours(agent: HookAgent, command: &str) -> bool {
    let words = words(command);
    let hook = words
        .windows(2)
        .position(|pair| pair == ["hook", agent.key()]);
    let Some(before) = hook.and_then(|hook| words.get(..hook)) else {
        return false;
    };
    let is_as_installed = matches!(before, [_, option, _] if option == "--log");
    let is_program = |word: &String| word.rsplit('/').next() == Some("annals");
    // A log may be called so, too.
    let is_log = |place: usize| place.checked_sub(1).and_then(|at| before.get(at));
    let mut places = before.iter().enumerate();
    is_as_installed
        || places.any(|(place, word)| {
            is_program(word) && is_log(place).is_none_or(|option| option != "--log")
        })
}

/// The words of a command, as a shell takes them apart. A quote that does not end takes the rest.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(open), c) if c == open => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// A configuration with our hooks, which it does not have.
fn with_hooks(
    agent: HookAgent,
    path: &Path,
    text: Option<&str>,
    command: &str,
) -> Result<String, InstallError> {
    let changed = match agent {
        HookAgent::Codex => toml::with_hooks(text, agent, command),
        _ => json::with_hooks(text, agent, command),
    };
    changed.map_err(|reason| not_understood(path, reason))
}

/// A configuration without our hooks: as it was before them, where nothing else has changed since.
fn without_hooks(
    agent: HookAgent,
    path: &Path,
    text: &str,
) -> Result<Option<String>, InstallError> {
    let Some(command) = commands(agent, path, text)?.into_iter().next() else {
        return Ok(Some(text.to_owned()));
    };
    let copy = read(&copy_of(path))?;
    let made = with_hooks(agent, path, copy.as_deref(), &command);
    if made.is_ok_and(|made| made == text) {
        return Ok(copy);
    }
    let without = match agent {
        HookAgent::Codex => toml::without_hooks(text, agent),
        _ => json::without_hooks(text, agent),
    };
    let without = without.map_err(|reason| not_understood(path, reason))?;
    Ok(Some(without))
}

/// Whether a configuration has each of our hooks with this command, and none with another one.
fn is_complete(
    agent: HookAgent,
    path: &Path,
    text: &str,
    command: &str,
) -> Result<bool, InstallError> {
    let found = match agent {
        HookAgent::Codex => toml::hooks(text, agent),
        _ => json::hooks(text, agent),
    };
    let mut found = found.map_err(|reason| not_understood(path, reason))?;
    let wanted = agent
        .events()
        .map(|event| (event.to_owned(), command.to_owned()));
    let mut wanted: Vec<(String, String)> = wanted.collect();
    wanted.sort();
    found.sort();
    Ok(wanted == found)
}

fn commands(agent: HookAgent, path: &Path, text: &str) -> Result<Vec<String>, InstallError> {
    let found = match agent {
        HookAgent::Codex => toml::hooks(text, agent),
        _ => json::hooks(text, agent),
    };
    let found = found.map_err(|reason| not_understood(path, reason))?;
    let mut commands: Vec<String> = found.into_iter().map(|(_, command)| command).collect();
    commands.sort();
    commands.dedup();
    Ok(commands)
}

fn not_understood(path: &Path, reason: String) -> InstallError {
    InstallError::NotUnderstood {
        path: path.to_owned(),
        reason,
    }
}

fn copy_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(COPY);
    name.into()
}

fn read(path: &Path) -> Result<Option<String>, InstallError> {
    let failed = |source| InstallError::Io {
        path: path.to_owned(),
        source,
    };
    let file = match annals_files::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut text = String::new();
    let mut limited = io::Read::take(file, LARGEST + 1);
    io::Read::read_to_string(&mut limited, &mut text).map_err(failed)?;
    match text.len() as u64 > LARGEST {
        true => Err(not_understood(
            path,
            format!("it has more than {LARGEST} bytes"),
        )),
        false => Ok(Some(text)),
    }
}

/// Writes a file beside its place and moves it there once it is on disk, as open as `like` is.
fn write_whole(path: &Path, text: &str, like: &Path) -> io::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let mut part = tempfile::NamedTempFile::new_in(folder)?;
    part.write_all(text.as_bytes())?;
    let mode: Permissions = match fs::metadata(like) {
        Ok(found) => found.permissions(),
        Err(_) => std::os::unix::fs::PermissionsExt::from_mode(0o600),
    };
    part.as_file().set_permissions(mode)?;
    part.as_file().sync_all()?;
    part.persist(path).map_err(|error| error.error)?;
    File::open(folder)?.sync_all()
}

#[cfg(test)]
mod tests;
