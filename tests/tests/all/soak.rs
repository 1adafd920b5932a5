//! A third of a minute of the soak: faults of every kind on real disks, or what takes their place.

use std::time::Duration;

use annals_tests::soak::disk::Disk;
use annals_tests::soak::plan::Choice;
use annals_tests::soak::process::Programs;
use annals_tests::soak::runner::{Plan, run};

/// Cycles at the same time.
const LANES: usize = 2;
/// For so long, unless `ANNALS_SOAK` says otherwise, in seconds.
const SECONDS: u64 = 20;

/// Disks that fail on command; where there is no FUSE, folders, which is said loudly and
/// is a failure where everything must run.
fn disks() -> Vec<Disk> {
    let faulty: Result<Vec<Disk>, _> = (0..LANES).map(|_| Disk::faulty()).collect();
    let error = match faulty {
        Ok(disks) => return disks,
        Err(error) => error,
    };
    let banner = "#".repeat(72);
    eprintln!("{banner}\nNO POWER CUTS AND NO FAILING DISKS ARE TESTED HERE: {error}\n{banner}");
    assert!(
        std::env::var_os("CI").is_none(),
        "CI is set, and everything must run there"
    );
    let plain = |_| Disk::plain().expect("a folder");
    (0..LANES).map(plain).collect()
}

#[test]
fn nothing_is_lost_whatever_happens_to_processes_and_disks() {
    let number = |name: &str, left_out: u64| {
        let given = std::env::var(name).ok().and_then(|n| n.parse().ok());
        given.unwrap_or(left_out)
    };
    let (seconds, seed) = (number("ANNALS_SOAK", SECONDS), number("ANNALS_SEED", 42));
    println!("{seconds} s, seed {seed} (ANNALS_SOAK, ANNALS_SEED)");
    let programs = Programs::find().expect("the programs");
    let disks = disks();
    let powered = disks.iter().all(Disk::can_fail);
    let plan = Plan {
        seed,
        cycle_seed: None,
        time: Some(Duration::from_secs(seconds)),
        first: 0,
        cycles: None,
        lanes: LANES,
        choice: Choice::of(&[], powered).expect("everything"),
        until_found: false,
        verbose: false,
        progress: false,
    };
    let summary = run(&plan, &disks, &programs);
    let text = serde_json::to_string_pretty(&summary).expect("a summary");
    println!("{text}");
    let plain = if powered { "" } else { " --plain" };
    let first = summary.violations.first().map(|found| {
        format!(
            "{:?}; repeat it with: soak --verbose --cycle-seed {}{plain}",
            found, found.seed
        )
    });
    assert_eq!(first, None, "{} violations", summary.violations.len());
    assert!(summary.checks >= seconds / 2, "it hardly ran");
}
