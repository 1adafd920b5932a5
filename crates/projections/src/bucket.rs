//! Where the buckets are that sessions share.

use annals_domain::{StreamKind, StreamRef, bucket};
use annals_event_log::IdSecret;

/// The stream of the bucket with a name ([`bucket::name_of`]): its id follows from the secret of
/// the log, if that has one. After a redaction it is another stream, whose bucket is full.
pub fn bucket_stream(secret: Option<&IdSecret>, name: &str) -> StreamRef {
    let keyed = |secret: &IdSecret| StreamRef {
        kind: StreamKind::Bucket,
        id: secret.id("bucket", name.as_bytes()),
    };
    secret.map_or_else(|| bucket::stream_of(name), keyed)
}
