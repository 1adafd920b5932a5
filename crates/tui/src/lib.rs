//! The terminal view of a log (`annals tui`): sessions and their conversations, lists of objects, an object's fields, a run
//! as a timeline, the context window as blocks, a patch set's diff. The arrow keys move the sessions, a conversation and an object through
//! time: the screen is as it was after an event, by the same views as the command line's `--at`.
//!
//! It only reads. All that it draws goes through `annals_terminal`, so that what a log holds cannot drive the terminal.
//!
//! | Module | Has |
//! | --- | --- |
//! | `app` | the state: a stack of screens, and what a key does to it |
//! | `lists`, `session`, `object`, `fields` | the screens: what they load, where the cursor is |
//! | `past` | past positions, and the texts that name one |
//! | `steps` | in which direction a search goes |
//! | `draw` | how each is drawn |
//! | `run` | the terminal itself |

mod app;
mod cursor;
mod draw;
mod error;
mod fields;
mod key;
mod lists;
mod object;
mod options;
mod past;
mod run;
mod session;
mod steps;
mod text;

#[cfg(test)]
mod tests;

pub use error::ScreenError;
pub use options::Options;
pub use run::{TuiError, run};
