//! Sessions of agents: their gate, their events, and their commands under other policies.

use annals_domain::SessionId;
use annals_event_log::{ReadError, Record, Version};
use futures::Stream;

use crate::Annals;

/// Sessions of agents: the gate that judges their commands, and what was judged. [`Annals::sessions`] gives
/// it.
///
/// A service gives every command of an agent through [`Sessions::gate`] and does what was accepted; how an accepted one
/// ended is recorded by [`As::complete_command`](crate::As::complete_command). `docs/gate.md` has the rules.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # futures::executor::block_on(async {
/// use annals::Annals;
/// use annals::domain::SessionId;
/// use annals::domain::session::PolicyProfile;
/// use annals::projections::session_replay::SessionReplayOptions;
///
/// let annals = Annals::open("memory:").await?;
/// // All sessions of the log, judged under another profile.
/// let profile = PolicyProfile::new("careful");
/// let sessions: &[SessionId] = &[];
/// let replay = annals
///     .sessions()
///     .replay(sessions, &profile, SessionReplayOptions::default())
///     .await?;
/// assert!(replay.flipped.is_empty());
/// # Ok(())
/// # })
/// # }
/// ```
///
/// Who may open a session, and under which policy, is the caller's to decide: the library takes any actor's. An
/// approval is answered (`ApproveSession`, `DenySession`) by people and programs, and an agent's is refused.
#[derive(Debug, Clone, Copy)]
pub struct Sessions<'a> {
    pub(crate) annals: &'a Annals,
}

impl Annals {
    /// Sessions of agents: their gate, their events, their commands under other policies.
    pub fn sessions(&self) -> Sessions<'_> {
        Sessions { annals: self }
    }
}

impl Sessions<'_> {
    /// Every record of a session, first what is there, then what comes: see
    /// [`Annals::subscribe_to`].
    pub fn events(
        self,
        session: SessionId,
    ) -> impl Stream<Item = Result<Record, ReadError>> + Send + use<> {
        self.annals.subscribe_to(session.stream(), Version::NONE)
    }
}
