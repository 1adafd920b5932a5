//! Format 1 of a structure: bincode 2 through serde, its standard
//! configuration (little-endian, integers of variable length).
//!
//! Nothing else in the workspace knows bincode. Another encoding is another
//! module with another format byte; what was written in this one stays
//! readable as long as this module is here.

use std::fmt;

use annals_event_log::limits;
use serde::Serialize;
use serde::de::DeserializeSeed;

/// The byte that a structure in this format begins with.
pub(crate) const FORMAT: u8 = 1;

/// bincode counts an integer with the bytes that it has in memory, at most 16,
/// whereas it takes one byte or more in the input. A structure of the largest
/// size therefore never meets this limit, and a length that was tampered with
/// never makes the reader allocate more than this.
const DECODE_LIMIT: usize = 16 * limits::STRUCTURE;

/// What the encoding's own library says of bytes or values that it cannot
/// read or write. It is opaque, so that the library can be replaced.
#[derive(Debug)]
pub struct FormatError(Box<dyn std::error::Error + Send + Sync>);

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for FormatError {}

/// Appends a value's encoding to `out`.
pub(crate) fn write<T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
) -> Result<(), FormatError> {
    bincode::serde::encode_into_std_write(value, out, bincode::config::standard())
        .map(|_| ())
        .map_err(|error| FormatError(Box::new(error)))
}

/// Reads one value and says how many bytes are left over after it.
pub(crate) fn read<'de, S: DeserializeSeed<'de>>(
    seed: S,
    bytes: &'de [u8],
) -> Result<(S::Value, usize), FormatError> {
    let config = bincode::config::standard().with_limit::<DECODE_LIMIT>();
    bincode::serde::seed_decode_from_slice(seed, bytes, config)
        .map(|(value, used)| (value, bytes.len().saturating_sub(used)))
        .map_err(|error| FormatError(Box::new(error)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]

    use std::marker::PhantomData;

    use super::*;

    #[test]
    fn the_encoding_is_the_standard_one() {
        let mut out = Vec::new();
        write(
            &(5_u8, 251_u16, 70_000_u32, "é", Some(-1_i64), None::<u8>),
            &mut out,
        )
        .expect("it is written");
        let expected = [
            5, 251, 251, 0, 252, 0x70, 0x11, 0x01, 0, 2, 0xc3, 0xa9, 1, 1, 0,
        ]
        .as_slice();
        assert_eq!(out, expected);
    }

    #[test]
    fn what_is_left_over_is_counted() {
        let (value, left) = read(PhantomData::<u16>, &[7, 1, 2]).expect("it is read");
        assert_eq!((value, left), (7, 2));
    }

    #[test]
    fn a_huge_length_is_refused_before_anything_is_allocated() {
        let mut bytes = vec![253];
        bytes.extend_from_slice(&(u64::MAX / 2).to_le_bytes());
        assert!(read(PhantomData::<String>, &bytes).is_err());
        assert!(read(PhantomData::<Vec<u64>>, &bytes).is_err());
    }

    #[test]
    fn the_largest_structure_of_small_numbers_is_below_the_limit() {
        let numbers = vec![1_u64; limits::STRUCTURE - 8];
        let mut out = Vec::new();
        write(&numbers, &mut out).expect("it is written");
        assert!(out.len() < limits::STRUCTURE);
        assert_eq!(
            read(PhantomData::<Vec<u64>>, &out).expect("it is read"),
            (numbers, 0)
        );
    }
}
