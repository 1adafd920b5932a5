//! Changed inputs: what a fuzzer without coverage can do in the time of a test.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

/// Pieces that parsers look for.
const WORDS: [&str; 24] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "\n",
    "\r\n",
    "\0",
    ":",
    "-",
    "---\n",
    "&a",
    "*a",
    "null",
    "true",
    "1e999",
    "-1",
    "18446744073709551616",
    "\u{feff}",
    "\u{202e}",
    "../",
];
/// Bytes of an input, at most: tests are to be fast.
const MOST: usize = 16 * 1024;

/// A source of changed inputs: the same seed gives the same ones.
#[derive(Debug)]
pub struct Mutator(StdRng);

impl Mutator {
    /// A source with a seed.
    pub fn new(seed: u64) -> Mutator {
        Mutator(StdRng::seed_from_u64(seed))
    }

    /// One of the seeds, changed in some places.
    pub fn changed(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut input = self.one_of(seeds);
        for _ in 0..self.0.random_range(1..=4) {
            self.change(&mut input, seeds);
        }
        input.truncate(MOST);
        input
    }

    fn one_of(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        match seeds.len() {
            0 => Vec::new(),
            count => seeds
                .get(self.0.random_range(0..count))
                .cloned()
                .unwrap_or_default(),
        }
    }

    fn change(&mut self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        let at = self.0.random_range(0..=input.len());
        let end = (at + self.0.random_range(1..=16)).min(input.len());
        match self.0.random_range(0..7) {
            0 => input.truncate(at),
            1 => drop(input.drain(at..end)),
            2 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << self.0.random_range(0..8);
                }
            }
            3 => {
                if let Some(byte) = input.get_mut(at) {
                    *byte = [0, 1, 0x7f, 0x80, 0xff][self.0.random_range(0..5)];
                }
            }
            4 => {
                let word = WORDS[self.0.random_range(0..WORDS.len())];
                input.splice(at..at, word.bytes());
            }
            5 => {
                let piece = input.get(at..end).unwrap_or_default().to_vec();
                let again = self.0.random_range(1..=40);
                input.splice(at..at, piece.repeat(again));
            }
            _ => {
                let other = self.one_of(seeds);
                let from = self.0.random_range(0..=other.len());
                input.truncate(at);
                input.extend(other.get(from..).unwrap_or_default());
            }
        }
    }
}
