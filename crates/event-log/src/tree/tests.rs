//! The tree against the published vectors and against RFC 6962's own definition.

#![allow(clippy::unwrap_used)]

use std::collections::HashMap;

use proptest::prelude::*;

use super::*;

/// The inputs and the roots of the first 0 to 8 of them that implementations of
/// RFC 6962 are tested with.
const INPUTS: [&str; 8] = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
];
const ROOTS: [&str; 9] = [
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
];

/// RFC 6962, section 2.1, word by word.
fn definition(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => empty(),
        [only] => *only,
        leaves => {
            let half = leaves.len().next_power_of_two() / 2;
            let (left, right) = leaves.split_at(half);
            node(definition(left), definition(right))
        }
    }
}

fn leaves(count: usize) -> Vec<Digest> {
    (0..count).map(|n| leaf(&n.to_be_bytes())).collect()
}

#[test]
fn the_published_vectors() {
    let mut frontier = Frontier::default();
    assert_eq!(frontier.root().to_string(), ROOTS[0]);
    for (input, root) in INPUTS.iter().zip(&ROOTS[1..]) {
        frontier.push(leaf(&hex::decode(input).unwrap()), |_| {});
        assert_eq!(frontier.root().to_string(), **root);
    }
}

#[test]
fn every_size_has_the_root_of_the_definition() {
    let leaves = leaves(700);
    let mut frontier = Frontier::default();
    for (size, leaf) in leaves.iter().enumerate() {
        assert_eq!(frontier.root(), definition(&leaves[..size]), "{size}");
        frontier.push(*leaf, |_| {});
    }
    assert_eq!(frontier.size(), 700);
}

#[test]
fn each_hash_of_every_eighth_level_is_kept_once() {
    let count = (1 << 16) + 700;
    let leaves = leaves(count);
    let (mut frontier, mut kept) = (Frontier::default(), HashMap::new());
    for leaf in &leaves {
        frontier.push(*leaf, |it| {
            assert_eq!(kept.insert((it.level, it.index), it.hash), None);
        });
    }
    assert_eq!(kept.len(), count + (count >> 8) + (count >> 16));
    for ((level, index), hash) in kept {
        let (first, width) = ((index << level) as usize, 1_usize << level);
        assert_eq!(hash, definition(&leaves[first..first + width]));
    }
}

proptest! {
    #[test]
    fn a_frontier_goes_on_where_it_was_written(before in 0_usize..600, after in 0_usize..300) {
        let leaves = leaves(before + after);
        let mut whole = Frontier::default();
        let mut part = Frontier::default();
        leaves[..before].iter().for_each(|leaf| part.push(*leaf, |_| {}));
        let bytes = part.encode();
        let mut part = Frontier::decode(&bytes).unwrap();
        leaves[before..].iter().for_each(|leaf| part.push(*leaf, |_| {}));
        leaves.iter().for_each(|leaf| whole.push(*leaf, |_| {}));
        prop_assert_eq!(&part, &whole);
        // Nothing that is shorter or longer is one.
        prop_assert_eq!(Frontier::decode(&bytes[..bytes.len() - 1]), None);
        prop_assert_eq!(Frontier::decode(&[&bytes[..], &[0; 32]].concat()), None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A frontier, and what is kept, are the same however the leaves come.
    #[test]
    fn leaves_together_make_the_tree_of_leaves_one_by_one(
        counts in proptest::collection::vec(0..700_usize, 1..5),
    ) {
        let (mut one_by_one, mut expected) = (Frontier::default(), Vec::new());
        let (mut together, mut kept) = (Frontier::default(), Vec::new());
        for count in counts {
            let mut headers = Headers::default();
            for n in 0..count {
                let header = [&n.to_be_bytes()[..], &vec![7; n % 300]].concat();
                headers.push(&header);
                one_by_one.push(leaf(&header), |it| expected.push(it));
            }
            prop_assert_eq!(headers.len(), count);
            together.extend(&headers.leaves(), |it| kept.push(it));
            prop_assert!(headers.is_empty());
            prop_assert_eq!(&together, &one_by_one);
        }
        let sorted = |mut kept: Vec<Kept>| {
            kept.sort_by_key(|kept| (kept.level, kept.index));
            kept
        };
        prop_assert_eq!(sorted(kept), sorted(expected));
    }
}
