//! The project of a working directory: the top level of its git repository.

use std::path::{Path, PathBuf};

use super::place;

/// The project of a working directory that is on this machine: the main work tree of its git repository, so that all
/// work trees of a repository are one project. `None` if the directory does not exist or is in no repository.
///
/// No link within the repository is followed, and a file `.git` counts only if the repository that it names names its
/// folder, too.
pub(crate) fn project_of(directory: &str) -> Option<String> {
    let path = Path::new(directory);
    if !path.is_absolute() {
        return None;
    }
    let top = place::main_work_tree(path)?;
    let top = std::fs::canonicalize(&top).unwrap_or(top);
    utf8(top)
}

fn utf8(path: PathBuf) -> Option<String> {
    path.into_os_string().into_string().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use std::fs;

    use super::*;

    fn repository(path: &Path) {
        for folder in ["objects", "refs"] {
            fs::create_dir_all(path.join(folder)).unwrap();
        }
        fs::write(path.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    }

    fn project(path: &Path) -> Option<PathBuf> {
        project_of(path.to_str().unwrap()).map(PathBuf::from)
    }

    #[test]
    fn work_trees_of_a_repository_are_one_project() {
        let temporary = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temporary.path()).unwrap();
        let main = base.join("main");
        repository(&main.join(".git"));
        fs::create_dir_all(main.join("src/deep")).unwrap();
        assert_eq!(project(&main), Some(main.clone()));
        assert_eq!(project(&main.join("src/deep")), Some(main.clone()));

        let linked = base.join("linked");
        let own = main.join(".git/worktrees/linked");
        fs::create_dir_all(&own).unwrap();
        fs::create_dir_all(linked.join("src")).unwrap();
        fs::write(linked.join(".git"), format!("gitdir: {}\n", own.display())).unwrap();
        fs::write(own.join("HEAD"), "ref: refs/heads/other\n").unwrap();
        fs::write(own.join("commondir"), "../..\n").unwrap();
        // The repository does not name the folder yet: it is believed only then.
        assert_eq!(project(&linked.join("src")), None);
        let back = format!("{}\n", linked.join(".git").display());
        fs::write(own.join("gitdir"), back).unwrap();
        assert_eq!(project(&linked.join("src")), Some(main));
    }

    #[test]
    fn what_is_no_repository_of_this_machine_has_no_project() {
        let temporary = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(temporary.path()).unwrap();
        let elsewhere = base.join("elsewhere");
        repository(&elsewhere.join(".git"));
        let place = base.join("place");
        fs::create_dir_all(&place).unwrap();
        std::os::unix::fs::symlink(elsewhere.join(".git"), place.join(".git")).unwrap();
        assert_eq!(project(&place), None);
        assert_eq!(project(&base.join("missing")), None);
        assert_eq!(project_of("relative/path"), None);
        assert_eq!(project_of(""), None);
    }

    #[test]
    fn a_bare_repository_is_its_own_project() {
        let temporary = tempfile::tempdir().unwrap();
        let bare = fs::canonicalize(temporary.path()).unwrap().join("shop.git");
        repository(&bare);
        assert_eq!(project(&bare), Some(bare.clone()));
    }
}
