//! Rows of read models as bytes: one byte for the format, then the encoding.
//!
//! Rows are made from the log and can be made again, so nothing reads rows of
//! an older shape: a read model with other rows has another name.

use std::marker::PhantomData;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::bincode_format;
use crate::value::{read, write};
use crate::{DecodeError, FormatError};

/// What errors call a row, where they name an event's type otherwise.
const ROW: &str = "a row";

/// A row's value.
///
/// # Errors
/// [`FormatError`], for a value that has no binary form.
pub fn encode_row<T: Serialize + ?Sized>(row: &T) -> Result<Vec<u8>, FormatError> {
    write(row)
}

/// The same, into a buffer whose content it replaces: for many rows.
///
/// # Errors
/// [`FormatError`], for a value that has no binary form; the buffer is of no
/// use then.
pub fn encode_row_into<T: Serialize + ?Sized>(
    row: &T,
    out: &mut Vec<u8>,
) -> Result<(), FormatError> {
    out.clear();
    out.push(bincode_format::FORMAT);
    bincode_format::write(row, out)
}

/// The row that a value holds.
///
/// # Errors
/// [`DecodeError`], for any bytes that are not exactly one such row.
pub fn decode_row<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, DecodeError> {
    read(PhantomData::<T>, ROW, bytes)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_row_comes_back_and_damage_is_noticed() {
        let row = (7_u64, "seven".to_owned(), Some(0.5_f64));
        let bytes = encode_row(&row).unwrap();
        assert_eq!(hex(&bytes), "010705736576656e01000000000000e03f");
        assert_eq!(
            decode_row::<(u64, String, Option<f64>)>(&bytes).unwrap(),
            row
        );
        let longer = [bytes.as_slice(), &[0]].concat();
        for damaged in [&b""[..], &bytes[1..], &bytes[..bytes.len() - 1], &longer] {
            assert!(decode_row::<(u64, String, Option<f64>)>(damaged).is_err());
        }
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
