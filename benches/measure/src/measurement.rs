//! The measurements by name.

use std::fmt;
use std::str::FromStr;

use crate::workload::UnknownName;

/// What a store's program is asked to do, each time in a new process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Measurement {
    /// So many clients append one event at a time.
    Append(usize),
    /// One client appends batches of so many events.
    Batch(usize),
    /// So many clients append one event at a time, each on the condition that the stream did not
    /// move.
    Conditional(usize),
    /// Makes the large log that the next two look at, and says how large it is.
    Fill,
    /// Opens the large log, reads all of it and single streams, with and without its pages in
    /// memory.
    Read,
    /// Appends to the large log.
    Grown,
}

use Measurement::{Append, Batch, Conditional, Fill, Grown, Read};

impl Measurement {
    /// All, in the order in which they run.
    pub const ALL: [Measurement; 11] = [
        Append(1),
        Append(16),
        Append(64),
        Batch(10),
        Batch(100),
        Batch(1_000),
        Conditional(1),
        Conditional(64),
        Fill,
        Read,
        Grown,
    ];

    /// Whether it needs the large log of the same round.
    pub fn is_of_the_filled_log(self) -> bool {
        matches!(self, Fill | Read | Grown)
    }
}

impl fmt::Display for Measurement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Append(clients) => write!(f, "append-{clients}"),
            Batch(events) => write!(f, "batch-{events}"),
            Conditional(clients) => write!(f, "conditional-{clients}"),
            Fill => f.write_str("fill"),
            Read => f.write_str("read"),
            Grown => f.write_str("grown"),
        }
    }
}

impl FromStr for Measurement {
    type Err = UnknownName;

    fn from_str(name: &str) -> Result<Measurement, UnknownName> {
        let mut all = Measurement::ALL.into_iter();
        all.find(|measurement| measurement.to_string() == name)
            .ok_or_else(|| UnknownName::new(name, Measurement::ALL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measurement_has_a_name_of_its_own() {
        for measurement in Measurement::ALL {
            let name = measurement.to_string();
            assert_eq!(name.parse::<Measurement>().unwrap(), measurement);
        }
        assert!("append-2".parse::<Measurement>().is_err());
    }
}
