//! Content in S3, or in what speaks its protocol: which server, and with which key, say the `AWS_...` variables of the
//! environment, or the machine's role.

use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, RetryConfig};
use rustls::crypto::ring;

use crate::error::OpenError;

/// How often, and for how long, a request is tried again by the client itself: an append waits for it.
const RETRIES: usize = 5;
const PATIENCE: Duration = Duration::from_secs(30);

/// The bucket of `BUCKET/PREFIX`. Nothing is asked of it yet.
pub(crate) fn bucket(place: &str) -> Result<Arc<dyn ObjectStore>, OpenError> {
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    if bucket.is_empty() {
        return Err(OpenError::InvalidUrl {
            reason: "blobs=s3:// names no bucket: expected s3://BUCKET/PREFIX".to_owned(),
        });
    }
    // Where the program has chosen one already, that is as good.
    let _ = ring::default_provider().install_default();
    let store = AmazonS3Builder::from_env()
        .with_bucket_name(bucket)
        .with_disable_bulk_delete(true)
        .with_retry(RetryConfig {
            max_retries: RETRIES,
            retry_timeout: PATIENCE,
            ..RetryConfig::default()
        })
        .build()
        .map_err(|error| OpenError::InvalidUrl {
            reason: format!(
                "blobs=s3://{place} cannot be used: {error}. Set AWS_REGION, AWS_ACCESS_KEY_ID and \
                 AWS_SECRET_ACCESS_KEY, and for another server AWS_ENDPOINT"
            ),
        })?;
    Ok(match prefix.trim_matches('/') {
        "" => Arc::new(store),
        prefix => Arc::new(PrefixStore::new(store, prefix)),
    })
}
