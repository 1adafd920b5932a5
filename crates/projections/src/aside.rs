//! Work for the processors, done outside of the task that waits for it.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use futures::channel::oneshot;

/// A thread ended before its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadLost;

/// Runs a job on the pool of all processors. It begins at the first poll and
/// goes on even if the caller stops waiting. A panic of the job is passed on to
/// the caller, as it would be without the pool.
///
/// # Errors
/// [`ThreadLost`].
pub(crate) async fn aside<T: Send + 'static>(
    job: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ThreadLost> {
    let (sender, receiver) = oneshot::channel();
    rayon::spawn(move || {
        // The caller may not be waiting any more.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(job)));
    });
    match receiver.await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(panic)) => resume_unwind(panic),
        Err(oneshot::Canceled) => Err(ThreadLost),
    }
}

/// Lets the pool drop what takes long to drop.
pub(crate) fn drop_aside<T: Send + 'static>(value: T) {
    rayon::spawn(move || drop(value));
}

/// Lets others of the same task go on, once.
pub(crate) async fn give_way() {
    let mut given = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut given, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::executor::block_on;

    #[test]
    fn a_job_answers_and_its_panic_is_passed_on() {
        assert_eq!(block_on(aside(|| 6 * 7)), Ok(42));
        let job = aside(|| assert_eq!(1, 2, "as it should"));
        let panic = catch_unwind(AssertUnwindSafe(|| block_on(job)));
        assert!(panic.is_err());
    }

    #[test]
    fn giving_way_lets_the_other_one_run() {
        let said = std::cell::RefCell::new(Vec::new());
        let speak = |name: &'static str| {
            let said = &said;
            async move {
                for _ in 0..2 {
                    said.borrow_mut().push(name);
                    give_way().await;
                }
            }
        };
        block_on(futures::future::join(speak("a"), speak("b")));
        assert_eq!(said.into_inner(), ["a", "b", "a", "b"]);
    }
}
