//! Binary files that are private keys: what no pattern of a text finds.

use super::Secrets;

impl Secrets {
    /// Whether bytes are a private key or a store of such, as far as their beginning says so; never, if private
    /// keys are not looked for.
    pub fn is_key_file(&self, bytes: &[u8]) -> bool {
        self.key_pattern().is_some()
            && (is_store(bytes) || is_of_pgp(bytes) || der(bytes).is_some_and(is_der_key))
    }
}

/// Java's key stores.
fn is_store(bytes: &[u8]) -> bool {
    let is_begun = |magic: &[u8]| bytes.starts_with(magic);
    is_begun(&[0xfe, 0xed, 0xfe, 0xed]) || is_begun(&[0xce, 0xce, 0xce, 0xce])
}

/// A secret key of OpenPGP: a packet with tag 5, whose version comes behind its length.
fn is_of_pgp(bytes: &[u8]) -> bool {
    let version = match bytes {
        [0x94, _, version, ..] | [0x95, _, _, version, ..] => *version,
        [0xc5, length, version, ..] if *length < 192 => *version,
        [0xc5, length, _, version, ..] if *length < 224 => *version,
        _ => return false,
    };
    (3..=6).contains(&version)
}

/// What is in the sequence that a file in DER is.
fn der(bytes: &[u8]) -> Option<&[u8]> {
    match bytes {
        [0x30, length, rest @ ..] if *length < 0x80 => Some(rest),
        [0x30, 0x81, _, rest @ ..] | [0x30, 0x82, _, _, rest @ ..] => Some(rest),
        [0x30, 0x83, _, _, _, rest @ ..] => Some(rest),
        // A length that is not said.
        [0x30, 0x80, rest @ ..] => Some(rest),
        _ => None,
    }
}

/// PKCS #1, PKCS #8 (encrypted, too), PKCS #12, and keys of elliptic curves.
fn is_der_key(content: &[u8]) -> bool {
    match content {
        // A version, and what algorithm the key is of.
        [0x02, 0x01, 0 | 1, 0x30, _, 0x06, ..] => true,
        // A version and a large number.
        [0x02, 0x01, 0 | 1, 0x02, 0x81 | 0x82, ..] => true,
        // A version and the key's bytes.
        [0x02, 0x01, 1, 0x04, 0x14..=0x48, ..] => true,
        [0x02, 0x01, 3, 0x30, ..] => true,
        // How it is encrypted with a password.
        [0x30, ..] => {
            let inner = der(content).unwrap_or_default();
            inner.starts_with(b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05")
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_their_beginning() {
        let secrets = Secrets::standard();
        for (what, key) in [
            (
                "PKCS #8",
                b"\x30\x82\x04\xbd\x02\x01\x00\x30\x0d\x06\x09\x2a".as_slice(),
            ),
            (
                "PKCS #1",
                b"\x30\x82\x04\xa3\x02\x01\x00\x02\x82\x01\x01\x00",
            ),
            ("SEC 1", b"\x30\x77\x02\x01\x01\x04\x20\x01\x02\x03"),
            ("PKCS #12", b"\x30\x82\x09\xc1\x02\x01\x03\x30\x82\x09"),
            (
                "encrypted PKCS #8",
                b"\x30\x82\x05\x2d\x30\x57\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d\x30",
            ),
            ("a store of Java", b"\xfe\xed\xfe\xed\x00\x00\x00\x02"),
            ("OpenPGP", b"\x95\x03\xc5\x04\x5f\x00"),
            ("OpenPGP, new", b"\xc5\x58\x04\x5f\x00"),
        ] {
            assert!(secrets.is_key_file(key), "{what}");
            assert!(!Secrets::none().is_key_file(key), "{what}");
        }
        for (what, other) in [
            (
                "a certificate",
                b"\x30\x82\x03\x0f\x30\x82\x01\xf7\xa0\x03\x02\x01\x02".as_slice(),
            ),
            (
                "a public key",
                b"\x30\x82\x01\x22\x30\x0d\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01",
            ),
            ("an image", b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"),
            ("nothing", b""),
        ] {
            assert!(!secrets.is_key_file(other), "{what}");
        }
    }
}
