//! Tables that are printed while they are still growing.

use annals::projections::CallLine;
use annals_terminal::{columns, fit};
use comfy_table::presets::NOTHING;
use comfy_table::{Attribute, Cell, CellAlignment, ColumnConstraint, Table, Width};

/// Characters of a cell; the rest is in the JSON.
const MAX_CELL: usize = 300;
/// Columns of the terminal that the last cell has at least, however narrow the terminal is.
const LEAST_ROOM: usize = 20;
/// Spaces between two cells.
const PADDING: usize = 2;

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    /// The least width, so that the columns of all pages are aligned.
    pub(crate) width: u16,
    pub(crate) right: bool,
    /// The columns that a terminal must have for it to be shown there.
    screen: usize,
}

impl Column {
    pub(crate) const fn left(title: &'static str, width: u16) -> Column {
        Column {
            title,
            width,
            right: false,
            screen: 0,
        }
    }

    pub(crate) const fn right(title: &'static str, width: u16) -> Column {
        Column {
            title,
            width,
            right: true,
            screen: 0,
        }
    }

    /// The same, left out on terminals of fewer columns.
    pub(crate) const fn if_as_wide_as(self, columns: usize) -> Column {
        Column {
            screen: columns,
            ..self
        }
    }
}

/// A row of a table.
#[derive(Debug)]
pub(crate) struct Row<const N: usize> {
    cells: [String; N],
    /// The last cell in three parts, of which the middle one is cut where it is too wide.
    last: Option<[String; 3]>,
    /// A line before it.
    above: Option<String>,
    /// Lines behind it.
    below: Vec<String>,
    /// The last cell is not cut, unless a terminal has no room for it.
    is_whole: bool,
}

impl<const N: usize> From<[String; N]> for Row<N> {
    fn from(cells: [String; N]) -> Row<N> {
        Row {
            cells,
            last: None,
            above: None,
            below: Vec::new(),
            is_whole: false,
        }
    }
}

impl<const N: usize> Row<N> {
    /// The same with a tool call in its last cell.
    pub(crate) fn with_call(self, call: Option<&CallLine>) -> Row<N> {
        let parts = call.map(|call| [call.head(), call.what().to_owned(), call.tail()]);
        Row {
            last: parts.or(self.last),
            ..self
        }
    }

    /// The same with the whole text in its last cell.
    pub(crate) fn whole(self) -> Row<N> {
        Row {
            is_whole: true,
            ..self
        }
    }

    /// The same with a line before it.
    pub(crate) fn with_line_above(self, above: Option<String>) -> Row<N> {
        Row { above, ..self }
    }

    /// The same with lines behind it.
    pub(crate) fn with_lines_below(self, below: Vec<String>) -> Row<N> {
        Row { below, ..self }
    }

    /// The last cell, no wider than there is room.
    fn last(&self, room: Option<usize>) -> String {
        let text = self.cells.last().map(String::as_str).unwrap_or_default();
        match (&self.last, room) {
            (Some([before, middle, behind]), Some(room)) => fit(before, middle, behind, room),
            (Some([before, middle, behind]), None) => fit(before, middle, behind, MAX_CELL),
            (None, Some(room)) => fit("", &cell(text), "", room),
            (None, None) if self.is_whole => {
                annals_terminal::line(&text.replace(['\n', '\t'], " ")).into_owned()
            }
            (None, None) => cell(text),
        }
    }
}

/// A table that is printed page by page, under one header.
pub(crate) struct Rows<const N: usize> {
    columns: [Column; N],
    begun: bool,
}

impl<const N: usize> Rows<N> {
    pub(crate) fn new(columns: [Column; N]) -> Rows<N> {
        Rows {
            columns,
            begun: false,
        }
    }

    /// The lines of more rows, for a screen of so many columns where there is one.
    pub(super) fn lines(
        &mut self,
        rows: Vec<Row<N>>,
        screen: Option<usize>,
        styled: bool,
    ) -> Vec<String> {
        if rows.is_empty() && self.begun {
            return Vec::new();
        }
        let shown = self
            .columns
            .map(|it| screen.is_none_or(|screen| screen >= it.screen));
        let room = screen.map(|screen| self.room(&rows, shown, screen));
        let mut table = Table::new();
        table.load_style(NOTHING).force_no_tty();
        if styled {
            table.enforce_styling();
        }
        let kept = |index: &usize| shown.get(*index).copied().unwrap_or(true);
        if !self.begun {
            let title = |column: &Column| Cell::new(column.title).add_attribute(Attribute::Bold);
            let titles = self
                .columns
                .iter()
                .enumerate()
                .filter(|(index, _)| kept(index));
            table.set_header(
                titles
                    .map(|(_, column)| title(column))
                    .collect::<Vec<Cell>>(),
            );
        }
        for row in &rows {
            let cells = row
                .cells
                .iter()
                .enumerate()
                .filter(|(index, _)| kept(index));
            let cells = cells.map(|(index, text)| match index + 1 == N {
                true => row.last(room),
                false => cell(text),
            });
            table.add_row(cells.map(Cell::new).collect::<Vec<Cell>>());
        }
        if table.is_empty() {
            return Vec::new();
        }
        let columns = self
            .columns
            .iter()
            .enumerate()
            .filter(|(index, _)| kept(index));
        let columns: Vec<Column> = columns.map(|(_, column)| *column).collect();
        let least = columns.iter().map(|column| Width::Fixed(column.width));
        table.set_constraints(least.map(ColumnConstraint::LowerBoundary));
        for (column, shown) in columns.iter().zip(table.column_iter_mut()) {
            shown.set_padding((0, 2));
            if column.right {
                shown.set_cell_alignment(CellAlignment::Right);
            }
        }
        let mut lines = table.lines().map(|line| line.trim_end().to_owned());
        let header = if self.begun { None } else { lines.next() };
        self.begun = true;
        let mut all: Vec<String> = header.into_iter().collect();
        for (row, line) in rows.into_iter().zip(lines) {
            all.extend(row.above);
            all.push(line);
            all.extend(row.below);
        }
        all
    }

    /// The room for the last cell, beside those before it, which stay as wide from now on.
    fn room(&mut self, rows: &[Row<N>], shown: [bool; N], screen: usize) -> usize {
        let mut taken = 0;
        for (index, (column, shown)) in self.columns.iter_mut().zip(shown).enumerate() {
            if index + 1 == N || !shown {
                continue;
            }
            let cells = rows.iter().filter_map(|row| row.cells.get(index));
            let widest = cells.map(|text| columns(&cell(text))).max().unwrap_or(0);
            // A column's least width is that of its cells with what is between them.
            let width = widest.max(column.title.len()) + PADDING;
            let width = width.max(usize::from(column.width));
            column.width = u16::try_from(width).unwrap_or(column.width);
            taken += width;
        }
        screen.saturating_sub(taken).max(LEAST_ROOM)
    }
}

/// A text as it fits into a cell: one line, not too long, nothing hidden, so that it is as wide as
/// it will be printed.
fn cell(text: &str) -> String {
    let mut cut: String = text.chars().take(MAX_CELL).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    annals_terminal::line(&cut.replace(['\n', '\t'], " ")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Rows<3> {
        Rows::new([
            Column::right("N", 3),
            Column::left("WHO", 4).if_as_wide_as(40),
            Column::left("WHAT", 4),
        ])
    }

    fn row(what: &str) -> Row<3> {
        Row::from(["1".to_owned(), "ada".to_owned(), what.to_owned()])
    }

    #[test]
    fn a_cell_is_one_short_line() {
        assert_eq!(cell("two\nlines"), "two lines");
        assert_eq!(cell(&"x".repeat(400)).chars().count(), MAX_CELL + 1);
    }

    #[test]
    fn a_table_is_no_wider_than_the_screen() {
        let long = "x".repeat(50);
        let lines = |screen| table().lines(vec![row(&long)], screen, false);
        assert_eq!(lines(None), ["N  WHO  WHAT", &format!("1  ada  {long}")]);
        assert_eq!(
            lines(Some(40)),
            ["N  WHO  WHAT", &format!("1  ada  {}…", "x".repeat(31))]
        );
        assert_eq!(
            lines(Some(30)),
            ["N  WHAT", &format!("1  {}…", "x".repeat(26))]
        );
        // A narrower one breaks lines, rather than that nothing is told.
        assert_eq!(
            lines(Some(10)),
            ["N  WHAT", &format!("1  {}…", "x".repeat(19))]
        );
    }

    #[test]
    fn the_middle_of_a_call_is_cut_first() {
        let call = CallLine::new(
            "Edit",
            Some(r#"{"path":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","old_str":"x","new_str":"y"}"#),
        );
        let row = row("unused").with_call(Some(&call));
        let lines = table().lines(vec![row], Some(30), false);
        assert_eq!(
            lines.last().map(String::as_str),
            Some("1  Edit aaaaaaaaaaaaaaa… +1 -1")
        );
    }

    #[test]
    fn lines_around_rows_stay_with_them() {
        let mut table = table();
        let first = row("a").with_line_above(Some("above".to_owned()));
        let second = row("b").with_lines_below(vec!["below".to_owned()]);
        let lines = table.lines(vec![first, second], Some(30), false);
        assert_eq!(lines, ["N  WHAT", "above", "1  a", "1  b", "below"]);
        assert_eq!(table.lines(Vec::new(), None, false), Vec::<String>::new());
        assert_eq!(table.lines(vec![row("c")], None, false), ["1  ada  c"]);
    }
}
