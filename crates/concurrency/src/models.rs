//! What threads do together, and what must hold in any order.

pub mod bulk;
pub mod follow;
pub mod keyed_locks;
pub mod latch;
pub mod queue;
pub mod watermark;
pub mod writer;

use futures::Future;
use futures::future::poll_immediate;
use shuttle::rand::Rng;
use shuttle::thread::{self, JoinHandle};

/// Starts a thread for each of them and waits for all.
fn all<T: Send + 'static>(threads: Vec<Box<dyn FnOnce() -> T + Send>>) -> Vec<T> {
    let threads: Vec<JoinHandle<T>> = threads.into_iter().map(thread::spawn).collect();
    threads
        .into_iter()
        .map(|thread| thread.join().expect("a thread of the model"))
        .collect()
}

/// Polls a future a few times, lets other threads run after each poll, and drops it: its output, if it
/// came so far.
fn poll_a_few_times<F: Future>(future: F, times: usize) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    for _ in 0..times {
        let output = shuttle::future::block_on(poll_immediate(future.as_mut()));
        if output.is_some() {
            return output;
        }
        thread::yield_now();
    }
    None
}

/// One of them, which the schedule chooses.
fn one_of<T: Copy, const N: usize>(values: [T; N]) -> T {
    values[shuttle::rand::thread_rng().gen_range(0..N)]
}
