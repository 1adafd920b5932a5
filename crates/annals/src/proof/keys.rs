//! Keys that sign checkpoints: Ed25519, written as C2SP's signed notes write them.
//!
//! ```text
//! private  PRIVATE+KEY+<name>+<id>+<base64 of 0x01 and the seed>
//! public   <name>+<id>+<base64 of 0x01 and the public key>
//! ```

use std::fmt;

use annals_event_log::{Classification, Classified, ErrorClass};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rand_core::{CryptoRng, OsRng, RngCore};
use signed_note::{Signer as _, StandardSigner, StandardVerifier, Verifier as _};
use zeroize::Zeroizing;

/// The points of small order, as Ed25519 writes them, without the sign: a verifier with
/// one of them for a public key accepts signatures that no key made. They are those of
/// order 4, 1, 8 and 8, then 2, and the two that can be written a second way, which are
/// also of order 4 and 1.
const WEAK_KEYS: [&str; 7] = [
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
];
/// The bit of a public key's last byte that is a sign.
const SIGN: u8 = 0x80;

/// The bytes of the longest name.
const NAME_BYTES: usize = 200;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Signed notes allow no such name.
    #[error(
        "{name:?} cannot be a key's name: 1 to 200 bytes without spaces, control characters and \
         plus signs are expected, such as example.org/log"
    )]
    Name {
        /// The name.
        name: String,
    },
    /// The system gives no random numbers.
    #[error("the system gives no random numbers for a key: {reason}")]
    NoRandomness {
        /// What the system says.
        reason: String,
    },
    /// It is something else than a private key.
    #[error(
        "this is not a private key: expected one line PRIVATE+KEY+name+id+key, as \
         `annals proof key generate` writes it"
    )]
    NotPrivate,
    /// It is something else than a public key.
    #[error(
        "this is not a public key: expected lines name+id+key, as `annals proof key show` prints them"
    )]
    NotPublic,
    /// Anyone can make signatures of this key.
    #[error(
        "the key called {name:?} is weak: anyone can forge its signatures. Ask its owner for \
         another one"
    )]
    Weak {
        /// The key's name.
        name: String,
    },
    /// A private key was given where a public one belongs.
    #[error(
        "this is a private key; a public one is expected here: `annals proof key show` prints it"
    )]
    Private,
}

impl Classified for KeyError {
    fn classify(&self) -> Classification {
        use ErrorClass::{Invalid, Unavailable};
        match self {
            KeyError::NoRandomness { .. } => Unavailable.code("invalid_key"),
            _ => Invalid.code("invalid_key"),
        }
    }
}

/// Demands that a name is allowed in a signed note.
fn check_name(name: &str) -> Result<(), KeyError> {
    let allowed = signed_note::is_key_name_valid(name)
        && name.len() <= NAME_BYTES
        && !name.chars().any(char::is_control);
    if allowed {
        return Ok(());
    }
    Err(KeyError::Name {
        name: name.chars().take(NAME_BYTES).collect(),
    })
}

/// Random bytes that were drawn before: a key follows from them.
struct Drawn(Zeroizing<[u8; 32]>);

impl RngCore for Drawn {
    fn next_u32(&mut self) -> u32 {
        rand_core::impls::next_u32_via_fill(self)
    }

    fn next_u64(&mut self) -> u64 {
        rand_core::impls::next_u64_via_fill(self)
    }

    fn fill_bytes(&mut self, dest: &mut [u8]) {
        for (to, from) in dest.iter_mut().zip(self.0.iter().cycle()) {
            *to = *from;
        }
    }

    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), rand_core::Error> {
        self.fill_bytes(dest);
        Ok(())
    }
}

impl CryptoRng for Drawn {}

/// A private key. Its holder can sign in its name; it is shown only by
/// [`SigningKey::to_text`]. Its bytes are overwritten in memory when it is dropped.
#[derive(Clone)]
pub struct SigningKey {
    text: Zeroizing<String>,
    signer: StandardSigner,
    public: PublicKey,
}

impl SigningKey {
    /// Makes a new key.
    ///
    /// # Errors
    /// [`KeyError::Name`] and [`KeyError::NoRandomness`].
    pub fn generate(name: &str) -> Result<SigningKey, KeyError> {
        check_name(name)?;
        let mut seed = Zeroizing::new([0; 32]);
        OsRng
            .try_fill_bytes(seed.as_mut_slice())
            .map_err(|error| KeyError::NoRandomness {
                reason: error.to_string(),
            })?;
        SigningKey::of_seed(name, seed)
    }

    fn of_seed(name: &str, seed: Zeroizing<[u8; 32]>) -> Result<SigningKey, KeyError> {
        let (text, public) = signed_note::generate_key(&mut Drawn(seed), name);
        let text = Zeroizing::new(text);
        let signer = StandardSigner::new(&text).map_err(|_| KeyError::NotPrivate)?;
        let public = PublicKey::read(&public)?;
        Ok(SigningKey {
            text,
            signer,
            public,
        })
    }

    /// Reads a private key, as [`SigningKey::to_text`] writes it.
    ///
    /// # Errors
    /// [`KeyError::NotPrivate`].
    pub fn read(text: &str) -> Result<SigningKey, KeyError> {
        let text = text.trim();
        let signer = StandardSigner::new(text).map_err(|_| KeyError::NotPrivate)?;
        check_name(signer.name())?;
        // The public key follows from the seed, which comes after one byte. Base64 text may
        // have plus signs too.
        let key = text.splitn(5, '+').last().ok_or(KeyError::NotPrivate)?;
        let key = BASE64_STANDARD.decode(key);
        let key = Zeroizing::new(key.map_err(|_| KeyError::NotPrivate)?);
        let seed = key.get(1..).and_then(|seed| seed.try_into().ok());
        let seed = Zeroizing::new(seed.ok_or(KeyError::NotPrivate)?);
        SigningKey::of_seed(signer.name(), seed)
    }

    /// The key as a file holds it: one line, without its end. Keep it secret.
    pub fn to_text(&self) -> &str {
        &self.text
    }

    /// What its signatures are checked with.
    pub fn public_key(&self) -> PublicKey {
        self.public.clone()
    }

    pub(super) fn signer(&self) -> &StandardSigner {
        &self.signer
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey")
            .field("public", &self.public)
            .finish_non_exhaustive()
    }
}

/// A public key: name, number and key, one line of text.
#[derive(Clone)]
pub struct PublicKey {
    text: String,
    /// The key itself, which can be written in more than one way.
    bytes: [u8; 32],
    verifier: StandardVerifier,
}

impl PublicKey {
    /// Reads one public key, as [`PublicKey::to_text`] writes it.
    ///
    /// # Errors
    /// [`KeyError::NotPublic`], [`KeyError::Private`] and [`KeyError::Weak`].
    pub fn read(text: &str) -> Result<PublicKey, KeyError> {
        let text = text.trim();
        if text.starts_with("PRIVATE+KEY+") {
            return Err(KeyError::Private);
        }
        let verifier = StandardVerifier::new(text).map_err(|_| KeyError::NotPublic)?;
        check_name(verifier.name())?;
        let bytes = public_bytes(text).ok_or(KeyError::NotPublic)?;
        if is_weak(bytes) {
            let name = verifier.name().to_owned();
            return Err(KeyError::Weak { name });
        }
        Ok(PublicKey {
            text: text.to_owned(),
            bytes,
            verifier,
        })
    }

    /// Reads a file of public keys, one a line.
    ///
    /// # Errors
    /// [`KeyError::NotPublic`], also if there is none, [`KeyError::Private`] and
    /// [`KeyError::Weak`].
    pub fn read_all(text: &str) -> Result<Vec<PublicKey>, KeyError> {
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let keys: Vec<PublicKey> = lines.map(PublicKey::read).collect::<Result<_, _>>()?;
        if keys.is_empty() {
            return Err(KeyError::NotPublic);
        }
        Ok(keys)
    }

    /// The key as a file holds it: one line, without its end.
    pub fn to_text(&self) -> &str {
        &self.text
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.verifier.name()
    }

    /// Its number: four bytes of a digest over name and key, which signatures begin
    /// with.
    pub fn id(&self) -> u32 {
        self.verifier.key_id()
    }

    pub(super) fn has_signed(&self, text: &[u8], signature: &[u8]) -> bool {
        self.verifier.verify(text, signature)
    }
}

/// The key of a line `name+id+key`, behind the byte that says of which kind it is.
fn public_bytes(text: &str) -> Option<[u8; 32]> {
    // Base64 text may have plus signs too.
    let key = BASE64_STANDARD.decode(text.splitn(3, '+').last()?).ok()?;
    key.get(1..)?.try_into().ok()
}

/// Whether a key is of small order.
fn is_weak(mut key: [u8; 32]) -> bool {
    let [.., last] = &mut key;
    *last &= !SIGN;
    WEAK_KEYS.contains(&hex::encode(key).as_str())
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &PublicKey) -> bool {
        self.name() == other.name() && self.bytes == other.bytes
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("PublicKey").field(&self.text).finish()
    }
}
