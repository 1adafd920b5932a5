//! Who the user is, as configured for git: by the environment, or in their own configuration. That of
//! a repository may be another person's, and is not looked at.

use std::ffi::OsString;
use std::path::PathBuf;

use gix::bstr::ByteSlice;
use gix::config::file::{Metadata, includes, init};
use gix::config::{File, Source};
use gix::sec::Trust;

/// An actor's id has at most so many bytes.
const LONGEST: usize = 1_024;

/// The user's name, or else their address, from `GIT_AUTHOR_NAME`, `GIT_AUTHOR_EMAIL` and the
/// user's own `user.name` and `user.email`; nothing, where git knows neither. `env` has the
/// variables of the environment.
pub fn person(env: &mut dyn FnMut(&str) -> Option<OsString>) -> Option<String> {
    if let Some(name) = said(env, "GIT_AUTHOR_NAME") {
        return Some(name);
    }
    let config = config(env);
    let configured = |key: &str| {
        let value = config.as_ref()?.string(key)?;
        usable(value.to_str().ok()?)
    };
    configured("user.name")
        .or_else(|| said(env, "GIT_AUTHOR_EMAIL"))
        .or_else(|| configured("user.email"))
}

fn said(env: &mut dyn FnMut(&str) -> Option<OsString>, name: &str) -> Option<String> {
    usable(env(name)?.to_str()?)
}

fn usable(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty() && text.len() <= LONGEST).then(|| text.to_owned())
}

/// What the user configured for all repositories.
fn config(env: &mut dyn FnMut(&str) -> Option<OsString>) -> Option<File> {
    // The later file counts more.
    let files = [Source::Git, Source::User].map(|source| Metadata {
        path: source.storage_location(env),
        source,
        level: 0,
        trust: Trust::Full,
    });
    let home = env("HOME").map(PathBuf::from);
    let read = |includes| {
        let options = init::Options {
            includes,
            ignore_io_errors: true,
            ..init::Options::default()
        };
        let mut files = files.iter().cloned();
        File::from_paths_metadata_buf(&mut files, &mut Vec::new(), false, options)
    };
    // Where an included file is missing, or for some repositories only, the rest still counts.
    let followed = read(includes::Options::follow_without_conditional(
        home.as_deref(),
    ));
    followed
        .or_else(|_| read(includes::Options::no_follow()))
        .ok()?
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::*;

    /// The person by these variables, and this configuration of the user.
    fn found(variables: &[(&str, &str)], config: &str) -> Option<String> {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join(".gitconfig"), config).unwrap();
        person(&mut |name| {
            if name == "HOME" {
                return Some(home.path().into());
            }
            let mut variables = variables.iter();
            variables
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).into())
        })
    }

    #[test]
    fn the_person_is_who_they_told_git() {
        let config = "[user]\n\tname = Kei Tanaka\n\temail = kei@example.org\n";
        assert_eq!(found(&[], config).as_deref(), Some("Kei Tanaka"));
        let named = [("GIT_AUTHOR_NAME", "Zoë")];
        assert_eq!(found(&named, config).as_deref(), Some("Zoë"));
        let only_address = "[user]\n\temail = kei@example.org\n";
        assert_eq!(found(&[], only_address).as_deref(), Some("kei@example.org"));
        let address = [("GIT_AUTHOR_EMAIL", "zoe@example.org")];
        assert_eq!(
            found(&address, only_address).as_deref(),
            Some("zoe@example.org")
        );
        assert_eq!(found(&address, config).as_deref(), Some("Kei Tanaka"));
        assert_eq!(
            found(&[("GIT_AUTHOR_NAME", "  ")], "[user]\n\tname = \"\"\n"),
            None
        );
        assert_eq!(found(&[], "[user\n"), None);
        assert_eq!(found(&[], ""), None);
        assert_eq!(
            found(&[], &format!("[user]\n\tname = {}\n", "x".repeat(2_000))),
            None
        );
    }

    #[test]
    fn a_missing_include_does_not_hide_the_rest() {
        let config = "[user]\n\tname = Kei\n[include]\n\tpath = /nowhere/at/all\n\
                      [includeIf \"gitdir:~/work/\"]\n\tpath = work\n";
        assert_eq!(found(&[], config).as_deref(), Some("Kei"));
    }

    #[test]
    fn the_configuration_for_all_programs_counts_less_than_that_of_git() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("xdg/git");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config"), "[user]\n\tname = Xdg\n").unwrap();
        let mut env = |name: &str| match name {
            "HOME" => Some(home.path().into()),
            "XDG_CONFIG_HOME" => Some(home.path().join("xdg").into()),
            _ => None,
        };
        assert_eq!(person(&mut env).as_deref(), Some("Xdg"));
        fs::write(home.path().join(".gitconfig"), "[user]\n\tname = Own\n").unwrap();
        assert_eq!(person(&mut env).as_deref(), Some("Own"));
    }
}
