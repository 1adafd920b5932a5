//! Ids for things that come without one.

use std::fmt;

use ring::hmac;
use uuid::Uuid;

/// Bytes of a secret.
const BYTES: usize = 32;
/// Bytes of an id.
const ID: usize = 16;

/// A secret of one log. From it and a text, the log derives the id of a thing that is identified only
/// by its text: a name that a user gave, a line of a recording that has no id.
///
/// The same text has the same id for as long as the log has the same secret, so that what comes
/// again is recognized. Without the secret an id reveals nothing; and when content is removed, the
/// log gets another secret and forgets this one, so that a removed text cannot be found
/// out by trying which text has the id that is left.
///
/// ```
/// use annals_event_log::IdSecret;
/// let secret = IdSecret::random();
/// let id = secret.id("alias", b"cache");
/// assert_eq!(secret.id("alias", b"cache"), id);
/// assert_ne!(secret.id("line", b"cache"), id);
/// assert_ne!(IdSecret::random().id("alias", b"cache"), id);
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct IdSecret([u8; BYTES]);

impl IdSecret {
    /// A new secret.
    pub fn random() -> IdSecret {
        IdSecret(rand::random())
    }

    /// A secret as a store keeps it: 32 bytes, or else none.
    pub fn from_bytes(bytes: &[u8]) -> Option<IdSecret> {
        bytes.try_into().ok().map(IdSecret)
    }

    /// The secret's bytes, for a store to keep.
    pub fn as_bytes(&self) -> &[u8; BYTES] {
        &self.0
    }

    /// The id of a text: HMAC-SHA256 over what it is, a zero byte and the text, cut to a UUID of
    /// version 8. `what` tells the same text in another place apart; it has no zero byte.
    pub fn id(&self, what: &str, text: &[u8]) -> Uuid {
        let key = hmac::Key::new(hmac::HMAC_SHA256, &self.0);
        let mut context = hmac::Context::with_key(&key);
        for part in [what.as_bytes(), &[0], text] {
            context.update(part);
        }
        let tag = context.sign();
        let (head, _) = tag
            .as_ref()
            .split_first_chunk::<ID>()
            .unwrap_or((&[0; ID], &[]));
        Uuid::new_v8(*head)
    }
}

impl fmt::Debug for IdSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IdSecret(..)")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn an_id_is_that_of_its_secret_and_never_changes() {
        let secret = IdSecret::from_bytes(&[7; BYTES]).unwrap();
        // Logs hold such ids.
        let expected = "c7dce6b5-337d-8702-b52d-f664a3313aae";
        assert_eq!(secret.id("alias", b"cache").to_string(), expected);
        assert_eq!(secret.id("alias", b"cache").get_version_num(), 8);
        assert_eq!(
            IdSecret::from_bytes(secret.as_bytes()),
            Some(secret.clone())
        );
        assert_eq!(IdSecret::from_bytes(&[7; 31]), None);
        assert!(!format!("{secret:?}").contains('7'));
    }
}
