//! The bounded queue in front of the writer.
//!
//! Appenders put jobs in and the writer takes all of them at once, so that one
//! lock serves a whole group. The writer is woken only when it sleeps.

use crate::sync::{Condvar, Event, Mutex, MutexGuard, PoisonError, thread};

/// Jobs on their way to the writer.
#[derive(Debug)]
pub(crate) struct Queue<T> {
    waiting: Mutex<Waiting<T>>,
    filled: Condvar,
    room: Event,
    limit: usize,
}

#[derive(Debug)]
struct Waiting<T> {
    jobs: Vec<T>,
    bytes: usize,
    writer_sleeps: bool,
    closed: bool,
}

/// The queue takes nothing more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueClosed;

impl<T> Queue<T> {
    /// A queue for jobs of `limit` bytes; a larger job may come alone.
    pub(crate) fn new(limit: usize) -> Queue<T> {
        let waiting = Waiting {
            jobs: Vec::new(),
            bytes: 0,
            writer_sleeps: false,
            closed: false,
        };
        Queue {
            waiting: Mutex::new(waiting),
            filled: Condvar::new(),
            room: Event::new(),
            limit,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<T>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a job in, waiting for room where there is none.
    pub(crate) async fn push(&self, job: T, bytes: usize) -> Result<(), QueueClosed> {
        let mut job = job;
        loop {
            match self.try_push(job, bytes)? {
                None => return Ok(()),
                Some(back) => job = back,
            }
            // Listen first and look again: room made between the two is heard.
            let listener = self.room.listen();
            match self.try_push(job, bytes)? {
                None => return Ok(()),
                Some(back) => job = back,
            }
            listener.await;
        }
    }

    /// Gives the job back where there is no room.
    fn try_push(&self, job: T, bytes: usize) -> Result<Option<T>, QueueClosed> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(QueueClosed);
        }
        if !waiting.jobs.is_empty() && waiting.bytes.saturating_add(bytes) > self.limit {
            return Ok(Some(job));
        }
        waiting.bytes = waiting.bytes.saturating_add(bytes);
        waiting.jobs.push(job);
        let wake = std::mem::take(&mut waiting.writer_sleeps);
        drop(waiting);
        if wake {
            self.filled.notify_one();
        }
        Ok(None)
    }

    /// Takes everything that waits into `jobs`, which must be empty; sleeps
    /// while there is nothing. `false` once the queue is closed and empty.
    ///
    /// `answered` is how many jobs came the last time. Those clients have just
    /// been answered and are about to come again, so the processor is offered
    /// to them while the queue grows by that number. Without it the first one
    /// would be synced alone, or half of them and then the other half, and every
    /// sync costs the same.
    pub(crate) fn take(&self, jobs: &mut Vec<T>, answered: usize) -> bool {
        let mut waiting = self.lock();
        let expected = waiting.jobs.len() + answered;
        while waiting.jobs.is_empty() {
            if waiting.closed {
                return false;
            }
            waiting.writer_sleeps = true;
            waiting = self
                .filled
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let mut idle_turns = 0;
        while waiting.jobs.len() < expected && idle_turns < 2 {
            let before = waiting.jobs.len();
            drop(waiting);
            thread::yield_now();
            waiting = self.lock();
            idle_turns = if waiting.jobs.len() > before {
                0
            } else {
                idle_turns + 1
            };
        }
        std::mem::swap(jobs, &mut waiting.jobs);
        waiting.bytes = 0;
        waiting.writer_sleeps = false;
        drop(waiting);
        self.room.notify(usize::MAX);
        true
    }

    /// Puts a job behind all that wait, also where there is no room and where the queue is
    /// closed. It is for the one who takes the jobs, and takes again after it.
    pub(crate) fn put_back(&self, job: T) {
        self.lock().jobs.push(job);
    }

    /// How many jobs wait.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.lock().jobs.len()
    }

    /// Takes nothing more; what waits is still given out.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.filled.notify_one();
        self.room.notify(usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use futures::FutureExt;
    use futures::executor::block_on;

    use super::*;

    #[test]
    fn jobs_come_out_in_the_order_in_which_they_went_in() {
        let queue = Queue::new(100);
        for job in 0..5 {
            block_on(queue.push(job, 1)).unwrap();
        }
        let mut jobs = Vec::new();
        assert!(queue.take(&mut jobs, 0));
        assert_eq!(jobs, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_full_queue_makes_its_callers_wait_and_a_large_job_comes_alone() {
        let queue = Arc::new(Queue::new(10));
        block_on(queue.push("large", 11)).unwrap();
        let mut second = Box::pin(queue.push("second", 1));
        assert_eq!((&mut second).now_or_never(), None);
        let mut jobs = Vec::new();
        assert!(queue.take(&mut jobs, 0));
        assert_eq!(jobs, ["large"]);
        assert_eq!(second.now_or_never(), Some(Ok(())));
    }

    #[test]
    fn a_closed_queue_gives_out_what_it_has_and_takes_nothing() {
        let queue = Queue::new(10);
        block_on(queue.push(1, 1)).unwrap();
        queue.close();
        assert_eq!(block_on(queue.push(2, 1)), Err(QueueClosed));
        let mut jobs = Vec::new();
        assert!(queue.take(&mut jobs, 0));
        assert_eq!(jobs, [1]);
        assert!(!queue.take(&mut Vec::new(), 0));
    }

    #[test]
    fn a_job_that_is_put_back_comes_after_the_others_also_at_the_end() {
        let queue = Queue::new(10);
        block_on(queue.push(1, 10)).unwrap();
        queue.put_back(2);
        queue.close();
        let mut jobs = Vec::new();
        assert!(queue.take(&mut jobs, 0));
        assert_eq!(jobs, [1, 2]);
        queue.put_back(3);
        jobs.clear();
        assert!(queue.take(&mut jobs, 0));
        assert_eq!(jobs, [3]);
        assert!(!queue.take(&mut Vec::new(), 0));
    }

    #[test]
    fn a_sleeping_writer_is_woken() {
        let queue = Arc::new(Queue::new(10));
        let writer = {
            let queue = Arc::clone(&queue);
            thread::spawn(move || {
                let (mut jobs, mut all) = (Vec::new(), Vec::new());
                while queue.take(&mut jobs, 2) {
                    all.append(&mut jobs);
                }
                all
            })
        };
        for job in 0..1_000 {
            block_on(queue.push(job, 5)).unwrap();
        }
        queue.close();
        assert_eq!(writer.join().unwrap(), (0..1_000).collect::<Vec<_>>());
    }
}
