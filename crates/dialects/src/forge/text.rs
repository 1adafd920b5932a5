//! A file's bytes as text (docs/spec/forge.md).

use super::error::{ForgeError, Read};

/// The most bytes that a file of the folder may have. People and agents write
/// these files; none of them comes near it.
pub const MOST_BYTES: usize = 4 << 20;

/// The mark that some editors put before UTF-8.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text of a file, without a leading byte-order mark.
pub fn decode(bytes: &[u8]) -> Read<&str> {
    check_size(bytes.len())?;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let offset = error.valid_up_to();
        let before = bytes.iter().take(offset);
        ForgeError::NotUtf8 {
            line: 1 + before.filter(|&&byte| byte == b'\n').count() as u64,
            offset,
            byte: bytes.get(offset).copied().unwrap_or_default(),
        }
    })?;
    Ok(without_mark(text))
}

/// Refuses what is too big to be read.
pub(super) fn check_size(bytes: usize) -> Read<()> {
    if bytes > MOST_BYTES {
        return Err(ForgeError::TooLarge {
            bytes,
            limit: MOST_BYTES,
        });
    }
    Ok(())
}

/// A text without a leading byte-order mark.
pub(super) fn without_mark(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// The line, from 1, that an offset of a text is in.
pub(super) fn line_at(text: &str, offset: usize) -> u64 {
    let before = text.bytes().take(offset);
    1 + before.filter(|&byte| byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_order_mark_is_left_out() {
        assert_eq!(decode(b"\xef\xbb\xbftitle: a"), Ok("title: a"));
        assert_eq!(decode("題".as_bytes()), Ok("題"));
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_named_by_line_and_offset() {
        let wrong = ForgeError::NotUtf8 {
            line: 2,
            offset: 4,
            byte: 0xff,
        };
        assert_eq!(decode(b"a: b"), Ok("a: b"));
        assert_eq!(decode(b"ok\nx\xff"), Err(wrong.clone()));
        assert_eq!(wrong.line(), Some(2));
        let said = wrong.to_string();
        assert!(said.contains("0xff at offset 4"), "{said}");
    }

    #[test]
    fn a_file_over_the_limit_is_refused() {
        let limit = MOST_BYTES;
        assert!(decode(&vec![b'a'; limit]).is_ok());
        let bytes = 10_000_000;
        assert_eq!(
            decode(&vec![b'a'; bytes]),
            Err(ForgeError::TooLarge { bytes, limit })
        );
    }
}
