//! The secret of a log's ids, as `meta` has it.
//!
//! ```text
//! secret (32), the first bytes of its SHA-256 (8)
//! ```
//!
//! With a damaged secret the same text would get another id without a word; so it has check bytes.

use annals_event_log::{Digest, IdSecret, ReadError};
use rocksdb::WriteBatch;

use crate::columns::Columns;
use crate::db::Db;
use crate::error::corrupt;
use crate::keys;

/// Bytes of the secret.
const SECRET: usize = 32;
/// Bytes that it is checked by.
const CHECK: usize = 8;

/// Puts a new secret into a write.
pub(crate) fn renew(columns: &Columns<'_>, write: &mut WriteBatch) {
    let secret = IdSecret::random();
    let row = [secret.as_bytes().as_slice(), &check_of(secret.as_bytes())].concat();
    write.put_cf(columns.meta, keys::META_ID_SECRET, row);
}

/// The secret, unless an older version wrote the log.
pub(crate) fn read(db: &Db, columns: &Columns<'_>) -> Result<Option<IdSecret>, ReadError> {
    let Some(row) = db.get(columns.meta, keys::META_ID_SECRET)? else {
        return Ok(None);
    };
    let damaged = || corrupt("the secret of the log's ids is damaged");
    decode(&row).ok_or_else(damaged).map(Some)
}

/// The secret in a row.
pub(crate) fn decode(row: &[u8]) -> Option<IdSecret> {
    let (secret, check) = row.split_at_checked(SECRET)?;
    let secret = IdSecret::from_bytes(secret)?;
    (check == check_of(secret.as_bytes())).then_some(secret)
}

fn check_of(secret: &[u8]) -> [u8; CHECK] {
    let Digest(digest) = Digest::of(secret);
    let (head, _) = digest.split_first_chunk().unwrap_or((&[0; CHECK], &[]));
    *head
}
