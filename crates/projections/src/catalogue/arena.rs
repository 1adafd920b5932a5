//! Many short byte strings in few pieces of memory.
//!
//! The rows of a batch are made by one thread and dropped by another. One piece
//! of memory for each of them would cost both threads more than the rows do.

use bytes::{Bytes, BytesMut};

/// How many bytes are allocated at once.
const CHUNK: usize = 256 * 1024;

/// Where byte strings are copied to. A chunk goes when all that is in it is
/// gone.
#[derive(Debug, Clone, Default)]
pub(super) struct Arena(BytesMut);

impl Arena {
    /// The same bytes, in the arena.
    pub(super) fn copy(&mut self, bytes: &[u8]) -> Bytes {
        if self.0.capacity() < bytes.len() {
            self.0 = BytesMut::with_capacity(CHUNK.max(bytes.len()));
        }
        self.0.extend_from_slice(bytes);
        self.0.split().freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_stay_as_they_are() {
        let mut arena = Arena::default();
        let strings: Vec<Vec<u8>> = (0..2_000_u32)
            .map(|n| n.to_be_bytes().repeat(n as usize % 100))
            .chain([vec![7; 2 * CHUNK], Vec::new(), vec![8]])
            .collect();
        let copies: Vec<Bytes> = strings.iter().map(|string| arena.copy(string)).collect();
        assert_eq!(copies, strings);
    }
}
