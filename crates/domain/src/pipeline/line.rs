//! Frames in the order in which they came, found by their place in it.
//!
//! A window loses frames at its old end, behind the protected ones, and gains
//! them at its new one. The line is cut into short chunks below an ordered map:
//! adding, finding and removing cost O(log n) wherever the frame is, and a
//! frame takes little more memory than it is large.

use std::collections::{BTreeMap, VecDeque, btree_map};
use std::iter::Flatten;

/// Frames of a chunk, at most.
const CHUNK: usize = 64;

/// What is in a line, in ascending order of places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line<V> {
    /// No chunk is empty. Its key is at or below its first place, and above
    /// every place of the chunk before.
    chunks: BTreeMap<u64, VecDeque<(u64, V)>>,
    len: usize,
}

impl<V> Line<V> {
    pub(super) fn new() -> Line<V> {
        Line {
            chunks: BTreeMap::new(),
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts something at the end. `place` is above every other place.
    pub(super) fn push(&mut self, place: u64, value: V) {
        self.len += 1;
        if let Some(mut last) = self.chunks.last_entry()
            && last.get().len() < CHUNK
        {
            last.get_mut().push_back((place, value));
            return;
        }
        self.chunks.insert(place, VecDeque::from([(place, value)]));
    }

    pub(super) fn get(&self, place: u64) -> Option<&V> {
        let (_, chunk) = self.chunks.range(..=place).next_back()?;
        let index = chunk.binary_search_by_key(&place, |(at, _)| *at).ok()?;
        chunk.get(index).map(|(_, value)| value)
    }

    pub(super) fn get_mut(&mut self, place: u64) -> Option<&mut V> {
        let (_, chunk) = self.chunks.range_mut(..=place).next_back()?;
        let index = chunk.binary_search_by_key(&place, |(at, _)| *at).ok()?;
        chunk.get_mut(index).map(|(_, value)| value)
    }

    pub(super) fn remove(&mut self, place: u64) -> Option<V> {
        let (key, chunk) = self.chunks.range_mut(..=place).next_back()?;
        let index = chunk.binary_search_by_key(&place, |(at, _)| *at).ok()?;
        let (_, value) = chunk.remove(index)?;
        self.len -= 1;
        if chunk.is_empty() {
            let key = *key;
            self.chunks.remove(&key);
        } else if chunk.len() * 4 <= chunk.capacity() {
            chunk.shrink_to(chunk.len() * 2);
        }
        Some(value)
    }

    pub(super) fn iter(&self) -> Iter<'_, V> {
        Iter {
            chunks: self.chunks.values().flatten(),
            left: self.len,
        }
    }
}

/// Places and what is at them, in order.
pub(super) struct Iter<'a, V> {
    chunks: Flatten<btree_map::Values<'a, u64, VecDeque<(u64, V)>>>,
    left: usize,
}

impl<'a, V> Iterator for Iter<'a, V> {
    type Item = (u64, &'a V);

    fn next(&mut self) -> Option<(u64, &'a V)> {
        let (place, value) = self.chunks.next()?;
        self.left = self.left.saturating_sub(1);
        Some((*place, value))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<V> DoubleEndedIterator for Iter<'_, V> {
    fn next_back(&mut self) -> Option<Self::Item> {
        let (place, value) = self.chunks.next_back()?;
        self.left = self.left.saturating_sub(1);
        Some((*place, value))
    }
}

impl<V> ExactSizeIterator for Iter<'_, V> {}
