//! What fuzzers need and nobody else.

use annals_dialects::secrets::Secrets;

use crate::otlp;

/// A request's body of telemetry: its first byte says whether it is of logs or spans, and in which encoding.
pub fn telemetry(data: &[u8]) {
    if let Some((how, body)) = data.split_first() {
        otlp::understand(*how & 1 == 1, *how & 2 == 2, body, &Secrets::standard());
    }
}
