//! In which direction a search goes, and the next row that it finds.

/// In which direction a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Steps {
    /// Down, beginning with the row that it is on: while it is being typed.
    Here,
    Forward,
    Back,
}

impl Steps {
    pub(crate) fn is_forward(self) -> bool {
        self != Steps::Back
    }

    /// The first row in this direction that fits.
    pub(crate) fn find(
        self,
        from: usize,
        len: usize,
        fits: impl Fn(usize) -> bool,
    ) -> Option<usize> {
        match self {
            Steps::Here => (from..len).find(|at| fits(*at)),
            Steps::Forward => (from.saturating_add(1)..len).find(|at| fits(*at)),
            Steps::Back => (0..from.min(len)).rev().find(|at| fits(*at)),
        }
    }
}
