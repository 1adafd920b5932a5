//! The spool of agents' hooks on a disk that fails: what it has answered for is there, whole, and nothing else is.

use annals_dialects::secrets::Secrets;
use annals_domain::Timestamp;
use annals_live::Spool;
use annals_live::hook::{Hook, HookAgent};
use annals_testkit::fault_fs::{Cut, Effect, Fault, FaultFs, Operation, When};
use uuid::Uuid;

fn hook(number: u128) -> Hook {
    let json = format!("{{\"hook_event_name\":\"Stop\",\"session_id\":\"s\",\"turn\":{number}}}");
    let named = (Uuid::from_u128(number), Timestamp::EPOCH);
    Hook::new(
        HookAgent::Claude,
        named,
        json.into_bytes(),
        0,
        &Secrets::standard(),
    )
}

/// The events that wait.
fn events(spool: &Spool) -> Vec<Hook> {
    let waiting = spool.waiting().unwrap();
    let read = |spooled| spool.read(spooled, &Secrets::standard()).unwrap();
    waiting.iter().filter_map(read).collect()
}

#[test]
fn what_the_spool_has_answered_for_survives_every_cut() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = FaultFs::mount_in_test(folder.path()) else {
        return;
    };
    for nth in 1.. {
        let log = disk.path().join(format!("log{nth}"));
        let spool = Spool::of(log.to_str().unwrap()).unwrap();
        let then = Effect::PowerOff(When::Before);
        disk.arm(Fault {
            on: Operation::Change,
            path: None,
            nth,
            then,
        });
        let first = spool.put(&hook(1));
        let second = spool.put(&hook(2));
        let is_done = first.is_ok() && second.is_ok();
        let cut = match is_done {
            true => Cut::DropAll,
            false => Cut::Random { seed: nth },
        };
        disk.power_on(&cut);
        let there = events(&spool);
        for (put, hook) in [(&first, hook(1)), (&second, hook(2))] {
            assert!(put.is_err() || there.contains(&hook), "operation {nth}");
        }
        assert!(there.iter().all(|it| *it == hook(1) || *it == hook(2)));
        assert_eq!(spool.state().unwrap().bad, 0, "operation {nth}");
        if is_done {
            assert!(nth > 8, "only {nth} operations");
            return;
        }
    }
}

#[test]
fn what_has_no_room_is_an_error_and_leaves_nothing_of_itself() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = FaultFs::mount_in_test(folder.path()) else {
        return;
    };
    for nth in 1.. {
        let log = disk.path().join(format!("log{nth}"));
        let spool = Spool::of(log.to_str().unwrap()).unwrap();
        spool.put(&hook(1)).unwrap();
        disk.arm(Fault {
            on: Operation::Write,
            path: None,
            nth,
            then: Effect::KeepFailing(annals_testkit::fault_fs::Errno::ENOSPC),
        });
        let put = spool.put(&hook(2));
        disk.disarm();
        let is_done = put.is_ok();
        let (there, state) = (events(&spool), spool.state().unwrap());
        match put {
            Ok(()) => assert_eq!((there.len(), state.lost), (2, 0)),
            Err(error) => {
                assert!(error.to_string().contains("No space left"), "{error}");
                assert_eq!(
                    (there, state.lost, state.bad),
                    (vec![hook(1)], 1, 0),
                    "{nth}"
                );
            }
        }
        if is_done {
            assert!(nth > 1, "nothing was written");
            return;
        }
    }
}
