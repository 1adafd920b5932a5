//! Others go on while a large redaction is done in steps, and what it removed is in no answer
//! once it is acknowledged.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use annals_domain::intent::CreateIntent;
use annals_domain::{ActorRef, Command, IntentId, Kind};
use annals_event_log::Position;
use annals_projections::ListQuery;
use futures::executor::block_on;
use futures::future::{Either, select};
use uuid::Uuid;

use super::{RedactReport, RedactRequest, RedactionError, SECRET, left, pattern, request};
use crate::deadline::within;
use crate::{Annals, Request};

/// Of 3.5 KiB each: several steps.
const INTENTS: usize = 1_200;
/// How long others may take that do not wait for the redaction.
const PATIENCE: Duration = Duration::from_secs(120);

fn intent(id: Option<Uuid>, prompt: String) -> Request {
    let command = Command::from(CreateIntent::new(prompt).with_id(id.map(IntentId)));
    Request::new(ActorRef::agent("coder"), command)
}

/// A log whose intents all begin with the secret.
pub(super) fn told(home: &Path) -> Annals {
    let annals = open(home);
    let prompt = format!("{SECRET} {}", "x".repeat(3_500));
    let requests: Vec<Request> = (0..INTENTS).map(|_| intent(None, prompt.clone())).collect();
    for batch in requests.chunks(200) {
        block_on(annals.execute_batch(None, batch.to_vec())).unwrap();
    }
    annals
}

fn open(home: &Path) -> Annals {
    block_on(Annals::open(&home.join("log").display().to_string())).unwrap()
}

/// All intents, as a list shows them.
async fn list(annals: &Annals) -> (usize, String) {
    let query = ListQuery::new(Kind::Intent).with_limit(2 * INTENTS);
    let listed = annals.index().list(&query).await.unwrap();
    (listed.rows.len(), format!("{listed:?}"))
}

/// No answer has the secret.
fn assert_gone(annals: &Annals, intents: usize) {
    assert_eq!(left(annals), [0; 0]);
    let (count, listed) = block_on(list(annals));
    assert_eq!(count, intents);
    assert!(!listed.contains(SECRET), "a list has it");
    let oldest = ListQuery::new(Kind::Intent).with_oldest_first(true);
    for row in block_on(annals.index().list(&oldest)).unwrap().rows {
        let row_again = block_on(annals.index().row(row.id)).unwrap();
        let view = block_on(annals.view(row.id)).unwrap();
        let history = block_on(annals.history(row.id)).unwrap();
        let shown = format!("{row_again:?} {view:?} {history:?}");
        assert!(!shown.contains(SECRET), "{shown}");
    }
}

/// A redaction of which the first step is done, and not the last.
pub(super) fn under_way<'a>(
    annals: &'a Annals,
    request: &'a RedactRequest,
    progress: &'a mut (dyn FnMut(Position) + Send),
) -> impl Future<Output = Result<RedactReport, RedactionError>> + 'a {
    let said = Box::pin(annals.wait_for(annals.position().next()));
    let redacting = Box::pin(annals.contents().redact(request, progress));
    // The steps are the writer's. The future that waits for their end is not polled meanwhile.
    let Either::Left((_, redacting)) = block_on(select(said, redacting)) else {
        panic!("it was one step");
    };
    redacting
}

#[test]
fn others_are_answered_while_a_redaction_is_under_way() {
    let home = tempfile::tempdir().unwrap();
    let annals = told(home.path());
    let first = block_on(annals.index().list(&ListQuery::new(Kind::Intent))).unwrap();
    let first = first.rows[0].id;
    let (request, mut progress) = (request(pattern()), |_| {});
    let redacting = under_way(&annals, &request, &mut progress);
    let others = async {
        assert_eq!(list(&annals).await.0, INTENTS);
        assert_eq!(annals.index().row(first).await.unwrap().id, first);
        annals.view(first).await.unwrap();
        assert!(annals.index().place(first).await.unwrap().is_some());
        let id = Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0001);
        let made = annals.execute(intent(Some(id), "other".to_owned())).await;
        assert_eq!(made.unwrap().id, Some(id));
        assert!(annals.index().place(id).await.unwrap().is_some());
    };
    let answered = block_on(within(PATIENCE, others));
    answered.expect("they wait for the redaction");
    let report = block_on(redacting).unwrap();
    assert_eq!((report.redactions, report.unsearched), (1, None));
    assert_eq!(report.found.removed.len(), INTENTS);
    assert_gone(&annals, INTENTS + 1);
    block_on(annals.close());
    let annals = open(home.path());
    assert_gone(&annals, INTENTS + 1);
    block_on(annals.close());
}

/// A client that reads all the time, and makes objects.
fn ask(annals: &Annals, gone: &AtomicBool, rounds: &AtomicU64) -> usize {
    let (mut made, mut since) = (0, 0);
    // Some more rounds after it is gone.
    while since < 3 {
        let is_gone = gone.load(Ordering::Acquire);
        let (count, listed) = block_on(list(annals));
        assert!(count >= INTENTS + made, "{count} of {INTENTS} and {made}");
        assert!(!is_gone || !listed.contains(SECRET), "a list has it");
        let request = intent(Some(Uuid::now_v7()), "other".to_owned());
        block_on(annals.execute(request)).unwrap();
        made += 1;
        since += usize::from(is_gone);
        rounds.fetch_add(1, Ordering::Relaxed);
    }
    made
}

#[test]
fn those_who_ask_all_the_time_miss_nothing_and_see_nothing_of_it_afterwards() {
    let home = tempfile::tempdir().unwrap();
    let annals = told(home.path());
    let (gone, rounds) = (AtomicBool::new(false), AtomicU64::new(0));
    let made: usize = std::thread::scope(|scope| {
        let asking = (0..3).map(|_| scope.spawn(|| ask(&annals, &gone, &rounds)));
        let asking: Vec<_> = asking.collect();
        while rounds.load(Ordering::Relaxed) < 3 && !asking.iter().any(|it| it.is_finished()) {
            std::thread::yield_now();
        }
        let report = block_on(annals.contents().redact(&request(pattern()), &mut |_| {}));
        // First, or they go on where it failed.
        gone.store(true, Ordering::Release);
        assert_eq!(report.unwrap().found.removed.len(), INTENTS);
        asking.into_iter().map(|it| it.join().unwrap()).sum()
    });
    assert_gone(&annals, INTENTS + made);
    block_on(annals.close());
    let annals = open(home.path());
    assert_gone(&annals, INTENTS + made);
    let report = block_on(annals.index().verify(&mut |_| {})).unwrap();
    assert!(report.is_sound(), "{:#?}", report.findings);
    block_on(annals.close());
}
