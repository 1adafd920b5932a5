//! The format of a repository: what it is extended by may change what its files mean, so that who does not
//! know an extension must not write to it (gitrepository-layout(5), `extensions`).

use gix::config::Source;

use super::error::RetentionError;
use super::repository::Repository;

/// Extensions that are known here, or change nothing of what is read and written.
const KNOWN: [&str; 8] = [
    "noop",
    "noop-v1",
    "objectformat",
    "partialclone",
    "preciousobjects",
    "refstorage",
    "relativeworktrees",
    "worktreeconfig",
];

impl Repository {
    /// Refuses a repository with an extension that is not known. Where its format has no version, or 0,
    /// such words mean nothing, as for git.
    pub(super) fn check_format(&self) -> Result<(), RetentionError> {
        let config = self.git.config_snapshot();
        if config.integer("core.repositoryFormatVersion").unwrap_or(0) < 1 {
            return Ok(());
        }
        // What a person set for all repositories extends none, nor does a file that is included.
        let own = config
            .plumbing()
            .sections_by_name_and_filter("extensions", |meta| {
                meta.source == Source::Local && meta.level == 0
            });
        for section in own.into_iter().flatten() {
            let below = section.header().subsection_name();
            let below = below.map_or_else(String::new, |name| format!("{name}."));
            let names = section.value_names();
            let mut names = names.map(|name| format!("{below}{}", name.to_lowercase()));
            if let Some(extension) = names.find(|name| !KNOWN.contains(&name.as_str())) {
                let path = self.path().to_owned();
                return Err(RetentionError::Extension { path, extension });
            }
        }
        Ok(())
    }
}
