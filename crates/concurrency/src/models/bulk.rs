//! A bulk writer beside an owner that goes: every append is answered, in order, and none keeps another one waiting.

use std::sync::Arc;

use annals_event_log::{Appended, Position};
use futures::FutureExt;
use futures::future::BoxFuture;
use shuttle::future::block_on;
use uuid::Uuid;

use super::one_of;
use crate::bulk::given::{Batch, Given};
use crate::bulk::line::{Answer, HandedOver, Line, OnItsWay, hand_over};
use crate::owner_search::{OwnerSearch, Plan};
use crate::sync::{AsyncMutex, Condvar, Mutex, oneshot, point, thread};

/// How many batches the writer is given.
const BATCHES: u64 = 4;

/// How a process finds the next owner.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Finding {
    /// As the store does it.
    Search,
    /// By a lock that the caller holds while it waits for the search: the bug.
    UnderALock,
}

/// How a writer waits for what is no append of its own.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Waiting {
    /// With its appends polled meanwhile.
    Beside,
    /// Alone, as a caller does that reads between two batches.
    Alone,
}

/// The process that owns the log: it answers some calls, and goes.
#[derive(Default)]
struct Owner {
    /// Nothing once it is gone.
    calls: Mutex<Option<Vec<oneshot::Sender<()>>>>,
    called: Condvar,
}

impl Owner {
    fn start(answers: usize) -> (Arc<Owner>, thread::JoinHandle<()>) {
        let owner = Arc::new(Owner {
            calls: Mutex::new(Some(Vec::new())),
            called: Condvar::new(),
        });
        let serving = Arc::clone(&owner);
        let serve = move || {
            for _ in 0..answers {
                let mut calls = serving.calls.lock().unwrap();
                while calls.as_ref().is_some_and(Vec::is_empty) {
                    calls = serving.called.wait(calls).unwrap();
                }
                let call = calls.as_mut().map(|calls| calls.remove(0));
                drop(calls);
                let _ = call.map(|call| call.send(()));
            }
            let gone = serving.calls.lock().unwrap().take();
            drop(gone);
        };
        let thread = thread::Builder::new().spawn(serve).unwrap();
        (owner, thread)
    }

    /// Ends it, where it waits for calls that never come.
    fn end(&self) {
        drop(self.calls.lock().unwrap().take());
        self.called.notify_one();
    }

    /// Whether it has answered before it was gone.
    async fn call(&self) -> bool {
        let answered = {
            let mut calls = self.calls.lock().unwrap();
            let Some(calls) = &mut *calls else {
                return false;
            };
            let (answer, answered) = oneshot::channel();
            calls.push(answer);
            answered
        };
        self.called.notify_one();
        answered.await.is_ok()
    }
}

#[derive(Clone)]
enum Role {
    Owner,
    Guest(Arc<Owner>),
}

/// A process with the log open.
struct Process {
    role: Mutex<Role>,
    finding: Finding,
    lock: Arc<AsyncMutex<()>>,
    search: Arc<OwnerSearch<Role>>,
}

impl Process {
    fn role(&self) -> Role {
        self.role.lock().unwrap().clone()
    }

    fn has_other(&self, lost: &Arc<Owner>) -> Option<Role> {
        let role = self.role();
        let is_lost = matches!(&role, Role::Guest(owner) if Arc::ptr_eq(owner, lost));
        (!is_lost).then_some(role)
    }

    /// Takes the place of the owner that is gone.
    fn find(&self) -> Role {
        point();
        *self.role.lock().unwrap() = Role::Owner;
        Role::Owner
    }

    async fn after(self: &Arc<Self>, lost: &Arc<Owner>) -> Role {
        let process = Arc::clone(self);
        if self.finding == Finding::UnderALock {
            let _turn = Arc::clone(&self.lock).lock_owned().await;
            if let Some(role) = self.has_other(lost) {
                return role;
            }
            let (found, finding) = oneshot::channel();
            let find = move || drop(found.send(process.find()));
            thread::Builder::new().spawn(find).unwrap();
            return finding.await.unwrap();
        }
        let plan = || match self.has_other(lost) {
            Some(role) => Plan::Known(role),
            None => Plan::Search(move || process.find()),
        };
        let found = self.search.outcome(plan).await;
        found.unwrap().expect("no search is lost")
    }

    /// Has the owner do something, or the next one, if it goes before it answers.
    async fn ask(self: &Arc<Self>) {
        let mut role = self.role();
        while let Role::Guest(owner) = role {
            if owner.call().await {
                return;
            }
            role = self.after(&owner).await;
        }
    }

    fn append(self: &Arc<Self>, number: u64) -> BoxFuture<'static, Answer> {
        let process = Arc::clone(self);
        let append = async move {
            process.ask().await;
            Ok(Appended::new(Position(number), Position(number)))
        };
        append.boxed()
    }
}

/// Gives a writer batches, with a look at the log before each, while the owner goes.
fn write_beside_an_owner_that_goes(finding: Finding, waiting: Waiting) {
    let (owner, serving) = Owner::start(one_of([0, 1, 2, 3]));
    let process = Arc::new(Process {
        role: Mutex::new(Role::Guest(Arc::clone(&owner))),
        finding,
        lock: Arc::default(),
        search: OwnerSearch::new(),
    });
    let mut line = Line::default();
    let mut answered = Vec::new();
    let mut take = |(batch, answer): (OnItsWay, Answer)| {
        assert_eq!(answer.unwrap().last, Position(batch.number));
        answered.push(batch.number);
    };
    for number in 0..BATCHES {
        let look = process.ask();
        match waiting {
            Waiting::Beside => block_on(line.beside(look)),
            Waiting::Alone => block_on(look),
        }
        let handing = hand_over(process.append(number), number % 2 == 0);
        let handed = match waiting {
            Waiting::Beside => block_on(line.beside(handing)),
            Waiting::Alone => block_on(handing),
        };
        let append = match handed {
            HandedOver::Waits(append) => append,
            HandedOver::Answered(answer) => std::future::ready(answer).boxed(),
        };
        let next = OnItsWay {
            given: Given {
                batch: Batch(Uuid::from_u128(u128::from(number))),
            },
            number,
            epoch: 0,
            touched: Default::default(),
            bytes: 1,
        };
        line.push(next, append);
        while let Some(oldest) = line.answered() {
            take(oldest);
        }
    }
    while let Some(oldest) = block_on(line.oldest()) {
        take(oldest);
    }
    assert_eq!(answered, (0..BATCHES).collect::<Vec<_>>());
    block_on(process.search.idle());
    owner.end();
    serving.join().unwrap();
}

/// The store and the writer as they are; the writer polls its appends while it looks.
pub fn a_writer_goes_on_when_its_owner_goes() {
    write_beside_an_owner_that_goes(Finding::Search, Waiting::Beside);
}

/// A caller that looks at the log between two batches polls no append meanwhile: those hold nothing that it needs.
pub fn an_append_that_is_not_polled_keeps_nobody_waiting() {
    write_beside_an_owner_that_goes(Finding::Search, Waiting::Alone);
}

/// Also where a store needs its younger calls polled to answer older ones, the writer does not hang.
pub fn every_append_is_polled_while_the_writer_waits() {
    write_beside_an_owner_that_goes(Finding::UnderALock, Waiting::Beside);
}

/// The bug that the models must find: a lock that is held while its holder waits, by a future that is not polled.
pub fn a_lock_across_an_await_hangs() {
    write_beside_an_owner_that_goes(Finding::UnderALock, Waiting::Alone);
}
