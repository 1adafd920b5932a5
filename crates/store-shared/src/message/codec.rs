//! Messages as bytes and back, by bincode, with bounds.

use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::frame::LARGEST;

/// Why bytes are not a message.
#[derive(Debug, thiserror::Error)]
#[error("malformed message: {0}")]
pub(crate) struct Malformed(pub(super) String);

pub(super) fn malformed(error: impl fmt::Display) -> Malformed {
    Malformed(error.to_string())
}

/// Encodes a message behind `start`, which the frame's header has.
pub(crate) fn encode<T: Serialize>(message: &T, start: Vec<u8>) -> Result<Vec<u8>, Malformed> {
    let mut bytes = start;
    let config = bincode::config::standard();
    bincode::serde::encode_into_std_write(message, &mut bytes, config).map_err(malformed)?;
    Ok(bytes)
}

/// Reads a message, which has to be all of `bytes`. A length that no message has is refused before memory is
/// taken for it, and so is a list of more than [`MOST`].
pub(crate) fn decode<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Malformed> {
    let config = bincode::config::standard().with_limit::<LARGEST>();
    let (message, read) =
        bincode::serde::borrow_decode_from_slice(bytes, config).map_err(malformed)?;
    match read == bytes.len() {
        true => Ok(message),
        false => Err(Malformed("more bytes than the message has".into())),
    }
}

/// The most entries of a list. One that has no bytes of its own would take many times in memory what it takes
/// in a message.
const MOST: usize = 1_000_000;

/// Reads a list of at most [`MOST`].
pub(super) fn few<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    struct Few<T>(PhantomData<T>);
    impl<'de, T: Deserialize<'de>> Visitor<'de> for Few<T> {
        type Value = Vec<T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(f, "a list of at most {MOST}")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
            let mut few = Vec::new();
            while let Some(entry) = list.next_element()? {
                if few.len() == MOST {
                    return Err(A::Error::invalid_length(MOST + 1, &self));
                }
                few.push(entry);
            }
            Ok(few)
        }
    }
    from.deserialize_seq(Few(PhantomData))
}

/// Bytes, written as such and not number by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Octets(pub(crate) Bytes);

impl Serialize for Octets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Octets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Octets, D::Error> {
        struct Borrowed;
        impl<'de> Visitor<'de> for Borrowed {
            type Value = Octets;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_borrowed_bytes<E>(self, bytes: &'de [u8]) -> Result<Octets, E> {
                Ok(Octets(Bytes::copy_from_slice(bytes)))
            }
        }
        deserializer.deserialize_bytes(Borrowed)
    }
}

impl From<tokio::task::JoinError> for Malformed {
    fn from(error: tokio::task::JoinError) -> Malformed {
        malformed(error)
    }
}
