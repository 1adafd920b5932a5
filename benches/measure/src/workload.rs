//! In which order events go to streams, and how much is done.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Streams that appends go to. A log that is filled has as many as give each
/// [`STREAM_EVENTS`].
pub const STREAMS: usize = 1_000;

/// Events of each stream of a log that is filled, and of each batch that fills it.
pub const STREAM_EVENTS: usize = 1_000;

/// In which order events go to streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Every event goes to the next stream, as with many aggregates that are alive at once.
    Interleaved,
    /// Every batch goes to the next stream, so a stream's events lie together.
    Runs,
}

impl Layout {
    /// Both.
    pub const ALL: [Layout; 2] = [Layout::Interleaved, Layout::Runs];

    /// The stream of an event, by the number of its batch and its place there.
    pub fn stream(self, batch: usize, batch_events: usize, place: usize, streams: usize) -> usize {
        let turn = match self {
            Layout::Interleaved => batch * batch_events + place,
            Layout::Runs => batch,
        };
        turn % streams.max(1)
    }

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Layout::Interleaved => "interleaved",
            Layout::Runs => "runs",
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layout {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Layout, UnknownName> {
        let found = Layout::ALL.into_iter().find(|layout| layout.name() == name);
        found.ok_or_else(|| UnknownName::new(name, Layout::ALL))
    }
}

/// A name that means nothing here.
#[derive(Debug, thiserror::Error)]
#[error("unknown name {name:?}: expected one of {}", expected.join(", "))]
pub struct UnknownName {
    /// What was found.
    pub name: String,
    /// What there is.
    pub expected: Vec<String>,
}

impl UnknownName {
    /// A name that is none of these.
    pub fn new(name: &str, expected: impl IntoIterator<Item = impl fmt::Display>) -> UnknownName {
        UnknownName {
            name: name.to_owned(),
            expected: expected.into_iter().map(|name| name.to_string()).collect(),
        }
    }
}

/// How much of a measurement is done, and where.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Bytes of a payload.
    pub payload_bytes: usize,
    /// In which order events go to streams.
    pub layout: Layout,
    /// How long clients append before it counts.
    pub warm_up: Duration,
    /// How long they append then.
    pub time: Duration,
    /// Events of a log that is filled.
    pub events: usize,
    /// The store's folder.
    pub folder: PathBuf,
}

impl Workload {
    /// Streams of a log that is filled.
    pub fn filled_streams(&self) -> usize {
        (self.events / STREAM_EVENTS).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_interleaved_or_in_runs() {
        let streams = |layout: Layout| -> Vec<usize> {
            let places = (0..2).flat_map(|batch| (0..3).map(move |place| (batch, place)));
            let stream = |(batch, place)| layout.stream(batch, 3, place, 4);
            places.map(stream).collect()
        };
        assert_eq!(streams(Layout::Interleaved), [0, 1, 2, 3, 0, 1]);
        assert_eq!(streams(Layout::Runs), [0, 0, 0, 1, 1, 1]);
    }

    #[test]
    fn an_unknown_name_is_refused_with_those_that_there_are() {
        assert_eq!("runs".parse::<Layout>().unwrap(), Layout::Runs);
        let error = "run".parse::<Layout>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown name \"run\": expected one of interleaved, runs"
        );
    }
}
