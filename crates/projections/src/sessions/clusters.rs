//! The times at which something happened, as clusters between which nothing did for 10 minutes.

use annals_domain::Timestamp;
use serde::{Deserialize, Serialize};

/// The longest gap between two events that counts as activity, in milliseconds.
const GAP: i64 = 10 * 60 * 1_000;
/// Clusters of one session that are kept; of more, the oldest two become a sum.
const CLUSTERS: usize = 2_048;

/// Clusters of times, in order. The sum of their lengths is the sum of all gaps of up to 10 minutes, in whatever order
/// the times came.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Clusters {
    /// The first and the last time of each, in milliseconds since 1970.
    clusters: Vec<(i64, i64)>,
    /// The length of clusters that are not kept.
    older_ms: u64,
}

impl Clusters {
    /// Adds a time.
    pub(super) fn add(&mut self, time: Timestamp) {
        let at = time.to_utc().timestamp_millis();
        self.join(at, at);
    }

    /// Adds all times of others.
    pub(super) fn merge(&mut self, other: Clusters) {
        self.older_ms = self.older_ms.saturating_add(other.older_ms);
        for (first, last) in other.clusters {
            self.join(first, last);
        }
    }

    /// The sum of all gaps of up to 10 minutes, in milliseconds.
    pub(super) fn active_ms(&self) -> u64 {
        let lengths = self.clusters.iter();
        let lengths = lengths.map(|(first, last)| last.abs_diff(*first));
        lengths.fold(self.older_ms, u64::saturating_add)
    }

    fn join(&mut self, mut first: i64, mut last: i64) {
        // Those before it, and those behind it; what is between is near.
        let is_before = |it: &(i64, i64)| it.1 < first.saturating_sub(GAP);
        let from = self.clusters.partition_point(is_before);
        let is_near = |it: &(i64, i64)| it.0 <= last.saturating_add(GAP);
        let near = self.clusters.get(from..).unwrap_or_default();
        let to = from + near.partition_point(is_near);
        for (begun, ended) in self.clusters.get(from..to).unwrap_or_default() {
            first = first.min(*begun);
            last = last.max(*ended);
        }
        self.clusters.splice(from..to, [(first, last)]);
        if self.clusters.len() > CLUSTERS {
            let (begun, ended) = self.clusters.remove(0);
            self.older_ms = self.older_ms.saturating_add(ended.abs_diff(begun));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        chrono::DateTime::from_timestamp(seconds, 0).map_or(Timestamp::EPOCH, Timestamp::from)
    }

    fn active(times: &[i64]) -> u64 {
        let mut clusters = Clusters::default();
        times.iter().for_each(|time| clusters.add(at(*time)));
        clusters.active_ms() / 1_000
    }

    #[test]
    fn gaps_of_up_to_ten_minutes_are_active_in_any_order() {
        assert_eq!(active(&[]), 0);
        assert_eq!(active(&[5]), 0);
        assert_eq!(active(&[0, 600, 1_201, 1_300]), 600 + 99);
        assert_eq!(active(&[1_300, 0, 1_201, 600]), 600 + 99);
        // A time between two clusters joins them.
        assert_eq!(active(&[0, 1_000, 500]), 1_000);
        let times: Vec<i64> = (0..3_000).map(|n| n * 10_000).collect();
        assert_eq!(active(&times), 0);
    }
}
