//! Listing streams: one or two seeks a stream, regardless of its length.

use annals_event_log::store_support::clamp_limit;
use annals_event_log::{ReadError, StreamHead, StreamName, Version};

use crate::error::corrupt;
use crate::read::View;
use crate::{index, keys};

/// Streams whose name begins with `prefix`, behind `after`.
pub(crate) fn list(
    view: &View<'_>,
    prefix: &str,
    after: Option<&StreamName>,
    limit: usize,
) -> Result<Vec<StreamHead>, ReadError> {
    let limit = clamp_limit(limit);
    let mut heads = Vec::new();
    let mut iterator = view.db.iterate(view.columns.streams, None);
    // Keys begin with the names, and no name has a byte as low as the one that
    // ends it: the order of the keys is that of the names.
    let behind_after = after.map(|after| keys::bounds(after.as_str()).1);
    let start = prefix.as_bytes().to_vec();
    iterator.seek(behind_after.map_or(start.clone(), |behind| behind.max(start)));
    while let Some(key) = iterator.key() {
        let malformed = || corrupt("a key of the stream index is malformed");
        let (name, _) = keys::split_entry(key).ok_or_else(malformed)?;
        if !name.starts_with(prefix) || heads.len() == limit {
            return Ok(heads);
        }
        let name: StreamName = name.parse().map_err(|_| malformed())?;
        let version = index::version_up_to(view.db, &view.columns, name.as_str(), view.watermark)?;
        iterator.seek(keys::bounds(name.as_str()).1);
        if version > 0 {
            heads.push(StreamHead {
                name,
                version: Version(version),
            });
        }
    }
    view.db.check(&iterator)?;
    Ok(heads)
}
