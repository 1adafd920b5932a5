//! What agents tell of their sessions while they work, by hooks and telemetry.
//!
//! A session becomes the same task, run, plan and pipeline as by an import of its transcript, under the same ids,
//! and what is told of it is recorded once, however often it is told. So the two meet, whatever comes first, and the
//! transcript adds what it alone knows: what the model saw and said, and what it cost.
//!
//! ```
//! use annals::Annals;
//! use annals_dialects::import::RedactedText;
//! use annals_dialects::live::{Live, Telling, Told, agent};
//! use annals_dialects::secrets::Secrets;
//! use annals_domain::Timestamp;
//!
//! # futures::executor::block_on(async {
//! let annals = Annals::open("memory:").await?;
//! let claude = agent("claude").ok_or("it is known")?;
//! let asked = Telling::new("session-1", "event-1", Timestamp::EPOCH, Told::Prompt {
//!     id: "prompt-1".into(),
//!     text: RedactedText::plain("Fix the tests", &Secrets::standard()).0,
//! });
//! let mut live = Live::new(&annals, claude);
//! live.tell(&asked).await?;
//! live.tell(&asked).await?;
//! assert_eq!(annals.index().list(&annals::projections::ListQuery::new(annals::domain::Kind::Intent)).await?.rows.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```

use crate::transcript::agent::Agent;
use crate::transcript::edit::{FileUse, Patch};
use crate::transcript::item::COUNTS;
use crate::{claude, codex, cursor, gemini};

pub use crate::transcript::live::{Live, Outcome};
pub use crate::transcript::telling::{
    Around, CallStep, CallTold, Decided, FileSays, LiveAgent, Telling, Told,
};

/// Any other agent, which tells of its work by the conventions of OpenTelemetry.
static OTEL: Agent = Agent {
    key: "otel",
    actor: "agent",
    provider: "unknown",
    version_key: "agent_version",
    session_path: "gen_ai.conversation.id",
    setting_paths: ["", "", "service.version"],
    no_model: "",
    token_paths: [""; COUNTS],
    time_path: "",
    files: |_, _| Vec::<FileUse>::new(),
    edits: |_| false,
    patch: |_| Patch::default(),
    asked: |text| Some(text),
    begins_beside: |_| false,
};

/// The keys of the agents that are recorded as they work.
pub fn agents() -> impl Iterator<Item = &'static str> {
    all().into_iter().map(|agent| agent.key)
}

fn all() -> [&'static Agent; 5] {
    [
        claude::KIND.agent,
        codex::KIND.agent,
        cursor::KIND.agent,
        gemini::KIND.agent,
        &OTEL,
    ]
}

/// The agent with this key: `claude`, `codex`, `cursor` or `gemini`, or `otel` for any other one that has telemetry.
pub fn agent(key: &str) -> Option<LiveAgent> {
    all().into_iter().find(|it| it.key == key).map(LiveAgent)
}
