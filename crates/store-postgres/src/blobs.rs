//! Content by its digest.

use annals_event_log::Digest;
use bytes::Bytes;

use crate::failure::Failure;
use crate::lookup;
use crate::outcome::Failed;
use crate::sessions::Session;
use crate::shared::Shared;

/// The content with this digest, compared with it.
pub(crate) async fn read(
    shared: &Shared,
    session: &Session,
    digest: Digest,
) -> Result<Option<Bytes>, Failed> {
    let key = &digest.0[..];
    let rows = lookup::rows(shared, session, &shared.sql.blob, &[&shared.log, &key]).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let content = Bytes::copy_from_slice(row.try_get(0)?);
    match Digest::of(&content) == digest {
        true => Ok(Some(content)),
        false => Err(Failure::damaged(format!(
            "the content of the blob {digest} has another digest"
        ))
        .into()),
    }
}
