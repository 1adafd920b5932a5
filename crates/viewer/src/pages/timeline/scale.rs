//! From times to places: pauses in which nothing happened take little room, and say how long they were.

/// A pause of this many milliseconds or more may be shortened.
const PAUSE: i64 = 60_000;
/// The share of the whole width that a shortened pause takes, and the most that all of them take.
const SHARE: f64 = 0.015;
const ALL: f64 = 0.30;

/// A stretch of time in which something happened, and where it is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Stretch {
    start: i64,
    end: i64,
    /// Where it begins, as a share of the width, and how wide a millisecond is.
    place: f64,
    width: f64,
}

/// A pause that is drawn shorter than it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pause {
    /// Where it is, as a share of the width.
    pub(super) place: f64,
    pub(super) width: f64,
    /// How long it was, in milliseconds.
    pub(super) took: u64,
}

/// Where times are drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scale {
    stretches: Vec<Stretch>,
    pub(super) pauses: Vec<Pause>,
}

#[allow(clippy::cast_precision_loss, reason = "places on a screen")]
fn share(part: i64, whole: i64) -> f64 {
    part as f64 / whole.max(1) as f64
}

impl Scale {
    /// Of spans of time, in the order in which they begin.
    pub(super) fn of(spans: &[(i64, i64)]) -> Scale {
        let mut merged: Vec<(i64, i64)> = Vec::new();
        for (start, end) in spans {
            match merged.last_mut() {
                Some(last) if *start <= last.1.saturating_add(PAUSE) => last.1 = last.1.max(*end),
                _ => merged.push((*start, (*end).max(*start))),
            }
        }
        let busy: i64 = merged.iter().map(|(start, end)| end - start).sum();
        let gaps = merged.len().saturating_sub(1);
        #[allow(clippy::cast_precision_loss, reason = "a few pauses")]
        let gap = if gaps == 0 {
            0.0
        } else {
            SHARE.min(ALL / gaps as f64)
        };
        #[allow(clippy::cast_precision_loss, reason = "a few pauses")]
        let left = 1.0 - gap * gaps as f64;
        let mut scale = Scale {
            stretches: Vec::new(),
            pauses: Vec::new(),
        };
        let mut place = 0.0;
        for (index, (start, end)) in merged.iter().enumerate() {
            if let Some(before) = index.checked_sub(1).and_then(|before| merged.get(before)) {
                let took = u64::try_from(start - before.1).unwrap_or(0);
                let width = gap;
                scale.pauses.push(Pause { place, width, took });
                place += gap;
            }
            let width = match busy {
                // Only moments: each has as much room.
                0 => left / share(i64::try_from(merged.len()).unwrap_or(1), 1),
                busy => left * share(end - start, busy),
            };
            scale.stretches.push(Stretch {
                start: *start,
                end: *end,
                place,
                width,
            });
            place += width;
        }
        scale
    }

    /// Where a time is drawn, as a share of the width.
    pub(super) fn place(&self, time: i64) -> f64 {
        let after = self
            .stretches
            .partition_point(|stretch| stretch.start <= time);
        let Some(stretch) = after.checked_sub(1).and_then(|at| self.stretches.get(at)) else {
            return 0.0;
        };
        let within = time.min(stretch.end) - stretch.start;
        stretch.place + stretch.width * share(within, stretch.end - stretch.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 1e-9
    }

    #[test]
    fn times_lie_in_their_order_within_the_width() {
        let hour = 3_600_000;
        let spans = [
            (0, 1_000),
            (500, 4_000),
            (hour, hour + 6_000),
            (2 * hour, 2 * hour),
        ];
        let scale = Scale::of(&spans);
        assert_eq!(scale.pauses.len(), 2);
        assert_eq!(scale.pauses[0].took, 3_600_000 - 4_000);
        let places = [0, 500, 4_000, hour, hour + 6_000, 2 * hour].map(|time| scale.place(time));
        assert!(is(places[0], 0.0));
        assert!(
            places.windows(2).all(|pair| pair[0] <= pair[1]),
            "{places:?}"
        );
        assert!(
            places.iter().all(|place| (0.0..=1.0).contains(place)),
            "{places:?}"
        );
        // A pause is short, and the rest in proportion.
        assert!(is(places[3] - places[2], SHARE));
        let (first, second) = (places[2] - places[0], places[4] - places[3]);
        assert!((second / first - 1.5).abs() < 1e-6, "{first} {second}");
    }

    #[test]
    fn one_moment_has_a_place() {
        let scale = Scale::of(&[(7, 7)]);
        assert!(is(scale.place(7), 0.0) && is(scale.place(0), 0.0));
        assert!(is(Scale::of(&[]).place(3), 0.0));
    }

    #[test]
    fn very_many_pauses_leave_room_for_the_rest() {
        let spans: Vec<(i64, i64)> = (0..1_000)
            .map(|n| (n * 100_000, n * 100_000 + 10))
            .collect();
        let scale = Scale::of(&spans);
        let pauses: f64 = scale.pauses.iter().map(|pause| pause.width).sum();
        assert!(pauses <= ALL + 1e-9, "{pauses}");
        assert!(scale.place(i64::MAX) <= 1.0 + 1e-9);
    }
}
