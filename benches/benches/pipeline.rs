//! The context pipeline: pushes into a full window compared with git-internal's own
//! algorithm, frames made durable in a long pipeline and in a new one, and a
//! long history under other policies. It prints each number next to its target.
//!
//! `cargo bench --workspace --bench pipeline`; `ANNALS_FRAMES`
//! sets how long the history is (1,000,000).

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a benchmark that fails may stop, and it prints its results"
)]

use std::collections::BTreeMap;
use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use annals::domain::pipeline::{
    CreatePipeline, Created, Event, EvictionPolicy, FrameKind, FramePushed, FramesUsed, PushFrame,
    Window,
};
use annals::domain::{
    ActorRef, AnyEvent, Emitted, FrameId, Pieces, PipelineId, PlanId, StreamKind, StreamRef,
    Timestamp,
};
use annals::wire::{Envelope, encode};
use annals::{Annals, Request};
use annals_benches::{directory, median, program, setting};
use annals_event_log::{Append, Store};
use annals_testkit::process::PeakMemory;
use bytes::Bytes;
use futures::executor::block_on;
use uuid::Uuid;

/// A frame's summary.
const SUMMARY: usize = 200;

/// A frame as git-internal has it.
struct Frame {
    #[expect(dead_code, reason = "it is there for its size")]
    data: Option<serde_json::Value>,
    kind: FrameKind,
    summary: String,
    #[expect(dead_code, reason = "it is there for its size")]
    created_at: Timestamp,
    token_estimate: Option<u64>,
}

impl Frame {
    fn new(kind: FrameKind) -> Frame {
        Frame {
            data: None,
            kind,
            summary: "x".repeat(SUMMARY),
            created_at: Timestamp::EPOCH,
            token_estimate: Some(50),
        }
    }
}

/// git-internal's algorithm: a list, a scan, a removal.
struct Plain {
    frames: Vec<(u64, Frame)>,
    next: u64,
    max_frames: usize,
}

impl Plain {
    fn push(&mut self, frame: Frame) {
        self.frames.push((self.next, frame));
        self.next += 1;
        while self.frames.len() > self.max_frames {
            let evictable = |(_, frame): &(u64, Frame)| {
                frame.kind != FrameKind::Checkpoint && frame.kind != FrameKind::IntentAnalysis
            };
            match self.frames.iter().position(evictable) {
                Some(oldest) => drop(self.frames.remove(oldest)),
                None => break,
            }
        }
    }
}

/// The frame at this place of a window of which a tenth is protected.
fn kind(n: usize) -> FrameKind {
    if n.is_multiple_of(10) {
        FrameKind::Checkpoint
    } else {
        FrameKind::ToolCall
    }
}

/// The median time of one push into a full window, over batches of pushes.
fn per_push(batches: usize, pushes: usize, mut push: impl FnMut()) -> f64 {
    let batch = |_| {
        let start = Instant::now();
        (0..pushes).for_each(|_| push());
        start.elapsed()
    };
    let nanoseconds = median((0..batches).map(batch).collect()).as_nanos();
    nanoseconds as f64 / pushes as f64
}

fn full_window(size: usize) -> Window<Frame> {
    let mut window = Window::new(u32::try_from(size).unwrap());
    for n in 0..size {
        let frame = Frame::new(kind(n));
        window.push(&frame.kind.clone(), frame.token_estimate, frame);
    }
    // Until the protected frames are the oldest ones, which they become in time.
    for _ in 0..size {
        push(&mut window);
    }
    window
}

fn push(window: &mut Window<Frame>) {
    let frame = Frame::new(FrameKind::ToolCall);
    window.push_with(
        &FrameKind::ToolCall,
        frame.token_estimate,
        frame,
        |_, frame| {
            drop(black_box(frame.summary));
        },
    );
}

fn in_memory() {
    const LARGE: usize = 16_384;
    let mut times = BTreeMap::new();
    for size in [64, 1_024, LARGE] {
        let mut window = full_window(size);
        times.insert(size, per_push(41, 10_000, || push(&mut window)));
        assert_eq!(window.len(), size);
    }
    let mut plain = Plain {
        frames: Vec::new(),
        next: 0,
        max_frames: LARGE,
    };
    for n in 0..LARGE {
        plain.push(Frame::new(kind(n)));
    }
    for _ in 0..LARGE {
        plain.push(Frame::new(FrameKind::ToolCall));
    }
    let slow = per_push(11, 100, || plain.push(Frame::new(FrameKind::ToolCall)));
    let fast = times[&LARGE];
    println!(
        "push into a full window of {LARGE}, a tenth protected: {fast:.0} ns, git-internal's list {slow:.0} ns, ratio {:.0} (target: at least 100)",
        slow / fast
    );
    let least = times.values().copied().fold(f64::MAX, f64::min);
    let most = times.values().copied().fold(0.0, f64::max);
    let each: Vec<String> = times
        .iter()
        .map(|(size, time)| format!("{time:.0} ns at {size}"))
        .collect();
    println!(
        "push by size of the window: {}, ratio {:.2} (target: at most 2)",
        each.join(", "),
        most / least
    );
}

fn request(command: impl Into<annals::domain::Command>) -> Request {
    Request::new(ActorRef::agent("bench"), command)
}

fn frame(pipeline: PipelineId) -> Request {
    request(
        PushFrame::new(pipeline, FrameKind::ToolCall, "x".repeat(SUMMARY)).with_token_estimate(50),
    )
}

/// Bytes that the write-ahead log ever had, as far as its files were seen.
#[derive(Default)]
struct Wal(BTreeMap<PathBuf, u64>);

impl Wal {
    fn look(&mut self, directory: &Path) -> u64 {
        for entry in fs::read_dir(directory).unwrap().flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|extension| extension == "log")
                && let Ok(data) = entry.metadata()
            {
                let known = self.0.entry(path).or_default();
                *known = data.len().max(*known);
            }
        }
        self.0.values().sum()
    }
}

/// Pushes one by one: the bytes of the write-ahead log for the first 256, and
/// the median time of 500.
fn one_by_one(annals: &Annals, pipeline: PipelineId, directory: &Path) -> (u64, Duration) {
    let mut wal = Wal::default();
    let before = wal.look(directory);
    let (mut bytes, mut times) = (0, Vec::new());
    for n in 1..=500 {
        let start = Instant::now();
        block_on(annals.execute(frame(pipeline))).unwrap();
        times.push(start.elapsed());
        if n <= 256 {
            bytes = wal.look(directory) - before;
        }
    }
    (bytes, median(times))
}

fn durable() {
    const LONG: usize = 16_000;
    let directory = directory().unwrap();
    let path = directory.path().join("log");
    let annals = block_on(Annals::open(path.to_str().unwrap())).unwrap();
    let pipeline = PipelineId(Uuid::now_v7());
    let create = CreatePipeline::new().with_id(pipeline);
    block_on(annals.execute(request(create))).unwrap();
    let (first_bytes, first_time) = one_by_one(&annals, pipeline, &path);
    for _ in (500..LONG).step_by(250) {
        let frames = (0..250).map(|_| frame(pipeline)).collect();
        block_on(annals.execute_batch(None, frames)).unwrap();
    }
    let (bytes, time) = one_by_one(&annals, pipeline, &path);
    block_on(annals.close());
    println!(
        "write-ahead log for 256 frames: {first_bytes} bytes in a new pipeline, {bytes} behind {LONG} frames, ratio {:.2} (target: 0.85 to 1.15)",
        bytes as f64 / first_bytes as f64
    );
    println!(
        "a frame made durable: {:.3} ms in a new pipeline, {:.3} ms behind {LONG} frames, ratio {:.2} (target: at most 1.3)",
        first_time.as_secs_f64() * 1e3,
        time.as_secs_f64() * 1e3,
        time.as_secs_f64() / first_time.as_secs_f64()
    );
}

/// A pipeline without a limit of its own, as long as that, with a save-point
/// each ten thousand frames and two uses each hundred.
fn fill(log: &dyn Store, pipeline: PipelineId, frames: u64) {
    let stream = StreamRef {
        kind: StreamKind::Pipeline,
        id: pipeline.0,
    };
    let mut events = vec![(Event::from(Created { max_frames: 0 }), Pieces::new())];
    for n in 0..frames {
        let mut pieces = Pieces::new();
        let kind = match n {
            0 => FrameKind::IntentAnalysis,
            n if n % 10_000 == 0 => FrameKind::Checkpoint,
            n if n % 3 == 0 => FrameKind::CodeChange,
            _ => FrameKind::ToolCall,
        };
        let pushed = FramePushed {
            frame_id: FrameId(n),
            kind,
            summary: pieces.text(format!("{n:0SUMMARY$}")),
            data: None,
            content: None,
            token_estimate: Some(20 + n % 90),
        };
        events.push((pushed.into(), pieces));
        if n % 100 == 99 {
            let used = FramesUsed {
                plan: PlanId(Uuid::nil()),
                step: 0,
                frames: vec![
                    FrameId(n - n % 77),
                    FrameId(n.saturating_sub(150 + n % 900)),
                ],
                inferred: false,
            };
            events.push((used.into(), Pieces::new()));
        }
    }
    for events in events.chunks(5_000) {
        let mut append = Append {
            batch: Uuid::now_v7(),
            request: Bytes::new(),
            events: Vec::new(),
            expectations: Vec::new(),
            blobs: Vec::new(),
        };
        for (event, pieces) in events {
            let envelope = Envelope {
                event_id: Uuid::now_v7(),
                occurred_at: Timestamp::EPOCH,
                actor: ActorRef::agent("coder"),
                correlation: None,
                causation: None,
            };
            let emitted = Emitted {
                stream,
                event: AnyEvent::Pipeline(event.clone()),
                pieces: pieces.clone(),
            };
            let encoded = encode(&emitted, &envelope, &mut || [7; 16]).unwrap();
            append.events.push(encoded.event);
        }
        block_on(log.append(append)).unwrap();
    }
}

/// `annals policy replay` under git-internal's policy, a token budget and least
/// recently used: its time and the most memory that it had.
fn replayed() {
    let frames = setting("ANNALS_FRAMES", 1_000_000);
    let Some(program) = program() else {
        println!("replay as a command: not measured, the program is not built (`make build`)");
        return;
    };
    let directory = directory().unwrap();
    let path = directory.path().join("log");
    let pipeline = PipelineId(Uuid::now_v7());
    let annals = block_on(Annals::open(path.to_str().unwrap())).unwrap();
    fill(annals.log().as_ref(), pipeline, frames);
    block_on(annals.close());
    drop(annals);
    let mut command = Command::new(&program);
    command
        .arg("--log")
        .arg(&path)
        .arg("replay")
        .arg(pipeline.0.to_string());
    for (name, policy) in [
        ("a", EvictionPolicy::max_frames(500)),
        ("b", EvictionPolicy::token_budget(16_000)),
        ("d", EvictionPolicy::least_recently_used(500)),
    ] {
        let file = directory.path().join(format!("{name}.json"));
        fs::write(&file, serde_json::to_string(&policy).unwrap()).unwrap();
        command.arg("--policy").arg(file);
    }
    for _ in 0..3 {
        let start = Instant::now();
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut peak = PeakMemory::of(&child);
        while child.try_wait().unwrap().is_none() {
            peak.sample();
            std::thread::sleep(Duration::from_millis(5));
        }
        let time = start.elapsed().as_secs_f64();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success());
        println!(
            "{frames} frames under three policies: {time:.2} s (target: 5), {:.0} MB (target: 100)",
            peak.resident() as f64 / 1_048_576.0
        );
        if peak.resident() == 0 {
            println!("(the memory is not measured here)");
        }
        print!("{}", String::from_utf8_lossy(&output.stdout));
    }
}

fn main() {
    in_memory();
    durable();
    replayed();
}
