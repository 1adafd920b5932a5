//! A cursor in rows of which a part is shown.

use std::ops::Range;

/// Where it is, and which row is at the top.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) at: usize,
    top: usize,
}

impl Cursor {
    pub(crate) fn up(&mut self, rows: usize) {
        self.at = self.at.saturating_sub(rows);
    }

    pub(crate) fn down(&mut self, rows: usize, len: usize) {
        self.at = self.at.saturating_add(rows).min(len.saturating_sub(1));
    }

    /// Puts it on a row, and within the rows.
    pub(crate) fn put(&mut self, at: usize, len: usize) {
        self.at = at.min(len.saturating_sub(1));
    }

    /// The rows that are shown; the one with the cursor is among them.
    pub(crate) fn shown(&mut self, len: usize, height: usize) -> Range<usize> {
        self.at = self.at.min(len.saturating_sub(1));
        let height = height.max(1);
        self.top = self.top.min(len.saturating_sub(height)).min(self.at);
        self.top = self.top.max((self.at + 1).saturating_sub(height));
        self.top..(self.top + height).min(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_of_the_cursor_is_always_shown() {
        let mut cursor = Cursor::default();
        assert_eq!(cursor.shown(0, 10), 0..0);
        assert_eq!(cursor.shown(100, 10), 0..10);
        cursor.down(10, 100);
        assert_eq!(cursor.shown(100, 10), 1..11);
        cursor.up(5);
        assert_eq!(cursor.shown(100, 10), 1..11);
        cursor.put(usize::MAX, 100);
        assert_eq!((cursor.at, cursor.shown(100, 10)), (99, 90..100));
        assert_eq!(cursor.shown(3, 10), 0..3);
        assert_eq!((cursor.at, cursor.shown(3, 0)), (2, 2..3));
    }
}
