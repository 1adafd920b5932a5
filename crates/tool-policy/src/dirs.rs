//! The directories that a shell may be in: after `cd a || cd b` there are several.

use crate::path::{self, Place};

/// More are not told apart.
const MOST: usize = 8;

/// Some directories, one of which the shell is in; or any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dirs(Option<Vec<String>>);

/// Where the shell is after a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ends {
    /// If it ended with success.
    pub(crate) done: Dirs,
    /// If it did not.
    pub(crate) failed: Dirs,
}

impl Ends {
    /// The same in both cases.
    pub(crate) fn same(dirs: &Dirs) -> Ends {
        Ends {
            done: dirs.clone(),
            failed: dirs.clone(),
        }
    }

    /// In either case.
    pub(crate) fn any(&self) -> Dirs {
        self.done.or(&self.failed)
    }
}

impl Dirs {
    /// One, if it is known.
    pub(crate) fn of(dir: Option<&str>) -> Dirs {
        Dirs(dir.map(|dir| vec![dir.to_owned()]))
    }

    /// Any.
    pub(crate) fn unknown() -> Dirs {
        Dirs(None)
    }

    /// The one, if there is one.
    pub(crate) fn only(&self) -> Option<&str> {
        match self.0.as_deref() {
            Some([dir]) => Some(dir),
            _ => None,
        }
    }

    /// Each of them; none stands for one that is not known.
    pub(crate) fn all(&self) -> Vec<Option<&str>> {
        match &self.0 {
            Some(dirs) => dirs.iter().map(|dir| Some(dir.as_str())).collect(),
            None => vec![None],
        }
    }

    /// These, or those.
    pub(crate) fn or(&self, others: &Dirs) -> Dirs {
        let (Some(these), Some(those)) = (&self.0, &others.0) else {
            return Dirs::unknown();
        };
        let mut all = these.clone();
        all.extend(those.iter().filter(|it| !these.contains(it)).cloned());
        // In an order of their own, so that the same ones are equal.
        all.sort();
        Dirs((all.len() <= MOST).then_some(all))
    }

    /// Where `cd` leads from each of them.
    pub(crate) fn then(&self, to: Option<&str>, home: Option<&str>) -> Dirs {
        let Some(to) = to else {
            return Dirs::unknown();
        };
        let from = |dir: Option<&str>| {
            path::absolute(
                to,
                Place {
                    dir,
                    root: None,
                    home,
                },
            )
        };
        let reached: Option<Vec<String>> = self.all().into_iter().map(from).collect();
        Dirs(reached.map(|mut all| {
            all.sort();
            all.dedup();
            all
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_followed() {
        let dirs = Dirs::of(Some("/a/b"));
        assert_eq!(dirs.then(Some("../c"), None), Dirs::of(Some("/a/c")));
        assert_eq!(dirs.then(None, None), Dirs::unknown());
        assert_eq!(Dirs::unknown().then(Some("x"), None), Dirs::unknown());
        assert_eq!(Dirs::unknown().then(Some("/x"), None), Dirs::of(Some("/x")));
        let both = dirs.or(&Dirs::of(Some("/a")));
        assert_eq!(both.all(), [Some("/a"), Some("/a/b")]);
        assert_eq!(both.only(), None);
        assert_eq!(both.or(&both), both);
    }
}
