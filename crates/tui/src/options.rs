//! What the terminal view begins with.

/// What is shown first, and how.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Options {
    /// The object, as commands take one; otherwise the lists.
    pub object: Option<String>,
    /// How the log is called at the top.
    pub log: String,
    /// Whether colours are wanted.
    pub is_coloured: bool,
}
