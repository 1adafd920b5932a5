//! Every target on its seeds, on what was found once, and on changed seeds.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout
)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use annals_fuzzing::{Mutator, TARGETS, Target};

/// How long changed seeds are tried, of each target, and how many at least, however long that takes.
const TIME: Duration = Duration::from_secs(2);
const LEAST: u64 = 20;
/// Changed seeds that are tried, at most.
const MOST: u64 = 20_000;

/// What a fuzzer found once, or wrote as a seed: `fuzz/corpus/<target>/*`.
fn corpus(target: &Target) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let Ok(entries) = fs::read_dir(folder.join(target.name)) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn seed() -> u64 {
    let given = std::env::var("ANNALS_SEED").ok();
    given
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(20_261_124)
}

/// Says which input it was where one is not come through.
fn run(target: &Target, input: &[u8]) {
    let ran = std::panic::catch_unwind(|| (target.run)(input));
    if ran.is_err() {
        let place = std::env::temp_dir().join(format!("annals-{}.input", target.name));
        fs::write(&place, input).unwrap();
        panic!("{} fails on {}", target.name, place.display());
    }
}

fn try_out(name: &str) {
    let target = annals_fuzzing::by_name(name).expect("a target");
    let mut inputs = (target.seeds)();
    assert!(!inputs.is_empty());
    inputs.extend(corpus(&target));
    for input in &inputs {
        run(&target, input);
    }
    let mut mutator = Mutator::new(seed());
    let began = Instant::now();
    let mut tried = 0;
    while tried < LEAST || (tried < MOST && began.elapsed() < TIME) {
        run(&target, &mutator.changed(&inputs));
        tried += 1;
    }
    println!(
        "{name}: {} inputs and {tried} changed ones, ANNALS_SEED={}",
        inputs.len(),
        seed()
    );
}

macro_rules! targets {
    ($($name:ident),+ $(,)?) => {
        $(
            #[test]
            fn $name() {
                try_out(stringify!($name));
            }
        )+

        #[test]
        fn all_targets_are_tried() {
            let names = [$(stringify!($name)),+];
            assert_eq!(TARGETS.map(|target| target.name), names);
        }
    };
}

targets![
    record,
    wire,
    chunk,
    watermark,
    apply_line,
    policy,
    prices,
    proof,
    note,
    key,
    secrets,
    contract,
    hook,
    spool,
    settings,
    telemetry,
    import_claude,
    import_gemini,
    import_codex,
    import_copilot,
    import_copilot_chat,
    import_cursor,
    import_opencode,
    import_openhands,
    import_swe_agent,
    import_atif,
    import_contracts,
    import_git_internal,
    import_forge,
    import_annals,
    import_git,
];
