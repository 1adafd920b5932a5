//! Where a diff's text goes: a buffer with a limit.

/// Collects a text up to a limit. Beyond it the text is given up, whole, and
/// its memory freed; half a diff is of no use.
#[derive(Debug)]
pub(crate) struct Sink {
    text: Option<Vec<u8>>,
    limit: usize,
}

impl Sink {
    pub(crate) fn new(limit: usize) -> Sink {
        Sink {
            text: Some(Vec::new()),
            limit,
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        if !self.has_room(bytes.len()) {
            self.text = None;
        }
        if let Some(text) = &mut self.text {
            text.extend_from_slice(bytes);
        }
    }

    /// Whether there is room for so many bytes more.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        let text = self.text.as_ref();
        text.is_some_and(|text| text.len().saturating_add(bytes) <= self.limit)
    }

    /// Whether the text was given up.
    pub(crate) fn is_full(&self) -> bool {
        self.text.is_none()
    }

    /// How long the text is.
    pub(crate) fn len(&self) -> usize {
        self.text.as_ref().map_or(0, Vec::len)
    }

    /// The text from an offset on; nothing, if it was given up.
    pub(crate) fn from(&self, offset: usize) -> &[u8] {
        let text = self.text.as_deref().unwrap_or_default();
        text.get(offset..).unwrap_or_default()
    }

    /// The text, unless it was given up.
    pub(crate) fn into_bytes(mut self) -> Option<Vec<u8>> {
        // A text that grew has room for twice as much.
        self.text.as_mut().map(Vec::shrink_to_fit);
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_over_the_limit_is_given_up() {
        let mut sink = Sink::new(4);
        sink.write(b"1234");
        assert!(!sink.is_full());
        sink.write(b"5");
        assert!(sink.is_full());
        sink.write(b"");
        assert_eq!(sink.into_bytes(), None);
    }
}
