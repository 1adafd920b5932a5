//! The Merkle tree hash as RFC 6962, section 2.1, defines it: recursively, and
//! sharing nothing with the stores' way of keeping it but SHA-256.

use annals_event_log::Digest;

/// `MTH({d})`: the hash of a leaf.
pub(crate) fn leaf(header: &[u8]) -> Digest {
    let mut message = vec![0x00];
    message.extend_from_slice(header);
    Digest::of(&message)
}

fn node(left: Digest, right: Digest) -> Digest {
    let mut message = vec![0x01];
    message.extend_from_slice(&left.0);
    message.extend_from_slice(&right.0);
    Digest::of(&message)
}

/// `MTH(D[n])` over the hashes of the leaves: that of nothing for none, and else
/// the node over the largest power of two below `n` and the rest.
pub(crate) fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => Digest::of(b""),
        [leaf] => *leaf,
        leaves => {
            let half = leaves.len().next_power_of_two() / 2;
            let (left, right) = leaves.split_at(half);
            node(root(left), root(right))
        }
    }
}

/// The hashes of the complete subtrees of a level: each over `1 << level` leaves.
pub(crate) fn level(leaves: &[Digest], level: u8) -> Vec<Digest> {
    match 1_usize.checked_shl(level.into()) {
        Some(width) => leaves.chunks_exact(width).map(root).collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use annals_event_log::tree;

    #[test]
    fn the_definition_and_the_stores_tree_agree() {
        let headers: Vec<Vec<u8>> = (0..70_u8).map(|n| vec![n; usize::from(n)]).collect();
        let leaves: Vec<Digest> = headers.iter().map(|header| leaf(header)).collect();
        let mut frontier = tree::Frontier::default();
        assert_eq!(root(&[]), tree::empty());
        for (size, header) in (1..).zip(&headers) {
            frontier.push(tree::leaf(header), |_| {});
            assert_eq!(root(&leaves[..size]), frontier.root(), "{size} leaves");
        }
        assert_eq!(level(&leaves, 6), [root(&leaves[..64])]);
        assert_eq!(level(&leaves, 63), []);
    }
}
