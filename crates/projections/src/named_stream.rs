//! Where streams are that are known by a text: an alias's, and a bucket's that sessions share.

use annals_domain::{StreamRef, alias, bucket};
use annals_event_log::IdSecret;

/// The stream that an alias would get: its id follows from the secret of the log, if that has one.
pub fn new_alias_stream(secret: Option<&IdSecret>, alias: &str) -> StreamRef {
    keyed(secret, alias::stream_of(alias), alias)
}

/// The stream of the bucket with a name ([`bucket::name_of`]): its id follows from the secret of
/// the log, if that has one. After a redaction it is another stream, whose bucket is full.
pub fn bucket_stream(secret: Option<&IdSecret>, name: &str) -> StreamRef {
    keyed(secret, bucket::stream_of(name), name)
}

/// A stream under the id that a secret gives it.
fn keyed(secret: Option<&IdSecret>, unkeyed: StreamRef, name: &str) -> StreamRef {
    let id = |secret: &IdSecret| secret.id(unkeyed.kind.as_str(), name.as_bytes());
    StreamRef {
        id: secret.map_or(unkeyed.id, id),
        ..unkeyed
    }
}
