//! Users of this machine, by number and by name.

use std::fmt;
use std::io;

use nix::unistd;

/// A user of this machine. It is shown with its name, where it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct User(pub u32);

/// The superuser, who may do everything.
pub const ROOT: User = User(0);

impl User {
    /// The one that this process acts as.
    pub fn current() -> User {
        User(rustix::process::geteuid().as_raw())
    }

    /// The one of this name or number; `None` where there is no such name.
    ///
    /// # Errors
    /// Those of the operating system's list of users.
    pub fn named(name: &str) -> io::Result<Option<User>> {
        if let Ok(number) = name.parse() {
            return Ok(Some(User(number)));
        }
        let found = unistd::User::from_name(name)?;
        Ok(found.map(|user| User(user.uid.as_raw())))
    }

    /// Its name, where it has one.
    pub fn name(self) -> Option<String> {
        let found = unistd::User::from_uid(unistd::Uid::from_raw(self.0)).ok()?;
        found.map(|user| user.name)
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "user {}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn users_are_known_by_name_and_by_number() {
        assert_eq!(User::named("root").unwrap(), Some(ROOT));
        assert_eq!(User::named("0").unwrap(), Some(ROOT));
        assert_eq!(User::named("no such user").unwrap(), None);
        assert_eq!(ROOT.to_string(), "root (0)");
        assert_eq!(User(3_999_999_999).to_string(), "user 3999999999");
    }
}
