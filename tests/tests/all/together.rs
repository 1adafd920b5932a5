//! Commands at the same time: what one caller gets as an answer must be what the log has,
//! regardless of which caller came first.

use std::pin::pin;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use annals::domain::intent::{AnalyzeIntent, CreateIntent};
use annals::domain::run::CreateRun;
use annals::domain::task::CreateTask;
use annals::domain::{ActorRef, Command, IntentId, RunId, TaskId};
use annals::{Annals, Outcome, Request};
use annals_event_log::Position;
use futures::FutureExt;
use futures::executor::block_on;
use uuid::Uuid;

use crate::stores::{Logs, over_each_store};

over_each_store! {
    a_repeat_of_a_dropped_request_names_the_object_that_is_there,
    of_two_objects_that_ask_for_one_id_one_gets_it,
}

const ROUNDS: usize = 40;

fn request(command: impl Into<Command>) -> Request {
    Request::new(ActorRef::agent("test"), command)
}

fn create_intent(id: Option<IntentId>) -> CreateIntent {
    CreateIntent::new("do").with_id(id)
}

/// The first future is dropped somewhere on its way. Without an answer from the
/// store that it knows the batch, the second one would invent another id.
fn a_repeat_of_a_dropped_request_names_the_object_that_is_there(logs: &dyn Logs) {
    let annals = Annals::over(logs.open());
    for round in 0..ROUNDS {
        let request = request(create_intent(None)).key(Uuid::now_v7());
        let before = annals.position();
        {
            let mut first = pin!(annals.execute(request.clone()));
            for _ in 0..=round % 4 {
                if first.as_mut().now_or_never().is_some() {
                    break;
                }
                thread::sleep(Duration::from_micros(20 * (round as u64 % 5)));
            }
        }
        let outcome = block_on(annals.execute(request)).expect("the answer");
        assert_eq!(outcome.position, Position(before.0 + 1), "one event");
        assert_eq!(annals.position(), outcome.position);
        let id = outcome.id.expect("the intent's id");
        block_on(annals.view(IntentId(id))).expect("it is there");
        block_on(annals.execute(self::request(AnalyzeIntent::new(IntentId(id), "it"))))
            .expect("it can be gone on with");
    }
}

fn of_two_objects_that_ask_for_one_id_one_gets_it(logs: &dyn Logs) {
    let annals = Arc::new(Annals::over(logs.open()));
    let task = block_on(annals.execute(request(CreateTask::new("do")))).expect("a task");
    let task = TaskId(task.id.expect("the task's id"));
    for _ in 0..ROUNDS {
        let id = Uuid::now_v7();
        let intent: Command = create_intent(Some(IntentId(id))).into();
        // Its stream is its own, but it waits in the lane of its task.
        let run = CreateRun::new(task).with_id(RunId(id));
        let start = Arc::new(Barrier::new(2));
        let callers = [intent, run.into()].map(|command| {
            let (annals, start) = (Arc::clone(&annals), Arc::clone(&start));
            thread::spawn(move || {
                start.wait();
                block_on(annals.execute(request(command)))
            })
        });
        let answers = callers.map(|caller| caller.join().expect("no panic"));
        let accepted: Vec<&Outcome> = answers.iter().flatten().collect();
        assert_eq!(accepted.len(), 1, "{answers:?}");
        let refused = answers.iter().find_map(|answer| answer.as_ref().err());
        let refused = refused.expect("the other one").to_string();
        assert!(refused.contains("exists already"), "{refused}");
    }
}
