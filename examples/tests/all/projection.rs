//! The projection is run over a log on disk, twice, and beside the process that writes.

use annals::Annals;
use annals::blocking::Wait;
use annals::domain::run::{RecordToolInvocation, ToolStatus};
use annals::domain::{ActorRef, RunId};

use crate::run;

const PROGRAM: &str = env!("CARGO_BIN_EXE_projection");

fn call(annals: &Annals, run: RunId, name: &str, status: ToolStatus) {
    let call = RecordToolInvocation::new(run, name, status);
    annals
        .by(&ActorRef::agent("coder"))
        .tool(call)
        .wait()
        .unwrap();
}

#[test]
fn the_table_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log").display().to_string();
    let (done, printed) = run(PROGRAM, &[&log]);
    assert!(!done && printed.contains("there is no log"), "{printed}");

    let annals = Annals::open(&log).wait().unwrap();
    let agent = ActorRef::agent("coder");
    let me = annals.by(&agent);
    let intent = me.submit("Mend the parser").wait().unwrap();
    me.analyze(intent, "It fails on empty input")
        .wait()
        .unwrap();
    let task = me.task(intent, "Mend it").wait().unwrap();
    let work = me.start_run(task, None, None).wait().unwrap();
    call(&annals, work, "Bash", ToolStatus::Error);
    call(&annals, work, "Bash", ToolStatus::Ok);
    call(&annals, work, "Edit", ToolStatus::Ok);

    // This process has the log open: the program sends it the rows.
    let (done, printed) = run(PROGRAM, &[&log]);
    assert!(done, "{printed}");
    let (head, rows) = printed.split_once('\n').unwrap();
    assert!(
        head.ends_with(&format!("(up to position {})", annals.position())),
        "{printed}"
    );
    assert_eq!(rows, "    2       1  \"Bash\"\n    1       0  \"Edit\"\n");

    call(&annals, work, "Edit", ToolStatus::Error);
    annals.close().wait();
    let (done, printed) = run(PROGRAM, &[&log]);
    assert!(
        done && printed.ends_with("    2       1  \"Bash\"\n    2       1  \"Edit\"\n"),
        "{printed}"
    );
    let (done, rebuilt) = run(PROGRAM, &[&log, "--rebuild"]);
    assert!(done && rebuilt == printed, "{rebuilt}");
}
