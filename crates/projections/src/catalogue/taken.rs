//! Which ids may be taken, in memory of a fixed size.
//!
//! Every new object asks whether its id is taken. While rows are rebuilt,
//! the rebuild knows all of them, so that most of these questions need
//! no store: what was never put into this filter (a Bloom filter) is not there.
//! It is sized for a few million objects; with more of them it says "perhaps"
//! more often, and the store is asked.

use uuid::Uuid;

/// Bits of the filter: 8 MiB.
const BITS: u64 = 1 << 26;
/// Bits that are set for an id.
const PROBES: u64 = 4;

/// Ids that may be taken.
pub(super) struct Taken(Vec<u64>);

impl Taken {
    pub(super) fn new() -> Taken {
        Taken(vec![0; (BITS / 64) as usize])
    }

    pub(super) fn insert(&mut self, id: Uuid) {
        for bit in bits(id) {
            if let Some(word) = self.0.get_mut((bit / 64) as usize) {
                *word |= 1 << (bit % 64);
            }
        }
    }

    /// Whether an id may have been put in; `false` is certain.
    pub(super) fn may_have(&self, id: Uuid) -> bool {
        bits(id).all(|bit| {
            let word = self.0.get((bit / 64) as usize);
            word.is_some_and(|word| word & (1 << (bit % 64)) != 0)
        })
    }
}

/// The places of an id's bits: a first one, and steps of one size from there.
fn bits(id: Uuid) -> impl Iterator<Item = u64> {
    let (a, b) = id.as_u64_pair();
    // Ids need not be random: mix every bit of them into both numbers.
    let first = mix(a ^ mix(b));
    let step = mix(first ^ b) | 1;
    (0..PROBES).map(move |n| first.wrapping_add(n.wrapping_mul(step)) % BITS)
}

/// The finaliser of splitmix64.
fn mix(mut x: u64) -> u64 {
    x ^= x >> 30;
    x = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^= x >> 27;
    x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_in_is_there_and_little_else() {
        let id = |n: u32| Uuid::from_u128(0x0198_c0de_0000_7000_8000 << 48 | u128::from(n));
        let mut taken = Taken::new();
        (0..100_000).for_each(|n| taken.insert(id(n)));
        assert!((0..100_000).all(|n| taken.may_have(id(n))));
        let others = 100_000..200_000;
        let wrong = others.filter(|n| taken.may_have(id(*n))).count();
        assert!(wrong < 100, "{wrong}");
    }
}
