//! How a diff names files: quoting, and the two lines before the hunks.

/// What stands for a side that is not there.
pub(crate) const NOTHING: &[u8] = b"/dev/null";

/// The two lines that name a file's sides.
pub(crate) fn header(old: &[u8], new: &[u8]) -> Vec<u8> {
    let mut header = Vec::new();
    for (sign, name) in [(b"--- ", old), (b"+++ ", new)] {
        header.extend_from_slice(sign);
        header.extend_from_slice(name);
        // A tab ends a name that has spaces, for programs that read a date there.
        header.extend_from_slice(if name.contains(&b' ') { b"\t\n" } else { b"\n" });
    }
    header
}

/// A path as git prints it: in quotes with C escapes where it has bytes that
/// are not plain ASCII.
pub(crate) fn quoted(prefix: &str, path: &[u8]) -> Vec<u8> {
    let plain = |b: &u8| matches!(b, b' '..=b'~') && !matches!(b, b'"' | b'\\');
    if path.iter().all(plain) {
        return [prefix.as_bytes(), path].concat();
    }
    let mut text = vec![b'"'];
    text.extend_from_slice(prefix.as_bytes());
    for &byte in path {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            0x07 => text.extend_from_slice(b"\\a"),
            0x08 => text.extend_from_slice(b"\\b"),
            b'\t' => text.extend_from_slice(b"\\t"),
            b'\n' => text.extend_from_slice(b"\\n"),
            0x0b => text.extend_from_slice(b"\\v"),
            0x0c => text.extend_from_slice(b"\\f"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b' '..=b'~' => text.push(byte),
            _ => text.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
        }
    }
    text.push(b'"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_as_git_does() {
        let check = |path: &[u8], expected: &str| {
            assert_eq!(String::from_utf8_lossy(&quoted("a/", path)), expected);
        };
        check(b"src/lib.rs", "a/src/lib.rs");
        check(b"with space", "a/with space");
        check(b"tab\there", r#""a/tab\there""#);
        check("é\"".as_bytes(), r#""a/\303\251\"""#);
        check(b"\x7f\xff\x01", r#""a/\177\377\001""#);
    }
}
