//! `annals log share-with`: which other users may read the log and write to it.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use annals::LogUrl;
use annals::store_shared::{Sharing, SharingError, User};
use serde_json::{Value, json};

use crate::cli::Users;
use crate::context::Context;
use crate::error::{CliError, ErrorClass};

/// Whether all others may pass through a folder.
const OTHERS_PASS: u32 = 0o001;

pub(crate) fn run(args: &Users, context: &mut Context) -> Result<(), CliError> {
    let Ok(LogUrl::Rocks(folder)) = context.log.parse() else {
        return Err(CliError::in_memory());
    };
    // All of them before anything is changed.
    let with = users(&args.with)?;
    for user in users(&args.without)? {
        Sharing::keep_out(&folder, user)?;
    }
    for user in with {
        Sharing::let_in(&folder, user)?;
        for above in closed_above(&folder, user) {
            context.output.warn(&format!(
                "{user} may not be able to pass through {}, and has to: `setfacl -m u:{}:x {}`",
                above.display(),
                user.0,
                above.display()
            ));
        }
    }
    show(&folder, context)
}

fn users(names: &[String]) -> Result<Vec<User>, CliError> {
    let user = |name: &String| match User::named(name) {
        Ok(Some(user)) => Ok(user),
        Ok(None) => {
            let message = format!("there is no user {name:?} on this machine");
            Err(CliError::new(ErrorClass::NotFound, "no_user", message))
        }
        Err(error) => {
            let message = format!("cannot look up the user {name:?}: {error}");
            Err(CliError::new(ErrorClass::Failed, "no_users", message))
        }
    };
    names.iter().map(user).collect()
}

/// Folders above the log's that let only some users pass, of whom this one may be none.
fn closed_above(folder: &Path, user: User) -> Vec<PathBuf> {
    let Ok(folder) = folder.canonicalize() else {
        return Vec::new();
    };
    let is_closed = |above: &&Path| {
        let found = fs::metadata(above);
        let is_closed = found.is_ok_and(|found| {
            found.permissions().mode() & OTHERS_PASS == 0 && found.uid() != user.0
        });
        let listed = annals_files::listed(above).ok().flatten();
        is_closed && !listed.is_some_and(|listed| listed.users.contains(&user))
    };
    let above = folder.ancestors().skip(1).filter(is_closed);
    above.map(Path::to_owned).collect()
}

fn show(folder: &Path, context: &mut Context) -> Result<(), CliError> {
    let owner = Sharing::owner(folder)?;
    let sharing = Sharing::of(folder).map_err(|source| SharingError::Io {
        path: folder.to_owned(),
        source,
    })?;
    if context.output.is_json() {
        let user = |user: &User| json!({ "user": user.0, "name": user.name() });
        let others: Vec<Value> = sharing.users.iter().map(user).collect();
        let shown = json!({ "log": context.log, "owner": user(&owner), "others": others });
        return context.output.json(&shown);
    }
    let others = match sharing.users.is_empty() {
        true => "none".to_owned(),
        false => {
            let others: Vec<String> = sharing.users.iter().map(User::to_string).collect();
            others.join(", ")
        }
    };
    let fields = [("of", owner.to_string()), ("others", others)];
    context.output.fields(&fields)
}
