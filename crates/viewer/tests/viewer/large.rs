//! A page costs what it shows, however long the log is. `ANNALS_VIEWER_EVENTS` says how long; the times are promised where it
//! is set. Among other tests, on a busy machine, ten times as much still tells a page that reads the whole log.

use std::time::{Duration, Instant};

use annals::Request;
use annals::blocking::Wait;
use annals::domain::intent::{ActivateIntent, AnalyzeIntent, CreateIntent};
use annals::domain::run::{CreateRun, RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, Command, IntentId, Json, RunId, TaskId};
use uuid::Uuid;

use crate::support::{Place, Viewing};

/// Calls of a run.
const CALLS: usize = 200;
/// Calls of the longest run.
const MANY: usize = 20_000;

fn id(kind: u128, number: usize) -> Uuid {
    Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 | kind << 40 | number as u128)
}

/// Fills a log: many runs of two hundred calls, and one of very many.
fn fill(place: &Place, events: usize) {
    let agent = ActorRef::agent("coder");
    let ada = ActorRef::human("ada");
    let mut bulk = place.annals.bulk();
    let mut number = 0;
    while number * (CALLS + 9) < events {
        let (intent, task, run) = (
            IntentId(id(1, number)),
            TaskId(id(2, number)),
            RunId(id(3, number)),
        );
        let by_ada: [Command; 3] = [
            CreateIntent::new(format!("Do thing {number}"))
                .with_id(intent)
                .into(),
            AnalyzeIntent::new(intent, "It is one thing").into(),
            ActivateIntent::new(intent).into(),
        ];
        let task_of = CreateTask::new(format!("Task {number}")).with_id(task);
        let by_agent: [Command; 3] = [
            task_of.with_intent(intent).into(),
            CreateRun::new(task).with_id(run).into(),
            StartPatching::new(run).into(),
        ];
        let by_ada = by_ada.map(|command| Request::new(ada.clone(), command));
        let by_agent = by_agent.map(|command| Request::new(agent.clone(), command));
        for request in by_ada.into_iter().chain(by_agent) {
            bulk.execute(None, vec![request]).wait().unwrap();
        }
        let calls = if number == 0 { MANY.min(events) } else { CALLS };
        for calls in (0..calls).collect::<Vec<usize>>().chunks(100) {
            let call = |n: &usize| {
                let status = if n.is_multiple_of(50) {
                    ToolStatus::Error
                } else {
                    ToolStatus::Ok
                };
                let call = RecordToolInvocation::new(run, "bash", status)
                    .with_args(Json::parse(&format!(r#"{{"command":"cargo test case_{n}"}}"#)).ok())
                    .with_result_summary(format!("test case_{n} ... ok"))
                    .with_duration_ms(12);
                Request::new(agent.clone(), call)
            };
            bulk.execute(None, calls.iter().map(call).collect())
                .wait()
                .unwrap();
        }
        number += 1;
    }
    bulk.flush().wait().unwrap();
}

#[test]
fn a_page_costs_what_it_shows() {
    let events = std::env::var("ANNALS_VIEWER_EVENTS")
        .ok()
        .and_then(|text| text.parse().ok());
    let slack = if events.is_some() { 1 } else { 10 };
    let events = events.unwrap_or(30_000);
    let place = Place::new();
    fill(&place, events);
    let viewing = Viewing::of(&place);
    let end = place.annals.position().0;
    let number = 1.min(events / (CALLS + 9));
    let (intent, run) = (id(1, number), id(3, number));
    let past = end - end / 10;
    let quick = Duration::from_millis(50);
    let mut slow = Vec::new();
    for (path, most) in [
        ("/".to_owned(), Duration::from_millis(200)),
        (format!("/?at={past}"), Duration::from_millis(200)),
        ("/runs".to_owned(), quick),
        (format!("/runs?at={past}"), quick),
        ("/tool-calls?limit=200".to_owned(), quick),
        ("/log".to_owned(), quick),
        (format!("/log?at={past}"), quick),
        (format!("/events/{past}"), quick),
        ("/inbox".to_owned(), Duration::from_millis(200)),
        ("/search?q=case_7".to_owned(), Duration::from_millis(100)),
        ("/costs".to_owned(), quick),
        (format!("/objects/{intent}"), quick),
        (format!("/objects/{intent}/tree"), quick),
        (format!("/objects/{run}"), quick),
        (format!("/objects/{run}/history"), quick),
        (format!("/objects/{run}/timeline"), quick),
        // The longest run is read as a whole, without its content.
        (
            format!("/objects/{}/timeline", id(3, 0)),
            Duration::from_millis(500),
        ),
        (
            format!("/objects/{}/timeline?from=10000", id(3, 0)),
            Duration::from_millis(500),
        ),
        (format!("/objects/{}/history?order=newest", id(3, 0)), quick),
    ] {
        for address in [
            path.clone(),
            format!("/api/v1{}", path.replacen("/?", "/overview?", 1)),
        ] {
            let address = if address == "/api/v1/" {
                "/api/v1/overview".to_owned()
            } else {
                address
            };
            assert_eq!(viewing.get(&address).status, 200, "{address}");
            let mut times: Vec<Duration> = (0..9)
                .map(|_| {
                    let began = Instant::now();
                    viewing.get(&address);
                    began.elapsed()
                })
                .collect();
            times.sort();
            println!("{:>8.1} ms  {address}", times[4].as_secs_f64() * 1_000.0);
            if times[0] > most * slack {
                slow.push(format!("{address}: {:?}", times[0]));
            }
        }
    }
    assert!(slow.is_empty(), "with {end} events: {slow:?}");
}
