//! `compare-peers`: one measurement of one of the peers. `compare` (benches/measure) calls it.

mod stores;

fn main() -> std::process::ExitCode {
    annals_measure::program::run(stores::open)
}
