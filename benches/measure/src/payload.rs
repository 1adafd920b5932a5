//! Payloads that do not compress, the same in every run and for every store.

/// What texts are made of: their bytes are letters of JSON as they are.
const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// What is around the text of a document.
const DOCUMENT: [&str; 2] = ["{\"payload\":\"", "\"}"];

/// Pseudo-random numbers: SplitMix64, which is fast compared with everything that is measured.
#[derive(Debug, Clone)]
pub struct Numbers(u64);

impl Numbers {
    /// The same seed gives the same numbers.
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    /// The next number.
    pub fn next_number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// The next one that is less than `end`; 0 if that is 0.
    pub fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next_number() % end).unwrap_or(0)
    }

    /// The next payload.
    pub fn payload(&mut self, bytes: usize) -> Vec<u8> {
        let mut payload = vec![0; bytes];
        for part in payload.chunks_mut(8) {
            let number = self.next_number().to_le_bytes();
            let (number, _) = number.split_at(part.len());
            part.copy_from_slice(number);
        }
        payload
    }

    /// The next payload as JSON of so many bytes, for stores that take nothing else: at least those of
    /// an empty text.
    pub fn document(&mut self, bytes: usize) -> String {
        let [before, after] = DOCUMENT;
        let text = self.payload(bytes.saturating_sub(before.len() + after.len()));
        let letter = |byte: u8| LETTERS.get(usize::from(byte & 63)).copied();
        let letters = text.into_iter().filter_map(letter).map(char::from);
        let mut document = String::with_capacity(bytes);
        document.push_str(before);
        document.extend(letters);
        document.push_str(after);
        document
    }
}

/// What was read: how many payloads, and a sum for which each must have been looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Touched {
    /// Payloads.
    pub events: u64,
    /// The sum of their lengths, first and last bytes.
    pub sum: u64,
}

impl Touched {
    /// Counts a payload, and reads both of its ends.
    pub fn touch(&mut self, payload: &[u8]) {
        self.events += 1;
        let ends = [payload.first(), payload.last()];
        let ends: u64 = ends.into_iter().flatten().copied().map(u64::from).sum();
        self.sum = self.sum.wrapping_add(payload.len() as u64 + ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_have_their_length_and_repeat_with_their_seed() {
        for bytes in [0, 1, 8, 100, 300, 2_000, 2_003] {
            let payload = Numbers::new(7).payload(bytes);
            assert_eq!(payload.len(), bytes);
            assert_eq!(payload, Numbers::new(7).payload(bytes));
        }
        assert_ne!(Numbers::new(7).payload(8), Numbers::new(8).payload(8));
    }

    #[test]
    fn documents_are_json_of_their_length() {
        for bytes in [14, 15, 300, 2_000] {
            let document = Numbers::new(7).document(bytes);
            assert_eq!(document.len(), bytes);
            let read: serde_json::Value = serde_json::from_str(&document).unwrap();
            assert_eq!(read["payload"].as_str().unwrap().len(), bytes - 14);
        }
        assert_eq!(Numbers::new(7).document(0), "{\"payload\":\"\"}");
        assert_ne!(Numbers::new(7).document(300), Numbers::new(8).document(300));
    }

    /// Those of the algorithm's public reference, for the seed 0.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut numbers = Numbers::new(0);
        assert_eq!(numbers.next_number(), 0xE220_A839_7B1D_CDAF);
        assert_eq!(numbers.next_number(), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn a_payload_that_differs_at_an_end_has_another_sum() {
        let sum = |payload: &[u8]| {
            let mut touched = Touched::default();
            touched.touch(payload);
            touched
        };
        let expected = Touched {
            events: 1,
            sum: 3 + 1 + 3,
        };
        assert_eq!(sum(&[1, 2, 3]), expected);
        assert_ne!(sum(&[2, 2, 3]), expected);
        assert_ne!(sum(&[1, 2, 4]), expected);
        assert_eq!(sum(&[]).sum, 0);
    }
}
