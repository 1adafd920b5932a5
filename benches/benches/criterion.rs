//! The same operations under criterion, for watching changes over time.
//!
//! `cargo bench -p annals-benches --bench criterion`

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a benchmark that fails may stop"
)]

use annals_benches::{batch, directory, log, payloads, raw, raw_batch, scan, stream, synced};
use annals_event_log::EventLog;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use futures::executor::block_on;

fn appends(c: &mut Criterion) {
    let mut group = c.benchmark_group("append");
    group.sample_size(20);
    for size in [1_usize, 10, 100, 1_000] {
        group.throughput(Throughput::Elements(size as u64));
        let payloads = payloads(size);
        let directory = directory().unwrap();
        let log = log(&directory).unwrap();
        let stream = stream(0);
        let mut version = 0;
        group.bench_function(BenchmarkId::new("log", size), |b| {
            b.iter(|| {
                block_on(log.append(batch(&stream, version, &payloads))).unwrap();
                version += size as u64;
            });
        });
        let db = raw(&directory).unwrap();
        let mut key = 0;
        group.bench_function(BenchmarkId::new("raw", size), |b| {
            b.iter(|| {
                db.write_opt(raw_batch(key, &payloads), &synced()).unwrap();
                key += size as u64;
            });
        });
    }
    group.finish();
}

fn reads(c: &mut Criterion) {
    const COUNT: u64 = 50_000;
    let directory = directory().unwrap();
    let log = log(&directory).unwrap();
    let db = raw(&directory).unwrap();
    let payloads = payloads(1_000);
    for done in (0..COUNT).step_by(1_000) {
        block_on(log.append(batch(&stream(0), done, &payloads))).unwrap();
        db.write_opt(raw_batch(done, &payloads), &synced()).unwrap();
    }
    let mut group = c.benchmark_group("read");
    group.sample_size(20);
    group.throughput(Throughput::Elements(COUNT));
    group.bench_function("log", |b| b.iter(|| block_on(scan(&log)).unwrap()));
    group.bench_function("raw", |b| {
        b.iter(|| db.iterator(rocksdb::IteratorMode::Start).count())
    });
    group.finish();
}

criterion_group!(benches, appends, reads);
criterion_main!(benches);
