//! Running a model under many schedules, and under one of them again.

use shuttle::scheduler::{DfsScheduler, PctScheduler, RandomScheduler, ReplayScheduler};
use shuttle::{Config, Runner};

/// Schedules of each kind, where `ANNALS_SCHEDULES` does not say how many.
const SCHEDULES: usize = 1_000;

/// The seed of the first schedule, where `ANNALS_SEED` does not say it: `make test` does
/// the same each time.
const SEED: u64 = 19;

/// How often a schedule of the second kind prefers another thread at a random step. Most
/// bugs need one or two of these.
const CHANGES: usize = 3;

/// Bytes of a thread's stack.
const STACK: usize = 256 * 1024;

/// Runs a model under random schedules and under those of *probabilistic concurrency
/// testing*, which keep to one thread except for a few changes. A failure prints its
/// schedule; the same test runs under that one alone with `ANNALS_REPLAY='SCHEDULE'`.
///
/// # Panics
/// Where what the model says does not hold, or where all its threads wait.
pub fn explore(name: &str, model: fn()) {
    if let Ok(schedule) = std::env::var("ANNALS_REPLAY") {
        let scheduler = ReplayScheduler::new_from_encoded(schedule.trim());
        Runner::new(scheduler, config()).run(model);
        return;
    }
    let schedules = number("ANNALS_SCHEDULES", SCHEDULES);
    let seed = number("ANNALS_SEED", SEED);
    println!("{name}: {schedules} random schedules, ANNALS_SEED={seed}");
    Runner::new(RandomScheduler::new_from_seed(seed, schedules), config()).run(model);
    println!("{name}: {schedules} schedules with {CHANGES} changes, ANNALS_SEED={seed}");
    let scheduler = PctScheduler::new_from_seed(seed, CHANGES, schedules);
    Runner::new(scheduler, config()).run(model);
}

/// Runs a small model under every schedule that there is; how many there are.
///
/// # Panics
/// As [`explore`], and where there are more than `limit`.
pub fn exhaust(name: &str, limit: usize, model: fn()) -> usize {
    if std::env::var("ANNALS_REPLAY").is_ok() {
        explore(name, model);
        return 1;
    }
    let scheduler = DfsScheduler::new(Some(limit), false);
    let count = Runner::new(scheduler, config()).run(model);
    println!("{name}: all {count} schedules");
    assert!(count < limit, "{name} has more than {limit} schedules");
    count
}

fn config() -> Config {
    let mut config = Config::new();
    config.stack_size = STACK;
    // That orderings of atomics are not modelled is said in the crate's documentation.
    config.silence_warnings = true;
    config
}

/// A number from the environment.
fn number<T: std::str::FromStr>(variable: &str, otherwise: T) -> T {
    match std::env::var(variable) {
        Ok(text) => match text.parse() {
            Ok(number) => number,
            Err(_) => panic!("invalid {variable} {text:?}: expected a number"),
        },
        Err(_) => otherwise,
    }
}
