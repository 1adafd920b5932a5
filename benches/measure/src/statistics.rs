//! Medians and percentiles.

use std::time::Duration;

/// The value in the middle; the mean of the two in the middle of an even number of values, and
/// nothing of none.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let upper = *sorted.get(sorted.len() / 2)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *sorted.get(sorted.len() / 2 - 1)?;
    Some(f64::midpoint(lower, upper))
}

/// The time that `percent` of a hundred do not exceed, by the nearest rank, in microseconds;
/// nothing of no times.
pub fn percentile_us(times: &mut [Duration], percent: usize) -> Option<f64> {
    times.sort_unstable();
    let rank = (times.len() * percent).div_ceil(100).max(1);
    times.get(rank - 1).map(|time| time.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_in_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 3.0]), Some(3.0));
        assert_eq!(median(&[4.0, 1.0, 9.0, 2.0]), Some(3.0));
    }

    #[test]
    fn a_percentile_is_a_time_that_was_measured() {
        let us = |times: &[u64], percent| {
            let mut times: Vec<_> = times.iter().copied().map(Duration::from_micros).collect();
            percentile_us(&mut times, percent).map(f64::round)
        };
        let hundred: Vec<u64> = (1..=100).rev().collect();
        assert_eq!(us(&hundred, 50), Some(50.0));
        assert_eq!(us(&hundred, 99), Some(99.0));
        assert_eq!(us(&hundred, 100), Some(100.0));
        assert_eq!(us(&hundred, 0), Some(1.0));
        assert_eq!(us(&[7], 99), Some(7.0));
        assert_eq!(us(&[1, 2], 99), Some(2.0));
        assert_eq!(us(&[], 50), None);
    }
}
