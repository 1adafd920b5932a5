//! A long conversation opens at the turn of any event. `ANNALS_VIEWER_CALLS` gives the number of its tool calls; the time is
//! compared with its bound if that is set, and by `make timings`.

use std::time::{Duration, Instant};

use annals::Request;
use annals::blocking::Wait;
use annals::domain::run::{CreateRun, RecordToolInvocation, StartPatching, ToolStatus};
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, Json, RunId, TaskId};
use annals_testkit::process::is_exact;
use chrono::TimeDelta;
use serde_json::Value;
use uuid::Uuid;

use crate::support::{Place, Viewing};

/// Calls among other tests.
const CALLS: usize = 4_000;
/// The longest time in which an indexed conversation opens at a turn.
const OPENS: Duration = Duration::from_millis(200);

const TASK: TaskId = TaskId(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0001));
const RUN: RunId = RunId(Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0002));

/// Records one session with so many calls, a second apart.
fn fill(place: &Place, calls: usize) {
    let agent = ActorRef::agent("coder");
    let now = annals::event_log::now();
    let mut bulk = place.annals.bulk();
    let mut give = |requests: Vec<Request>| bulk.execute(None, requests).wait().unwrap();
    give(vec![Request::new(
        agent.clone(),
        CreateTask::new("A long one").with_id(TASK),
    )]);
    give(vec![Request::new(
        agent.clone(),
        CreateRun::new(TASK).with_id(RUN),
    )]);
    give(vec![Request::new(agent.clone(), StartPatching::new(RUN))]);
    let numbers: Vec<usize> = (0..calls).collect();
    for part in numbers.chunks(100) {
        let call = |number: &usize| {
            let args = Json::parse(&format!(r#"{{"command":"cargo test case_{number}"}}"#)).ok();
            let call = RecordToolInvocation::new(RUN, "bash", ToolStatus::Ok)
                .with_args(args)
                .with_result_summary(format!("test case_{number} ... ok"))
                .with_duration_ms(12);
            let mut request = Request::new(agent.clone(), call);
            let ago = i64::try_from(calls - number).unwrap();
            request.at = Some((now - TimeDelta::seconds(ago)).into());
            request
        };
        give(part.iter().map(call).collect());
    }
    bulk.flush().wait().unwrap();
}

#[test]
fn a_link_to_an_event_opens_the_conversation_at_its_turn() {
    let given = std::env::var("ANNALS_VIEWER_CALLS").ok();
    let calls = given.as_ref().map_or(CALLS, |calls| calls.parse().unwrap());
    let place = Place::new();
    fill(&place, calls);
    let viewing = Viewing::of(&place);
    let session = format!("/sessions/{}", TASK.0);
    let end = place.annals.position().0;
    let positions = [end, end / 2, end / 3, end - 700, end - 1_500, 10];
    let mut times = Vec::new();
    for position in positions {
        let began = Instant::now();
        let link = viewing.get(&format!("{session}?position={position}"));
        assert_eq!(link.status, 303, "{}", link.body);
        let address = link.header("location").to_owned();
        let (page, turn) = address.split_once("#turn-").unwrap();
        let body = viewing.get(page).body;
        times.push(began.elapsed());
        assert!(body.contains(&format!("id=\"turn-{turn}\"")), "{address}");
        let turns = viewing.data(&format!("{session}/turns?from={turn}&limit=1"));
        let found: Vec<&Value> = turns["turns"].as_array().unwrap().iter().collect();
        assert_eq!(found[0]["number"].to_string(), turn);
        assert_eq!(found[0]["position"], position, "{address}");
    }
    println!("{calls} calls: {times:?}");
    let exact = given.is_some() || is_exact();
    // The first link finds no index, unless the search that led to it made one.
    for took in times.iter().skip(1).filter(|_| exact) {
        assert!(*took <= OPENS, "{took:?}, and not {OPENS:?}");
    }
}
