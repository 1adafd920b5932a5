//! How the body of a request is packed.

use std::io::{self, Read};

use axum::http::{HeaderMap, header};
use flate2::read::MultiGzDecoder;

/// How a body is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packed {
    Not,
    Gzip,
}

impl Packed {
    /// How the body of a request is packed, if that is known.
    pub(super) fn of(headers: &HeaderMap) -> Option<Packed> {
        let mut said = headers.get_all(header::CONTENT_ENCODING).iter();
        let (first, more) = (said.next(), said.next());
        let name = match (first, more) {
            (None, _) => return Some(Packed::Not),
            (Some(name), None) => name.to_str().ok()?.trim().to_ascii_lowercase(),
            // Packed twice.
            (Some(_), Some(_)) => return None,
        };
        match name.as_str() {
            "identity" | "" => Some(Packed::Not),
            "gzip" | "x-gzip" => Some(Packed::Gzip),
            _ => None,
        }
    }

    /// What is packed; nothing, where that is more than so many bytes.
    pub(super) fn unpacked(self, bytes: Vec<u8>, most: usize) -> io::Result<Option<Vec<u8>>> {
        if self == Packed::Not {
            return Ok(Some(bytes));
        }
        let mut unpacked = Vec::new();
        let mut limited = MultiGzDecoder::new(bytes.as_slice()).take(most as u64 + 1);
        limited.read_to_end(&mut unpacked)?;
        Ok((unpacked.len() <= most).then_some(unpacked))
    }
}
