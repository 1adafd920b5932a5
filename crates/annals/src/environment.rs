//! The machine that this process runs on.

use annals_domain::Environment;

/// Operating system, architecture and working directory of this process
/// (docs/spec/git-internal.md, Environment). The directory is empty where it is gone.
pub fn environment() -> Environment {
    let cwd = std::env::current_dir().map(|path| path.to_string_lossy().into_owned());
    Environment::new(
        std::env::consts::OS.to_owned(),
        std::env::consts::ARCH.to_owned(),
        cwd.unwrap_or_default(),
    )
}
