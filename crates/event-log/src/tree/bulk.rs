//! SHA-256 of many short messages.
//!
//! A writer makes two such hashes for every record, of a few blocks each. A hasher that
//! can be fed piece by piece spends as long on its buffers as on hashing a block. Here
//! messages are put into whole blocks with their padding (FIPS 180-4, section 5.1.1),
//! many of them before the first is hashed: a processor stalls where it reads what it
//! has just written. Then the library's compression function is called once for each.
//! That function expects a message that is already padded; the tests compare every length
//! with another library. Where the processor has no instructions for it, that library,
//! which has the faster code, does everything.

use sha2_next::block_api::compress256;

use crate::Digest;

/// The state that every message begins with (FIPS 180-4, section 5.3.3).
const INITIAL: [u32; 8] = [
    0x6a09_e667,
    0xbb67_ae85,
    0x3c6e_f372,
    0xa54f_f53a,
    0x510e_527f,
    0x9b05_688c,
    0x1f83_d9ab,
    0x5be0_cd19,
];

/// Bytes of a block.
const BLOCK: usize = 64;

/// What follows a message in its last blocks, at least: a bit that ends it, and its
/// length in bits.
const PADDING: usize = 1 + size_of::<u64>();

/// Whether the processor has instructions for SHA-256, which [`compress256`] then
/// uses.
fn is_in_hardware() -> bool {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    return std::arch::is_x86_feature_detected!("sha");
    #[cfg(target_arch = "aarch64")]
    return std::arch::is_aarch64_feature_detected!("sha2");
    #[cfg(not(any(target_arch = "x86", target_arch = "x86_64", target_arch = "aarch64")))]
    return false;
}

/// Messages in whole blocks, one behind the other.
#[derive(Debug, Default)]
pub(super) struct Messages {
    blocks: Vec<[u8; BLOCK]>,
    lengths: Vec<usize>,
}

impl Messages {
    /// No messages, with room for so many of this length.
    pub(super) fn with_room(count: usize, length: usize) -> Messages {
        Messages {
            blocks: Vec::with_capacity(count * blocks(length)),
            lengths: Vec::with_capacity(count),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.lengths.len()
    }

    /// Bytes of their blocks.
    pub(super) fn bytes(&self) -> usize {
        self.blocks.len() * BLOCK
    }

    /// Adds a message of several parts.
    pub(super) fn push(&mut self, parts: &[&[u8]]) {
        let length = parts.iter().map(|part| part.len()).sum();
        let first = self.blocks.len();
        self.blocks.resize(first + blocks(length), [0; BLOCK]);
        self.lengths.push(length);
        let message = self.blocks.get_mut(first..).unwrap_or_default();
        let message = message.as_flattened_mut();
        let mut at = 0;
        for part in parts {
            if let Some(place) = message.get_mut(at..at + part.len()) {
                place.copy_from_slice(part);
            }
            at += part.len();
        }
        if let Some(place) = message.get_mut(length) {
            *place = 0x80;
        }
        if let Some(bits) = message.last_chunk_mut() {
            *bits = (length as u64 * 8).to_be_bytes();
        }
    }

    /// Takes all messages away; the memory of so many bytes is kept, at most.
    pub(super) fn clear(&mut self, most: usize) {
        self.blocks.clear();
        self.blocks.shrink_to(most / BLOCK);
        self.lengths.clear();
        self.lengths.shrink_to(most / BLOCK);
    }

    /// Their digests.
    pub(super) fn digests(&self) -> impl Iterator<Item = Digest> {
        let digest = match is_in_hardware() {
            true => compressed,
            false => hashed,
        };
        let mut rest = self.blocks.as_slice();
        self.lengths.iter().map_while(move |length| {
            let message = rest.split_off(..blocks(*length))?;
            Some(digest(message, *length))
        })
    }
}

/// How many blocks a message of this length takes.
fn blocks(length: usize) -> usize {
    (length + PADDING).div_ceil(BLOCK)
}

fn compressed(message: &[[u8; BLOCK]], _: usize) -> Digest {
    let mut state = INITIAL;
    compress256(&mut state, message);
    let mut digest = [0; 32];
    for (word, state) in digest.as_chunks_mut().0.iter_mut().zip(state) {
        *word = state.to_be_bytes();
    }
    Digest(digest)
}

fn hashed(message: &[[u8; BLOCK]], length: usize) -> Digest {
    Digest::of(message.as_flattened().get(..length).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_every_length_have_the_digest_of_the_other_library() {
        let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(500).collect();
        let mut messages = Messages::default();
        for _ in 0..2 {
            for length in 0..bytes.len() {
                let (first, second) = bytes[..length].split_at(length / 3);
                messages.push(&[first, second]);
            }
            assert_eq!(messages.len(), bytes.len());
            for (length, digest) in messages.digests().enumerate() {
                assert_eq!(digest, Digest::of(&bytes[..length]), "{length} bytes");
            }
            let mut rest = messages.blocks.as_slice();
            for length in &messages.lengths {
                let message = rest.split_off(..blocks(*length)).unwrap();
                assert_eq!(compressed(message, *length), hashed(message, *length));
            }
            messages.clear(1_000);
            assert_eq!((messages.len(), messages.digests().count()), (0, 0));
        }
    }
}
