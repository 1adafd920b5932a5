//! An object's adoption in events: one, or several where its lists are long.
//!
//! A structure holds at most 64 KiB and an event 10,000 pieces, so lists are
//! cut well below both.

/// Bytes of structure that the lists of one event may take.
const BYTES: usize = 32 * 1024;
/// Items of all lists of one event; few have more than five pieces.
const ITEMS: usize = 1_000;

/// Cuts a list into what each event gets of it. There is always a first part.
///
/// `cost` is how many bytes an item takes in the structure at most.
pub(super) fn cut<T>(items: Vec<T>, cost: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for item in items {
        let more = cost(&item);
        let full = parts
            .last()
            .is_some_and(|part: &Vec<T>| part.len() == ITEMS || bytes + more > BYTES);
        if full && bytes > 0 {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += more;
        if let Some(part) = parts.last_mut() {
            part.push(item);
        }
    }
    parts
}

/// The longest of the lists that are in one event, however long they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Longest {
    pub(super) field: String,
    pub(super) entries: usize,
}

impl Longest {
    /// Looks at a list.
    pub(super) fn see<T>(&mut self, list: &[T], field: impl Fn() -> String) {
        if list.len() > self.entries {
            self.entries = list.len();
            self.field = field();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_cut_by_items_and_by_bytes() {
        let lengths = |items: usize, cost: usize| -> Vec<usize> {
            let parts = cut(vec![(); items], |()| cost);
            parts.iter().map(Vec::len).collect()
        };
        assert_eq!(lengths(0, 10), [0]);
        assert_eq!(lengths(4_001, 10), [1_000, 1_000, 1_000, 1_000, 1]);
        assert_eq!(lengths(3, BYTES / 2), [2, 1]);
        // An item that is too large is alone in its event, and is refused as such.
        assert_eq!(lengths(2, BYTES + 1), [1, 1]);
    }
}
