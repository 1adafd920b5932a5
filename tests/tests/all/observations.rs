//! Observations through the library: what is noticed becomes one intent, regardless of who
//! else acts on it at the same time.

use std::sync::{Arc, Barrier};
use std::thread;

use annals::domain::intent::{Source, SubmitIntent};
use annals::domain::observation::ObservationKind;
use annals::domain::{ActorRef, IntentId, Refusal};
use annals::event_log::memory::MemoryLog;
use annals::projections::{ObservationView, Status};
use annals::{Annals, At, ExecuteError, ObservationsQuery, Request};
use futures::executor::block_on;
use uuid::Uuid;

const ROUNDS: usize = 20;
const CALLERS: usize = 4;

fn annals() -> Annals {
    Annals::over(Arc::new(MemoryLog::new(Uuid::from_u128(1))))
}

#[test]
fn an_observation_that_is_acted_on_is_open_no_more_and_names_its_intent() {
    let (annals, agent) = (annals(), ActorRef::agent("reflect"));
    let by = annals.by(&agent);
    let evidence = vec!["src/cache.rs:88".to_owned()];
    let noticed = by.observe(
        ObservationKind::Reflection,
        "キャッシュが増え続ける",
        evidence,
    );
    let noticed = block_on(noticed).expect("it is recorded");
    let other = by.observe(
        ObservationKind::Epiphany,
        "The log is never cut",
        Vec::new(),
    );
    let other = block_on(other).expect("it is recorded");
    let open = || {
        let listed = block_on(annals.inbox().observations(&ObservationsQuery::default()));
        let entries = listed.expect("a list").entries;
        entries.iter().map(|it| it.row.id).collect::<Vec<_>>()
    };
    assert_eq!(open(), [noticed.0, other.0], "the oldest first");

    let intent = block_on(by.act_on(noticed, None)).expect("it is proposed");
    let forge = block_on(annals.inbox().forge_intent(intent, At::Now)).expect("a view");
    assert_eq!(forge.source, Source::Reflection);
    assert_eq!(forge.title.as_str(), Some("キャッシュが増え続ける"));
    assert_eq!(forge.observation, Some(noticed));
    block_on(by.process(other, Some("it is meant so".into()))).expect("it is put aside");
    assert_eq!(open(), [] as [Uuid; 0]);
    let seen: ObservationView = block_on(annals.get(noticed)).expect("a view");
    assert_eq!(
        (seen.status(), seen.intent()),
        (Status::Processed, Some(intent))
    );

    let again = block_on(by.act_on(noticed, Some("again".into())));
    assert!(matches!(
        again,
        Err(ExecuteError::Refused {
            refusal: Refusal::Transition { .. },
            ..
        })
    ));
    let none = block_on(by.act_on(Uuid::from_u128(9).into(), None));
    assert!(matches!(
        none,
        Err(ExecuteError::Refused {
            refusal: Refusal::NotFound { .. },
            ..
        })
    ));
}

#[test]
fn of_intents_that_come_from_one_observation_at_once_one_is_accepted() {
    let (annals, agent) = (Arc::new(annals()), ActorRef::agent("agent"));
    let by = annals.by(&agent);
    for round in 0..ROUNDS {
        let text = format!("noticed {round}");
        let noticed = by.observe(ObservationKind::Epiphany, text, Vec::new());
        let noticed = block_on(noticed).expect("it is recorded");
        let barrier = Arc::new(Barrier::new(CALLERS));
        let caller = |_| {
            let (annals, barrier) = (Arc::clone(&annals), Arc::clone(&barrier));
            let agent = agent.clone();
            thread::spawn(move || {
                let command =
                    SubmitIntent::new("do something", Source::Epiphany).with_observation(noticed);
                barrier.wait();
                block_on(annals.execute(Request::new(agent, command)))
            })
        };
        let callers: Vec<_> = (0..CALLERS).map(caller).collect();
        let answers = callers.into_iter().map(|it| it.join().expect("an answer"));
        let (taken, refused): (Vec<_>, Vec<_>) = answers.partition(Result::is_ok);
        assert_eq!((taken.len(), refused.len()), (1, CALLERS - 1));
        let taken = taken.into_iter().flatten().next().and_then(|it| it.id);
        let seen: ObservationView = block_on(annals.get(noticed)).expect("a view");
        assert_eq!(seen.intent(), taken.map(IntentId));
        for answer in refused {
            let refusal = answer.expect_err("it is refused").to_string();
            assert!(refusal.contains("led to intent"), "{refusal}");
        }
    }
}

#[test]
fn two_intents_of_one_batch_cannot_come_from_one_observation() {
    let (annals, agent) = (annals(), ActorRef::agent("agent"));
    let by = annals.by(&agent);
    let noticed = by.observe(ObservationKind::Epiphany, "noticed", Vec::new());
    let noticed = block_on(noticed).expect("it is recorded");
    let before = annals.position();
    let request = || {
        let command = SubmitIntent::new("do something", Source::Epiphany).with_observation(noticed);
        Request::new(agent.clone(), command)
    };
    let both = block_on(annals.execute_batch(None, vec![request(), request()]));
    assert!(matches!(both, Err(ExecuteError::Refused { index: 1, .. })));
    assert_eq!(annals.position(), before, "nothing is stored");
}
