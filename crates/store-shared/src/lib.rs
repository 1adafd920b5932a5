//! One log, many processes: reads are local, appends go to the process that owns it.
//!
//! ```text
//!   owner (has the lock)                      guest
//!   ┌─────────────────────────┐   <log>/sock  ┌──────────────────────────┐
//!   │ SharedLog ── RocksLog   │ ◀──appends─── │ SharedLog ── a reader    │
//!   │                 │       │ ───answers──▶ │                 │        │
//!   └─────────────────┼───────┘               └─────────────────┼────────┘
//!                     └──────────▶ the log's files ◀────────────┘
//! ```
//!
//! [`SharedLog`] is a store behind the three ports. The protocol between the two is described in `docs/sharing.md`.

mod frame;
mod guest;
mod holder;
mod linked;
mod message;
mod owner;
mod owner_search;
mod place;
mod ports;
mod purge;
mod room;
mod share_error;
mod shared;
mod sharing;
mod stranger;
mod sync;
mod wal_age;

pub use annals_files::User;
pub use share_error::ShareError;
pub use shared::SharedLog;
pub use sharing::{Sharing, SharingError};
pub use stranger::check_owner;
