//! A process under test: it does what its standard input says, and tells on standard
//! output what it sends and what it is answered.
#![allow(clippy::expect_used, reason = "it is part of the tests")]

use annals_tests::soak::job::{Job, Task};
use annals_tests::soak::{check, work};

fn main() {
    let input = std::io::read_to_string(std::io::stdin()).expect("a job");
    let job: Job = serde_json::from_str(&input).expect("a job as JSON");
    match job.task.clone() {
        Task::Work(steps) => work::work(job, &steps),
        Task::Read => work::read_beside(&job),
        Task::Check(how) => check::check(job, how),
    }
}
