//! The disk and its power: one operation at a time, with the faults that are due.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fuser::{Errno, FileType};

use super::cut::{Cut, CutReport};
use super::faults::{Counts, Effect, Event, Faults, Operation, When};
use super::journal::Ino;
use super::restart;
use super::tree::Tree;

/// What the kernel's threads and the caller share.
#[derive(Debug)]
pub(super) struct Disk {
    state: Mutex<State>,
    power_changed: Condvar,
}

/// Everything, behind one lock.
#[derive(Debug)]
pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) faults: Faults,
    pub(super) counts: Counts,
    pub(super) handles: HashMap<u64, Handle>,
    next_handle: u64,
    powered: bool,
    /// How often the power has come back.
    epoch: u64,
}

/// What a process has open.
#[derive(Debug)]
pub(super) enum Handle {
    File(Ino),
    Directory {
        ino: Ino,
        names: Vec<(Ino, FileType, OsString)>,
    },
}

/// What an operation is about, for patterns and hooks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Subject<'a> {
    Inode(Ino),
    Name(Ino, &'a std::ffi::OsStr),
}

/// How an operation is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Manner {
    Properly,
    Partly { bytes: usize, then: Errno },
    Forgetting,
    NotAtAll,
}

impl State {
    /// Remembers what a process opened.
    pub(super) fn open(&mut self, handle: Handle) -> u64 {
        let number = self.next_handle;
        self.next_handle += 1;
        let (Handle::File(ino) | Handle::Directory { ino, .. }) = &handle;
        self.tree.opened(*ino);
        self.handles.insert(number, handle);
        number
    }

    pub(super) fn close(&mut self, number: u64) {
        if let Some(Handle::File(ino) | Handle::Directory { ino, .. }) =
            self.handles.remove(&number)
        {
            self.tree.closed(ino);
        }
    }

    /// Refuses handles from before a cut.
    pub(super) fn check(&self, handle: u64) -> Result<(), Errno> {
        if self.handles.contains_key(&handle) {
            Ok(())
        } else {
            Err(Errno::ESTALE)
        }
    }

    fn path(&self, subject: Subject<'_>) -> PathBuf {
        match subject {
            Subject::Inode(ino) => self.tree.path(ino),
            Subject::Name(parent, name) => self.tree.path(parent).join(name),
        }
    }
}

impl Disk {
    pub(super) fn new(tree: Tree) -> Disk {
        Disk {
            state: Mutex::new(State {
                tree,
                faults: Faults::default(),
                counts: Counts::default(),
                handles: HashMap::new(),
                next_handle: 1,
                powered: true,
                epoch: 0,
            }),
            power_changed: Condvar::new(),
        }
    }

    /// The state, also after a panic of a thread that had it: each change of it is whole.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn power_off(&self) {
        self.state().powered = false;
        self.power_changed.notify_all();
    }

    pub(super) fn power_on(&self, cut: Cut) -> CutReport {
        let mut state = self.state();
        let root = super::tree::Attributes {
            mode: 0o755,
            uid: 0,
            gid: 0,
        };
        let before = std::mem::replace(&mut state.tree, Tree::new(0, root));
        let (after, report) = restart::restart(before, cut);
        state.tree = after;
        state.handles.clear();
        state.faults.disarm();
        state.powered = true;
        state.epoch += 1;
        drop(state);
        self.power_changed.notify_all();
        report
    }

    /// Takes the power, and makes the state what it was once, with what was not synced.
    pub(super) fn restore(&self, snapshot: &Tree) {
        let mut state = self.state();
        state.powered = false;
        state.tree = state.tree.as_of(snapshot);
        state.handles.clear();
        drop(state);
        self.power_changed.notify_all();
    }

    pub(super) fn is_powered(&self) -> bool {
        self.state().powered
    }

    /// Waits until the power is off; says whether it is.
    pub(super) fn wait_for_power_off(&self, at_most: Duration) -> bool {
        let until = Instant::now() + at_most;
        let mut state = self.state();
        while state.powered {
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                return false;
            };
            state = self
                .power_changed
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    /// Looks at something: no fault, and no answer without power.
    pub(super) fn look<T>(
        &self,
        look: impl FnOnce(&mut State) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut state = self.state();
        if state.powered {
            look(&mut state)
        } else {
            Err(Errno::EIO)
        }
    }

    /// Does one operation, counted, with the fault that is due.
    pub(super) fn operate<T>(
        &self,
        thread: u32,
        operation: Operation,
        subject: Subject<'_>,
        act: impl FnOnce(&mut State, Manner) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let mut state = self.state();
        if !state.powered {
            return Err(Errno::EIO);
        }
        state.counts.add(operation);
        let State { faults, tree, .. } = &mut *state;
        let effect = faults.due(operation, || match subject {
            Subject::Inode(ino) => tree.path(ino),
            Subject::Name(parent, name) => tree.path(parent).join(name),
        });
        let manner = match effect {
            None => Manner::Properly,
            Some(Effect::Fail(error) | Effect::KeepFailing(error)) => return Err(error),
            Some(Effect::FailAndForget) => Manner::Forgetting,
            Some(Effect::Partial { bytes, then }) => Manner::Partly { bytes, then },
            Some(Effect::Lie) => Manner::NotAtAll,
            Some(Effect::PowerOff(when)) => {
                if when == When::After {
                    let _ = act(&mut state, Manner::Properly);
                }
                state.powered = false;
                self.power_changed.notify_all();
                return Err(Errno::EIO);
            }
            Some(Effect::Hook(hook)) => {
                let cut_power = || self.power_off();
                let event = Event {
                    operation,
                    path: state.path(subject),
                    thread,
                    cut_power: &cut_power,
                    failed: Mutex::default(),
                };
                let epoch = state.epoch;
                drop(state); // other operations go on while the function runs
                let returned = hook.call(&event);
                state = self.state();
                if !returned || !state.powered || state.epoch != epoch {
                    return Err(Errno::EIO);
                }
                if let Some(errno) = event.failed() {
                    return Err(errno);
                }
                Manner::Properly
            }
        };
        act(&mut state, manner)
    }
}
