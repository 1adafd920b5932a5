//! Edits as patch sets.

use annals::projections::{PatchSetView, RunView, ToolInvocationView};
use annals_dialects::claude::{self};
use annals_domain::run::{ApplyStatus, CallStatus};
use annals_event_log::Digest;
use futures::executor::block_on;
use serde_json::json;

use super::log::Log;
use super::recording::{Recording, story};

fn patch_set(log: &Log, tool_use: &str) -> PatchSetView {
    log.get(claude::ids().tool(tool_use).patch_set)
}

/// The touched files as `type path +added -deleted`, and the diff.
fn shown(log: &Log, tool_use: &str) -> (Vec<String>, String) {
    let patch_set = patch_set(log, tool_use);
    let touched = patch_set.touched.iter().map(|file| {
        let (added, deleted) = (file.lines_added, file.lines_deleted);
        format!("{} {} +{added} -{deleted}", file.change_type, file.path)
    });
    let diff = patch_set.artifact.map(|artifact| {
        let digest: Digest = artifact.key.as_str().unwrap().parse().unwrap();
        let bytes = block_on(log.annals.contents().get(digest))
            .unwrap()
            .unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    });
    (touched.collect(), diff.unwrap_or_default())
}

#[test]
fn an_edit_is_a_proposed_patch_set_with_its_file() {
    let log = Log::of(&story());
    let (touched, diff) = shown(&log, "t3");
    assert_eq!(touched, ["modify src/parser.rs +2 -1"]);
    let expected = "--- a/src/parser.rs\n+++ b/src/parser.rs\n@@ -1,1 +1,2 @@\n-a\n+b\n+c\n";
    assert_eq!(diff, expected);
    assert_eq!(patch_set(&log, "t3").status(), ApplyStatus::Proposed);
    let run: RunView = log.get(claude::ids().session("story").run);
    assert_eq!(
        run.patchsets,
        ["t3", "t4"].map(|id| claude::ids().tool(id).patch_set)
    );
}

#[test]
fn an_edit_that_failed_is_a_rejected_patch_set() {
    let mut recording = Recording::of("s");
    recording
        .user(json!("Go"))
        .calls(
            "m1",
            "t1",
            "Edit",
            json!({ "file_path": "/home/ada/project/a", "old_string": "x", "new_string": "y" }),
        )
        .result("t1", json!("File has not been read yet"), true)
        .with(json!({ "toolUseResult": "Error: no" }));
    let log = Log::of(&recording);
    let rejected = patch_set(&log, "t1");
    assert_eq!(rejected.status(), ApplyStatus::Rejected);
    assert_eq!(
        rejected.rejection.unwrap().as_str(),
        Some("File has not been read yet")
    );
    let diff = "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n";
    assert_eq!(
        shown(&log, "t1"),
        (vec!["modify a +1 -1".to_owned()], diff.to_owned())
    );
    let call: ToolInvocationView = log.get(claude::ids().tool("t1").invocation);
    assert_eq!(call.status(), CallStatus::Error);
    assert!(log.has_note("without a recorded patch"), "{}", log.report);
}

#[test]
fn every_tool_that_writes_makes_one() {
    let mut recording = Recording::of("s");
    let edits = json!([{ "old_string": "1\n", "new_string": "2\n" }, { "old_string": "3\n", "new_string": "" }]);
    recording
        .user(json!("Go"))
        .calls(
            "m1",
            "t1",
            "MultiEdit",
            json!({ "file_path": "/home/ada/project/a", "edits": edits }),
        )
        .result("t1", json!("ok"), false)
        .calls(
            "m2",
            "t2",
            "Write",
            json!({ "file_path": "/home/ada/project/b", "content": "x\ny\n" }),
        )
        .result("t2", json!("ok"), false)
        .with(json!({ "toolUseResult": { "type": "create", "structuredPatch": [] } }))
        .calls(
            "m3",
            "t3",
            "NotebookEdit",
            json!({ "notebook_path": "/home/ada/project/c.ipynb", "new_source": "z" }),
        )
        .result("t3", json!("ok"), false)
        .calls("m4", "t4", "Edit", json!({ "old_string": "names no file" }))
        .result("t4", json!("ok"), false)
        .calls(
            "m5",
            "t5",
            "Grep",
            json!({ "file_path": "/home/ada/project/d" }),
        )
        .result("t5", json!("ok"), false);
    let log = Log::of(&recording);
    for (id, expected) in [
        ("t1", "modify a +1 -2"),
        ("t2", "add b +2 -0"),
        ("t3", "modify c.ipynb +1 -0"),
    ] {
        assert_eq!(shown(&log, id).0, [expected]);
    }
    assert_eq!(log.count("run.patch_set_proposed"), 3);
    assert_eq!(log.count("run.tool_invoked"), 5);
    assert!(log.has_note("names no file"), "{}", log.report);
}
