//! Opens the large log and reads it, without its pages in memory and with them.

use std::time::{Duration, Instant};

use super::{MeasureError, Open, check};
use crate::disk;
use crate::payload::{Numbers, Touched};
use crate::results::{Figure, Line};
use crate::statistics::percentile_us;
use crate::store::Store;
use crate::workload::{STREAM_EVENTS, Workload};

/// Streams that are read, and those before them that do not count.
const STREAM_READS: usize = 400;
const STREAM_WARM_UPS: usize = 20;

/// Where streams are slow, fewer of them are read.
const STREAM_TIME: Duration = Duration::from_secs(20);

/// All reads.
pub(super) fn read(open: &Open<'_>, workload: &Workload) -> Result<Vec<Line>, MeasureError> {
    let events = (workload.filled_streams() * STREAM_EVENTS) as u64;
    let cold = disk::make_cold(&workload.folder)?;
    let (store, opened) = opened(open, workload)?;
    let (read_cold, scan_cold) = scan(store.as_ref())?;
    check("events of a cold scan", events, read_cold.events)?;
    store.close()?;
    let mut figures = vec![
        Figure::new("open cold", opened),
        Figure::new("scan cold", scan_cold),
    ];

    let (store, opened) = self::opened(open, workload)?;
    // The first one fills the store's own caches.
    let (read_first, _) = scan(store.as_ref())?;
    let (read_warm, scan_warm) = scan(store.as_ref())?;
    for read in [read_first, read_warm] {
        check("the sum of a warm scan", read_cold.sum, read.sum)?;
    }
    figures.push(Figure::new("open warm", opened));
    figures.push(Figure::new("scan warm", scan_warm));
    figures.extend(streams(store.as_ref(), workload.filled_streams())?);
    store.close()?;
    let figures = figures.into_iter().map(Line::Figure);
    Ok(figures.chain([Line::Cold(cold)]).collect())
}

/// Opens, until it says how much it has; in milliseconds.
fn opened(open: &Open<'_>, workload: &Workload) -> Result<(Box<dyn Store>, f64), MeasureError> {
    let start = Instant::now();
    let store = open(&workload.folder)?;
    store.events()?;
    let time = start.elapsed();
    Ok((store, time.as_secs_f64() * 1e3))
}

/// Everything, in events a second.
fn scan(store: &dyn Store) -> Result<(Touched, f64), MeasureError> {
    let mut touched = Touched::default();
    let start = Instant::now();
    store.scan(&mut |payload| touched.touch(payload))?;
    let seconds = start.elapsed().as_secs_f64();
    Ok((touched, touched.events as f64 / seconds))
}

/// One stream after another, in no order, as aggregates are loaded; in microseconds.
fn streams(store: &dyn Store, streams: usize) -> Result<Vec<Figure>, MeasureError> {
    let mut numbers = Numbers::new(2);
    let mut times = Vec::with_capacity(STREAM_READS);
    let start = Instant::now();
    for turn in 0..STREAM_WARM_UPS + STREAM_READS {
        let stream = numbers.below(streams);
        let mut touched = Touched::default();
        let begun = Instant::now();
        store.read_stream(stream, &mut |payload| touched.touch(payload))?;
        let time = begun.elapsed();
        check("events of a stream", STREAM_EVENTS as u64, touched.events)?;
        if turn >= STREAM_WARM_UPS {
            times.push(time);
        }
        if start.elapsed() > STREAM_TIME && !times.is_empty() {
            break;
        }
    }
    let figure = |(name, percent)| {
        let us = percentile_us(&mut times, percent);
        us.map(|us| Figure::new(name, us))
    };
    let figures = [("stream p50", 50), ("stream p99", 99)];
    Ok(figures.into_iter().filter_map(figure).collect())
}
