//! The queue in front of the writer: each job that was pushed is taken, once, and no
//! caller waits when there is room or when the queue is closed.

use std::sync::Arc;

use shuttle::future::block_on;
use shuttle::thread;

use super::{all, poll_a_few_times};
use crate::queue::{Queue, QueueClosed};

/// Bytes that may wait; a job has one.
const LIMIT: usize = 2;

/// A job: who pushed it, and which of theirs it is.
type Job = (usize, usize);

/// Takes until the queue is closed and empty.
fn take_all(queue: &Queue<Job>) -> Vec<Job> {
    let (mut jobs, mut all, mut answered) = (Vec::new(), Vec::new(), 0);
    while queue.take(&mut jobs, answered) {
        assert!(!jobs.is_empty(), "the writer is woken for nothing");
        assert!(
            jobs.len() <= LIMIT,
            "{} jobs where {LIMIT} have room",
            jobs.len()
        );
        answered = jobs.len();
        all.append(&mut jobs);
    }
    all
}

/// The jobs of one pusher, in the order in which they were taken.
fn of(pusher: usize, taken: &[Job]) -> Vec<usize> {
    let theirs = taken.iter().filter(|(who, _)| *who == pusher);
    theirs.map(|(_, job)| *job).collect()
}

/// Three callers and the writer; there is room for two jobs.
pub fn every_job_is_taken_once_and_in_order() {
    let queue = Arc::new(Queue::new(LIMIT));
    let writer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || take_all(&queue))
    };
    all((0..3)
        .map(|who| {
            let queue = Arc::clone(&queue);
            Box::new(move || {
                for job in 0..2 {
                    block_on(queue.push((who, job), 1)).expect("it is open");
                }
            }) as Box<dyn FnOnce() + Send>
        })
        .collect());
    queue.close();
    let taken = writer.join().unwrap();
    for who in 0..3 {
        assert_eq!(of(who, &taken), [0, 1], "pusher {who} in {taken:?}");
    }
}

/// A queue that is closed while callers wait for room: each gets that answer, or its job is
/// taken.
pub fn closing_wakes_every_caller() {
    let queue = Arc::new(Queue::new(LIMIT));
    let writer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || take_all(&queue))
    };
    let mut threads: Vec<Box<dyn FnOnce() -> usize + Send>> = (0..3)
        .map(|who| {
            let queue = Arc::clone(&queue);
            Box::new(move || {
                let pushed = (0..2).map(|job| block_on(queue.push((who, job), 1)));
                pushed.filter(|pushed| *pushed == Ok(())).count()
            }) as Box<dyn FnOnce() -> usize + Send>
        })
        .collect();
    let closing = Arc::clone(&queue);
    threads.push(Box::new(move || {
        closing.close();
        assert_eq!(block_on(closing.push((3, 0), 1)), Err(QueueClosed));
        0
    }));
    let pushed = all(threads);
    let taken = writer.join().unwrap();
    for (who, pushed) in pushed.iter().enumerate() {
        let expected: Vec<usize> = (0..*pushed).collect();
        assert_eq!(of(who, &taken), expected, "pusher {who} in {taken:?}");
    }
}

/// A queue that is closed while it is full and the writer is busy: a caller who waits for
/// room gets that answer at once, and not when the writer takes again.
pub fn closing_wakes_a_caller_though_nothing_is_taken() {
    let queue = Arc::new(Queue::new(LIMIT));
    for job in 0..LIMIT {
        block_on(queue.push((0, job), 1)).expect("there is room");
    }
    let waiting = Arc::clone(&queue);
    let caller = thread::spawn(move || block_on(waiting.push((1, 0), 1)));
    queue.close();
    assert_eq!(caller.join().unwrap(), Err(QueueClosed));
}

/// As the writer's thread does that ends early: it closes the queue, drops what is in it,
/// and is gone.
pub fn no_caller_waits_for_a_writer_that_has_ended() {
    let queue = Arc::new(Queue::new(LIMIT));
    let writer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || {
            queue.close();
            queue.take(&mut Vec::new(), 0);
        })
    };
    all((0..3)
        .map(|who| {
            let queue = Arc::clone(&queue);
            Box::new(move || while block_on(queue.push((who, 0), 1)).is_ok() {})
                as Box<dyn FnOnce() + Send>
        })
        .collect());
    writer.join().unwrap();
    assert!(!queue.take(&mut Vec::new(), 0), "a job was left behind");
}

/// Callers that give up while they wait: the others get their room.
pub fn a_caller_that_gives_up_takes_no_room() {
    let queue = Arc::new(Queue::new(LIMIT));
    let writer = {
        let queue = Arc::clone(&queue);
        thread::spawn(move || take_all(&queue))
    };
    let pushed = all((0..4)
        .map(|who| {
            let queue = Arc::clone(&queue);
            Box::new(move || {
                if who % 2 == 0 {
                    poll_a_few_times(queue.push((who, 0), 1), who).is_some()
                } else {
                    block_on(queue.push((who, 0), 1)).is_ok()
                }
            }) as Box<dyn FnOnce() -> bool + Send>
        })
        .collect());
    queue.close();
    let taken = writer.join().unwrap();
    for (who, pushed) in pushed.into_iter().enumerate() {
        assert_eq!(of(who, &taken).len(), usize::from(pushed), "pusher {who}");
    }
}
