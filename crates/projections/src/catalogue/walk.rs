//! Walking through lists of objects in the order in which they were created,
//! and through what several lists have in common.

use std::collections::VecDeque;

use annals_event_log::Direction;
use bytes::Bytes;
use uuid::Uuid;

use super::CatalogueError;
use super::keys;
use super::overlay_view::OverlayView;

/// Rows that are read at once.
const PAGE: usize = 256;

/// An object in a list: the position of its first event, and its id.
pub(super) type Listed = (u64, Uuid);

/// A walk through the union of some lists. Each is the rows behind one prefix,
/// in whose keys the position of the object follows the prefix.
pub(super) struct Walk {
    lists: Vec<List>,
    direction: Direction,
    /// How many of a position's last bits the keys leave out. Where they do,
    /// the walk goes through blocks of positions and not through objects.
    bits: u32,
}

struct List {
    prefix: Bytes,
    /// Behind this key the next page begins; `None` at the beginning.
    cursor: Option<Bytes>,
    read: VecDeque<Listed>,
    is_read: bool,
}

impl Walk {
    /// A walk that begins behind a position in its direction, or at the end
    /// where it comes from.
    pub(super) fn new(
        prefixes: impl IntoIterator<Item = Bytes>,
        direction: Direction,
        after: Option<u64>,
    ) -> Walk {
        let list = |prefix: Bytes| List {
            prefix,
            cursor: None,
            read: VecDeque::new(),
            is_read: false,
        };
        let mut walk = Walk {
            lists: prefixes.into_iter().map(list).collect(),
            direction,
            bits: 0,
        };
        if let Some(after) = after {
            match direction {
                Direction::Forward => walk.skip_to(after.saturating_add(1)),
                Direction::Backward => walk.skip_to(after.saturating_sub(1)),
            }
        }
        walk
    }

    /// A walk through the blocks that have objects of an actor. It must not be
    /// the first one of several.
    pub(super) fn of_blocks(prefix: Bytes, direction: Direction) -> Walk {
        Walk {
            bits: keys::BLOCK_BITS,
            ..Walk::new([prefix], direction, None)
        }
    }

    /// Leaves out everything before a position.
    fn skip_to(&mut self, position: u64) {
        let direction = self.direction;
        let position = position >> self.bits;
        for list in &mut self.lists {
            let before = |listed: &Listed| is_before(listed.0, position, direction);
            while list.read.front().is_some_and(before) {
                list.read.pop_front();
            }
            if list.read.is_empty() && !list.is_read {
                list.cursor = cursor_to(&list.prefix, position, direction);
            }
        }
    }

    /// The next object, which stays the next one.
    async fn peek(&mut self, view: &OverlayView<'_>) -> Result<Option<Listed>, CatalogueError> {
        for list in &mut self.lists {
            list.fill(view, self.direction).await?;
        }
        let fronts = self.lists.iter().filter_map(|list| list.read.front());
        let fronts = fronts.copied();
        Ok(match self.direction {
            Direction::Forward => fronts.min(),
            Direction::Backward => fronts.max(),
        })
    }
}

impl Walk {
    /// The first position of what was found, in the walk's direction.
    fn begins(&self, found: u64) -> u64 {
        let first = found << self.bits;
        match self.direction {
            Direction::Forward => first,
            Direction::Backward => first | ((1 << self.bits) - 1),
        }
    }
}

impl List {
    async fn fill(
        &mut self,
        view: &OverlayView<'_>,
        direction: Direction,
    ) -> Result<(), CatalogueError> {
        if !self.read.is_empty() || self.is_read {
            return Ok(());
        }
        let cursor = self.cursor.as_deref();
        let page = view.scan(&self.prefix, cursor, direction, PAGE).await?;
        self.is_read = page.len() < PAGE;
        for (key, value) in &page {
            let malformed = || CatalogueError::malformed(key);
            let position = keys::position_in(key, &self.prefix).ok_or_else(malformed)?;
            let id = match value.as_ref() {
                // A block has no id.
                [] => Uuid::nil(),
                id => Uuid::from_slice(id).map_err(|_| malformed())?,
            };
            self.read.push_back((position, id));
        }
        if let Some((key, _)) = page.last() {
            self.cursor = Some(key.clone());
        }
        Ok(())
    }
}

/// The next object that all walks have in common; none of them gives it again.
pub(super) async fn next_of_all(
    walks: &mut [Walk],
    view: &OverlayView<'_>,
) -> Result<Option<Listed>, CatalogueError> {
    let Some((first, others)) = walks.split_first_mut() else {
        return Ok(None);
    };
    'candidates: loop {
        let Some((position, id)) = first.peek(view).await? else {
            return Ok(None);
        };
        for other in &mut *others {
            other.skip_to(position);
            match other.peek(view).await? {
                None => return Ok(None),
                Some((found, _)) if found == position >> other.bits => {}
                Some((found, _)) => {
                    first.skip_to(other.begins(found));
                    continue 'candidates;
                }
            }
        }
        match first.direction {
            Direction::Forward => first.skip_to(position.saturating_add(1)),
            Direction::Backward => first.skip_to(position.saturating_sub(1)),
        }
        return Ok(Some((position, id)));
    }
}

fn is_before(position: u64, other: u64, direction: Direction) -> bool {
    match direction {
        Direction::Forward => position < other,
        Direction::Backward => position > other,
    }
}

/// The key behind which the rows of a list from `position` on begin. Positions
/// of objects count from 1, and behind a position at most four bytes follow.
fn cursor_to(prefix: &Bytes, position: u64, direction: Direction) -> Option<Bytes> {
    match direction {
        Direction::Forward => {
            let before = keys::listed(prefix, position.checked_sub(1)?);
            Some([before.as_ref(), &[0xff; 5]].concat().into())
        }
        Direction::Backward => Some(keys::listed(prefix, position.saturating_add(1))),
    }
}
