//! Trying again: how long to wait between two attempts, and when to give up.

use std::time::{Duration, Instant};

/// The first wait.
const LEAST: Duration = Duration::from_millis(10);
/// The longest wait.
const MOST: Duration = Duration::from_secs(1);

/// Attempts at one thing.
#[derive(Debug)]
pub(crate) struct BackOff {
    ends: Instant,
    wait: Duration,
    attempts: u32,
    begun: Instant,
    /// How long it had gone on when that was last said.
    said: Duration,
}

impl BackOff {
    /// Attempts for so long.
    pub(crate) fn new(patience: Duration) -> BackOff {
        BackOff {
            ends: Instant::now() + patience,
            wait: LEAST,
            attempts: 1,
            begun: Instant::now(),
            said: Duration::ZERO,
        }
    }

    /// How many attempts were begun.
    pub(crate) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Whether somebody should hear of it now: first after a second, and then each time that has doubled.
    pub(crate) fn is_to_say(&mut self) -> bool {
        let gone = self.begun.elapsed();
        let is_to_say = gone >= MOST.max(self.said * 2);
        if is_to_say {
            self.said = gone;
        }
        is_to_say
    }

    /// Whether patience has ended.
    pub(crate) fn is_over(&self) -> bool {
        Instant::now() >= self.ends
    }

    /// Waits before the next attempt; `false` where it would be too late.
    pub(crate) async fn again(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.ends {
            return false;
        }
        tokio::time::sleep(self.wait.min(self.ends - now)).await;
        self.wait = (self.wait * 2).min(MOST);
        self.attempts += 1;
        true
    }
}
