//! A page costs what it shows, however long the log is. `ANNALS_VIEWER_EVENTS` says how long, and `ANNALS_VIEWER_SESSIONS` how many
//! sessions it has; the times are promised where the first one is set, and by `make timings`. Among other tests the times in two logs are compared, a long one and a short one.

use std::time::{Duration, Instant};

use annals::Request;
use annals::blocking::Wait;
use annals::domain::intent::{ActivateIntent, AnalyzeIntent, CreateIntent};
use annals::domain::run::{
    CreateRun, RecordToolInvocation, RecordUsage, StartPatching, ToolStatus,
};
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, Command, Environment, IntentId, Json, RunId, TaskId};
use annals_testkit::process::is_exact;
use chrono::TimeDelta;
use uuid::Uuid;

use crate::support::{Place, Viewing};

/// Calls of a run, unless the number of sessions says otherwise.
const CALLS: usize = 200;
/// Events of a run beside its calls.
const OTHERS: usize = 11;
/// Calls of the longest run.
const MANY: usize = 20_000;

fn id(kind: u128, number: usize) -> Uuid {
    Uuid::from_u128(0x0198_0000_0000_7000_8000_0000_0000_0000 | kind << 40 | number as u128)
}

/// A number from the environment.
fn given(name: &str) -> Option<usize> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

/// Calls of each run of a log of so many events.
fn calls_of(events: usize) -> usize {
    let sessions = given("ANNALS_VIEWER_SESSIONS");
    let each = sessions.map(|sessions| (events / sessions.max(1)).saturating_sub(OTHERS));
    each.map_or(CALLS, |calls| calls.max(1))
}

/// Fills a log: many runs with calls and tokens, an hour apart, and one run of very many calls.
fn fill(place: &Place, events: usize) {
    let now = annals::event_log::now();
    let each = calls_of(events);
    let agent = ActorRef::agent("coder");
    let ada = ActorRef::human("ada");
    let mut bulk = place.annals.bulk();
    let mut number = 0;
    while number * (each + OTHERS) < events {
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
        let cwd = format!("/home/ada/project-{}", number % 12);
        let environment = Environment::new("linux", "x86_64", cwd);
        let run_of = CreateRun::new(task).with_id(run);
        let used = |tokens| {
            let usage = RecordUsage::new(run, tokens, 400);
            usage.with_model("claude-opus-4-5".to_owned())
        };
        let by_agent: [Command; 5] = [
            task_of.with_intent(intent).into(),
            run_of.with_environment(environment).into(),
            StartPatching::new(run).into(),
            used(1_000).into(),
            used(3_000).into(),
        ];
        let by_ada = by_ada.map(|command| Request::new(ada.clone(), command));
        let at = now - TimeDelta::hours(i64::try_from(number).unwrap());
        let by_agent = by_agent.map(|command| {
            let mut request = Request::new(agent.clone(), command);
            request.at = Some(at.into());
            request
        });
        for request in by_ada.into_iter().chain(by_agent) {
            bulk.execute(None, vec![request]).wait().unwrap();
        }
        let calls = if number == 0 { MANY.min(events) } else { each };
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
                let mut request = Request::new(agent.clone(), call);
                request.at = Some(at.into());
                request
            };
            bulk.execute(None, calls.iter().map(call).collect())
                .wait()
                .unwrap();
        }
        number += 1;
    }
    bulk.flush().wait().unwrap();
}

/// Events of the log among other tests, and of one that is a tenth as long.
const EVENTS: usize = 30_000;
/// How many times as long a page may take in the log that is ten times as long, and how much is no measure of anything.
const MOST_TIMES: u32 = 5;
const NOISE: Duration = Duration::from_millis(20);

/// The addresses of a log of so many events, and how long each may take by itself.
fn addresses(events: usize, end: u64) -> Vec<(String, Duration)> {
    let number = 1.min(events / (calls_of(events) + OTHERS));
    let (intent, run, longest) = (id(1, number), id(3, number), id(3, 0));
    let past = end - end / 10;
    let half = MANY.min(events) / 2;
    let (quick, slow) = (Duration::from_millis(50), Duration::from_millis(200));
    let pages = [
        ("/".to_owned(), Duration::from_millis(100)),
        (format!("/?at={past}"), slow),
        ("/runs".to_owned(), quick),
        (format!("/runs?at={past}"), quick),
        ("/tool-calls?limit=200".to_owned(), quick),
        ("/log".to_owned(), quick),
        (format!("/log?at={past}"), quick),
        (format!("/events/{past}"), quick),
        ("/inbox".to_owned(), slow),
        ("/search?q=case_7".to_owned(), Duration::from_millis(100)),
        ("/costs".to_owned(), quick),
        (format!("/objects/{intent}"), quick),
        (format!("/objects/{intent}/tree"), quick),
        (format!("/objects/{run}"), quick),
        (format!("/objects/{run}/history"), quick),
        (format!("/objects/{run}/timeline"), quick),
        // The longest run is read as a whole, without its content.
        (format!("/objects/{longest}/timeline"), 10 * quick),
        (
            format!("/objects/{longest}/timeline?from={half}"),
            10 * quick,
        ),
        (format!("/objects/{longest}/history?order=newest"), quick),
    ];
    let both = pages.into_iter().flat_map(|(path, most)| {
        let of_api = match path.strip_prefix("/?") {
            Some(query) => format!("/api/v1/sessions?{query}"),
            None if path == "/" => "/api/v1/sessions".to_owned(),
            None => format!("/api/v1{path}"),
        };
        [(path, most), (of_api, most)]
    });
    both.collect()
}

/// The least of several times that a page takes: what else the machine does is not in it.
fn least(viewing: &Viewing, address: &str) -> Duration {
    let time = |_| {
        let began = Instant::now();
        assert_eq!(viewing.get(address).status, 200, "{address}");
        began.elapsed()
    };
    time(0);
    let least = (0..9).map(time).min().unwrap();
    println!("{:>8.1} ms  {address}", least.as_secs_f64() * 1_000.0);
    least
}

fn filled(events: usize) -> (Place, Viewing, Vec<(String, Duration)>) {
    let place = Place::new();
    fill(&place, events);
    let viewing = Viewing::of(&place);
    let addresses = addresses(events, place.annals.position().0);
    (place, viewing, addresses)
}

/// The ratio of two logs in one run, so that a busy machine changes nothing: a page that reads all of its log takes ten times
/// as long in one that is ten times as long.
#[test]
fn a_page_costs_what_it_shows() {
    let events = given("ANNALS_VIEWER_EVENTS");
    if events.is_some() || is_exact() {
        let (_place, viewing, addresses) = filled(events.unwrap_or(EVENTS));
        for (address, most) in addresses {
            let took = least(&viewing, &address);
            assert!(took <= most, "{address}: {took:?}, and not {most:?}");
        }
        return;
    }
    let (_short, of_short, short) = filled(EVENTS / 10);
    let (_long, of_long, long) = filled(EVENTS);
    // The longest run is longer in the long log.
    let grows = |address: &str| address.contains(&format!("{}/timeline", id(3, 0)));
    let pairs = short.into_iter().zip(long);
    for ((short, _), (long, _)) in pairs.filter(|(_, (long, _))| !grows(long)) {
        let is_in_proportion = |_| {
            let (short, long) = (least(&of_short, &short), least(&of_long, &long));
            long <= short * MOST_TIMES + NOISE
        };
        assert!(
            (0..5).any(is_in_proportion),
            "{long}: more than {MOST_TIMES} times as long as in a log of a tenth"
        );
    }
}
