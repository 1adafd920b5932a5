//! Content by its digest.

use annals_event_log::Digest;
use bytes::Bytes;

use crate::failure::Failure;
use crate::head::unsigned;
use crate::lookup;
use crate::outcome::Failed;
use crate::sessions::Session;
use crate::shared::Shared;

/// Where the content of a blob is.
enum Place {
    Row(Bytes),
    Object(String, u64),
}

/// The content with this digest, compared with it.
pub(crate) async fn read(
    shared: &Shared,
    session: &Session,
    digest: Digest,
) -> Result<Option<Bytes>, Failed> {
    let mut missing: Option<String> = None;
    loop {
        let (object, size) = match place(shared, session, digest).await? {
            None => return Ok(None),
            Some(Place::Row(content)) => return Ok(Some(checked(content, digest)?)),
            Some(Place::Object(object, size)) => (object, size),
        };
        let Some(objects) = &shared.objects else {
            let detail = format!("the blob {digest}");
            return Err(Failure::NoObjectStore { detail }.into());
        };
        if let Some(content) = objects.get(&object, (digest, size)).await? {
            return Ok(Some(content));
        }
        // It may have been removed since the row was read; then the row says so now.
        if missing.as_ref() == Some(&object) {
            let reason = format!("the object {object} of a blob is not in the object store");
            return Err(Failure::damaged(reason).into());
        }
        missing = Some(object);
    }
}

async fn place(
    shared: &Shared,
    session: &Session,
    digest: Digest,
) -> Result<Option<Place>, Failed> {
    let key = &digest.0[..];
    let rows = lookup::rows(shared, session, &shared.sql.blob, &[&shared.log, &key]).await?;
    let Some(row) = rows.first() else {
        return Ok(None);
    };
    let (content, object): (Option<&[u8]>, Option<String>) = (row.try_get(0)?, row.try_get(1)?);
    match (content, object) {
        (Some(content), _) => Ok(Some(Place::Row(Bytes::copy_from_slice(content)))),
        (None, Some(object)) => Ok(Some(Place::Object(object, unsigned(row.try_get(2)?)?))),
        (None, None) => Err(Failure::damaged(format!("the blob {digest} has no content")).into()),
    }
}

fn checked(content: Bytes, digest: Digest) -> Result<Bytes, Failure> {
    match Digest::of(&content) == digest {
        true => Ok(content),
        false => Err(Failure::damaged(format!(
            "the content of the blob {digest} has another digest"
        ))),
    }
}
