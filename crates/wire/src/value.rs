//! A value as bytes: one byte for the format, then the encoding.

use serde::Serialize;
use serde::de::DeserializeSeed;

use crate::DecodeError;
use crate::bincode_format;

/// Most structures are ids and numbers: a few dozen bytes.
const USUAL_SIZE: usize = 96;

/// Any value as a structure, with the format byte, regardless of its size.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<Vec<u8>, crate::FormatError> {
    let mut out = Vec::with_capacity(USUAL_SIZE);
    out.push(bincode_format::FORMAT);
    bincode_format::write(value, &mut out)?;
    Ok(out)
}

/// Reads a structure to its last byte.
pub(crate) fn read<'de, S: DeserializeSeed<'de>>(
    seed: S,
    event_type: &str,
    bytes: &'de [u8],
) -> Result<S::Value, DecodeError> {
    let event_type = || event_type.to_owned();
    let (found, rest) = bytes.split_first().ok_or_else(|| DecodeError::Empty {
        event_type: event_type(),
    })?;
    if *found != bincode_format::FORMAT {
        return Err(DecodeError::UnknownFormat {
            event_type: event_type(),
            found: *found,
        });
    }
    let (value, left) =
        bincode_format::read(seed, rest).map_err(|source| DecodeError::Malformed {
            event_type: event_type(),
            source,
        })?;
    if left > 0 {
        return Err(DecodeError::TrailingBytes {
            event_type: event_type(),
            left,
        });
    }
    Ok(value)
}
