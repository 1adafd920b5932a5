//! Frame numbers as ranges.

use std::fmt;

use serde::Serialize;

use crate::FrameId;

/// Frame numbers in the order in which they were added, consecutive ones as one
/// range that includes both ends. As JSON it is a list of pairs.
///
/// ```
/// use annals_domain::FrameId;
/// use annals_domain::pipeline::FrameRanges;
/// let ranges: FrameRanges = [0, 1, 2, 5].map(FrameId).into_iter().collect();
/// assert_eq!(ranges.to_string(), "0-2, 5");
/// assert_eq!(serde_json::to_string(&ranges)?, "[[0,2],[5,5]]");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct FrameRanges(Vec<(FrameId, FrameId)>);

impl FrameRanges {
    /// All numbers below one.
    pub fn below(next: FrameId) -> FrameRanges {
        let last = next.0.checked_sub(1).map(FrameId);
        FrameRanges(last.map(|last| (FrameId(0), last)).into_iter().collect())
    }

    /// Adds a number; where it follows the last one, to its range.
    pub fn push(&mut self, id: FrameId) {
        match self.0.last_mut() {
            Some((_, last)) if last.0.checked_add(1) == Some(id.0) => *last = id,
            _ => self.0.push((id, id)),
        }
    }

    /// Whether there is no number.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges.
    pub fn as_slice(&self) -> &[(FrameId, FrameId)] {
        &self.0
    }
}

impl FromIterator<FrameId> for FrameRanges {
    fn from_iter<I: IntoIterator<Item = FrameId>>(ids: I) -> FrameRanges {
        let mut ranges = FrameRanges::default();
        ids.into_iter().for_each(|id| ranges.push(id));
        ranges
    }
}

impl fmt::Display for FrameRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (first, last)) in self.0.iter().enumerate() {
            let comma = if index == 0 { "" } else { ", " };
            if first == last {
                write!(f, "{comma}{first}")?;
            } else {
                write!(f, "{comma}{first}-{last}")?;
            }
        }
        Ok(())
    }
}
