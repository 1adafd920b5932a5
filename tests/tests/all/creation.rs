//! The power goes at each operation of a log's creation: of what is left of it, the log
//! can be made in its place.

use annals_event_log::EventLog;
use annals_store_rocks::{Options, RocksLog};
use annals_testkit::fault_fs::{Cut, Effect, Fault, FaultFs, Operation, PathPattern, When};
use futures::executor::block_on;

/// Cuts of each operation, with what is left drawn from chance.
const CUTS: u64 = 3;

#[test]
fn a_creation_that_was_cut_anywhere_is_completed() {
    let home = tempfile::tempdir().unwrap();
    let Some(disk) = FaultFs::mount_in_test(home.path()) else {
        return;
    };
    let mut nth = 0;
    loop {
        nth += 1;
        for cut in 0..CUTS {
            let name = format!("log-{nth}-{cut}");
            let path = disk.path().join(&name);
            disk.arm(Fault {
                on: Operation::Change,
                path: Some(PathPattern::Contains(name)),
                nth,
                then: Effect::PowerOff(When::After),
            });
            let created = RocksLog::create(&path, &Options::default());
            let came = !disk.is_powered();
            drop(created);
            let report = disk.power_on(&Cut::Random { seed: cut });
            let log = RocksLog::open_or_create(&path, &Options::default());
            let log = log.unwrap_or_else(|error| panic!("{error}, after {nth}: {report}"));
            block_on(log.close());
            if !came {
                assert!(nth > 10, "a creation has more operations than {nth}");
                return;
            }
        }
    }
}
