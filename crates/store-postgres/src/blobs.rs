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
    let (content, object): (Option<&[u8]>, Option<&str>) = (row.try_get(0)?, row.try_get(1)?);
    let content = match (content, object, &shared.objects) {
        (Some(content), ..) => Bytes::copy_from_slice(content),
        (None, Some(object), Some(objects)) => return Ok(Some(objects.get(object, digest).await?)),
        (None, Some(_), None) => {
            let detail = format!("the blob {digest}");
            return Err(Failure::NoObjectStore { detail }.into());
        }
        (None, None, _) => {
            return Err(Failure::damaged(format!("the blob {digest} has no content")).into());
        }
    };
    match Digest::of(&content) == digest {
        true => Ok(Some(content)),
        false => Err(Failure::damaged(format!(
            "the content of the blob {digest} has another digest"
        ))
        .into()),
    }
}
