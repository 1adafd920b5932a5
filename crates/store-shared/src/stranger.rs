//! A process of a user whose log it is not: it is a guest, and never the owner.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use annals_files::{ROOT, User};

use crate::guest::ConnectError;
use crate::share_error::{ShareError, unusable_owner};
use crate::sharing::{LOG, Sharing};

/// The user of this process, where the log is another one's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stranger {
    user: User,
    owner: User,
}

/// Refuses a log that is another user's: this process does not own it and does not change its files, whatever rights the
/// user has on them.
///
/// # Errors
/// [`ShareError::NeverOwner`].
pub fn check_owner(path: &Path) -> Result<(), ShareError> {
    match Stranger::at(path) {
        Some(stranger) => Err(stranger.never_owns(path)),
        None => Ok(()),
    }
}

impl Stranger {
    /// The user of this process, unless that is root or the user whose log it is: the folder or the file that makes it one of a
    /// log belongs to the user. Rights on the files do not count.
    pub(crate) fn at(path: &Path) -> Option<Stranger> {
        let owner = User(fs::metadata(path).ok()?.uid());
        let user = User::current();
        let file = match fs::symlink_metadata(path.join(LOG)) {
            Ok(found) => Some(User(found.uid())),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => None,
            // There is no log.
            Err(_) => return None,
        };
        let is_stranger = ![ROOT, owner].contains(&user) && file != Some(user);
        is_stranger.then_some(Stranger { user, owner })
    }

    /// What it means that no owner was reached: nothing helps, or one may come.
    pub(crate) fn unreached(
        self,
        path: &Path,
        why: ConnectError,
    ) -> Result<ShareError, ShareError> {
        let Stranger { user, owner: of } = self;
        let (at, is_named) = (path.to_owned(), || {
            Sharing::of(path).is_ok_and(|sharing| sharing.users.contains(&user))
        });
        match why {
            ConnectError::Absent if is_named() => Ok(ShareError::NoOwner {
                path: at,
                user,
                owner: of,
            }),
            ConnectError::Absent | ConnectError::Refused => Err(ShareError::NotNamed {
                path: at,
                user,
                owner: of,
            }),
            why @ ConnectError::Version { .. } => Err(unusable_owner(path, why, false)),
            why => Ok(unusable_owner(path, why, true)),
        }
    }

    /// Why it does not wait to become the owner.
    pub(crate) fn never_owns(self, path: &Path) -> ShareError {
        ShareError::NeverOwner {
            path: path.to_owned(),
            user: self.user,
            owner: self.owner,
        }
    }
}
