//! The two lines of a page between which a program writes. What people write is around them and
//! stays as it is.

/// Where a program's part of a page begins, and where it ends: lines of their own.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    /// The line above the part.
    pub begin: &'static str,
    /// The line below it.
    pub end: &'static str,
}

/// Why a page was not written.
#[derive(Debug, thiserror::Error)]
#[error("invalid page: expected one line {begin:?} and, below it, one line {end:?}")]
pub struct PageError {
    begin: &'static str,
    end: &'static str,
}

impl Marks {
    /// The page with another part between these marks.
    ///
    /// # Errors
    /// When it has not one place for it.
    pub fn with(self, page: &str, part: &str) -> Result<String, PageError> {
        let Marks { begin, end } = self;
        let (before, rest) = self.split(page, begin)?;
        let (_, after) = self.split(rest, end)?;
        let part = part.trim();
        Ok(format!("{before}{begin}\n\n{part}\n\n{end}{after}"))
    }

    /// What is before a mark and what is behind it, where it is there once.
    fn split<'a>(self, text: &'a str, mark: &str) -> Result<(&'a str, &'a str), PageError> {
        let Marks { begin, end } = self;
        match text.split_once(mark) {
            Some((before, after)) if !after.contains(mark) => Ok((before, after)),
            _ => Err(PageError { begin, end }),
        }
    }
}
