//! The files that a patch set touches lie in the repository, unless an importer found them in a recording.

use super::super::*;
use crate::task::CreateTask;
use crate::testing::Given;
use crate::{Refusal, RunId, TaskId};
use uuid::Uuid;

const RUN: RunId = RunId(Uuid::from_u128(71));

fn patching() -> Given {
    let task = TaskId(Uuid::from_u128(70));
    Given::new()
        .command(CreateTask {
            id: Some(task),
            ..CreateTask::new("work")
        })
        .command(CreateRun {
            id: Some(RUN),
            ..CreateRun::new(task)
        })
        .command(StartPatching { run: RUN })
}

fn touches(path: &str) -> ProposePatchSet {
    ProposePatchSet {
        touched: vec![TouchedFile::new(path, ChangeType::Modify)],
        ..ProposePatchSet::new(RUN, DiffFormat::Unified)
    }
}

#[test]
fn a_patch_set_touches_files_in_the_repository() {
    let given = patching();
    for path in ["src/main.rs", "./a", "größe/x y", ".github/ci.yml"] {
        assert!(given.decide(touches(path)).is_ok(), "{path}");
    }
    for path in [
        "/etc/passwd",
        "../../x",
        "src/../../x",
        "C:\\x",
        "~/.ssh/config",
        ".git/hooks/pre-commit",
        " ",
    ] {
        let refused = given.decide(touches(path));
        let field = "touched.path";
        assert!(
            matches!(refused, Err(Refusal::Invalid { field: found, .. }) if found == field),
            "{path}: {refused:?}"
        );
    }
}

/// An agent's edits are recorded where they were.
#[test]
fn what_an_importer_found_is_recorded_as_it_was() {
    let observed = ProposePatchSet {
        observed: true,
        ..touches("/etc/passwd")
    };
    assert!(patching().decide(observed).is_ok());
}
