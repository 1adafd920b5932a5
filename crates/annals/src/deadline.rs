//! Waiting with a limit, on any executor.

use std::pin::pin;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use futures::channel::oneshot;
use futures::future::{Either, select};

/// What the future gives, or `None` if that takes longer than `limit`. It is
/// for waits that hardly ever happen: each has its own thread.
pub(crate) async fn within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    let (alarm, rings) = oneshot::channel();
    let (still_waiting, ended) = channel::<()>();
    let clock = move || {
        if ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            // The caller that waited has the answer, or is gone.
            let _ = alarm.send(());
        }
    };
    // Without a thread the alarm rings at once.
    let _ = std::thread::Builder::new()
        .name("annals-deadline".into())
        .spawn(clock);
    let future = pin!(future);
    let answer = select(future, rings).await;
    drop(still_waiting);
    match answer {
        Either::Left((answer, _)) => Some(answer),
        Either::Right(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;
    use futures::future::{pending, ready};

    use super::*;

    #[test]
    fn it_waits_no_longer_than_allowed() {
        let short = Duration::from_millis(10);
        assert_eq!(block_on(within(short, pending::<()>())), None);
        let long = Duration::from_secs(3_600);
        assert_eq!(block_on(within(long, ready(7))), Some(7));
    }
}
