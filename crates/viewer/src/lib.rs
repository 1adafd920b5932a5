//! Web pages of a log, for reading: sessions and their conversations, costs, searches, and every object with its
//! history; now, and as of any earlier position.
//!
//! The pages are made here, by the same library functions as the command line's answers, and work without their script.
//! Each has its JSON: its address with `/api/v1` before it (`/api/v1/openapi.json` describes all). Nothing is written:
//! there is no route for it, and a log that is open for reading only is enough. `docs/viewer.md` has the pages, ADR 34
//! why it is so.
//!
//! ```no_run
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! use annals::OpenOptions;
//! use annals_viewer::{Viewer, ViewerOptions};
//!
//! let annals = OpenOptions::new().read_only(true).open(".annals")?;
//! let viewer = Viewer::start(annals, ViewerOptions::default()).await?;
//! println!("http://{}/", viewer.address());
//! viewer.run(std::future::pending()).await;
//! # Ok(())
//! # }
//! ```

#![cfg_attr(test, allow(clippy::too_many_lines, reason = "tests may be long"))]

mod answer;
mod assets;
mod blocking;
mod code;
mod costing;
mod diff_view;
mod export;
mod fields;
mod figures;
mod foreign;
mod guard;
mod html;
mod inbox_count;
mod index_upkeep;
mod live;
mod markdown;
mod model;
mod moment;
mod openapi;
mod options;
mod pages;
mod problem;
mod proof;
mod reading;
mod respond;
mod routes;
mod searching;
mod server;
mod session_entry;
mod shell;
mod shown;
mod state;
mod waiting_session;

pub use annals_http::Token;
pub use export::{ExportError, HtmlExport, HtmlOptions, export_html};
pub use options::{PORT, ViewerOptions};
pub use server::{Viewer, ViewerError};
