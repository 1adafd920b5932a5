//! Who called a sub-agent: the session itself, or another sub-agent of it.

use annals::ViewError;
use annals::projections::{RunView, TaskView, ToolInvocationView};
use annals_domain::{TaskId, Timestamp, ToolInvocationId};

use super::importer::{Done, Importer};
use super::item::SubAgent;
use super::session::{Caller, MAIN};
use crate::import::error::ImportError;

/// So deep sub-agents may call others. What is deeper is a part of the session.
const DEPTH: usize = 64;

/// The longest name of a caller, in bytes.
const NAME: usize = 1_000;

impl Importer<'_> {
    /// Remembers who called a sub-agent. What was told first of a call and of its chain stays.
    pub(super) fn called(&mut self, agent: SubAgent) {
        let session = agent.session.unwrap_or_else(|| self.stem.clone());
        let known = self.session(&session).callers.entry(agent.name);
        let known: &mut Caller = known.or_default();
        known.call = known.call.take().or(agent.call);
        known.chain = known.chain.take().or(agent.parent);
    }

    /// Lets the chains begin that called a side chain, the outermost one first.
    pub(super) async fn open_callers(
        &mut self,
        session: &str,
        chain: &str,
        at: Timestamp,
        line: u64,
    ) -> Done {
        let mut chains = vec![chain.to_owned()];
        while let Some(inner) = chains.last().cloned()
            && !self.session(session).chain(&inner).is_ready
        {
            let above = self.caller_of(session, &inner).await?;
            // A circle cannot be: the first one of it is the session's own.
            if above == MAIN || chains.contains(&above) || chains.len() > DEPTH {
                break;
            }
            self.session(session).chain(&inner).above.clone_from(&above);
            chains.push(above);
        }
        for above in chains.iter().skip(1).rev() {
            self.begin(session, above, at, line).await?;
            self.release(session, above).await?;
        }
        Ok(())
    }

    /// The chain that a side chain was called from: that of the call, or else the one that is named.
    async fn caller_of(&mut self, session: &str, chain: &str) -> Result<String, ImportError> {
        let own = self.session(session);
        let caller = own.callers.get(chain).cloned().unwrap_or_default();
        let named = caller
            .chain
            .filter(|named| named != session && is_name(named));
        let Some(call) = caller.call else {
            return Ok(named.unwrap_or_default());
        };
        if let Some(chain) = own.side_calls.get(&call) {
            return Ok(chain.clone());
        }
        match named {
            Some(named) => Ok(named),
            None if own.has_own_call(&call) => Ok(MAIN.to_owned()),
            None => self.chain_in_log(session, &call).await,
        }
    }

    /// The side chain of a call that an earlier import recorded.
    async fn chain_in_log(&mut self, session: &str, call: &str) -> Result<String, ImportError> {
        let ids = self.ids.tool(call);
        if !self.is_known(ids.batch).await? {
            return Ok(MAIN.to_owned());
        }
        self.settle_for(ids.invocation).await?;
        match self.side_chain(ids.invocation).await {
            // Another session may have a call of this name.
            Ok(Some(chain)) if self.ids.side_chain(session, &chain.0).task == chain.1 => {
                Ok(chain.0)
            }
            Ok(_) | Err(ViewError::NotFound { .. }) => Ok(MAIN.to_owned()),
            Err(error) => Err(ImportError::View(Box::new(error))),
        }
    }

    /// The side chain of a call in the log, and its task.
    async fn side_chain(
        &self,
        call: ToolInvocationId,
    ) -> Result<Option<(String, TaskId)>, ViewError> {
        let call: ToolInvocationView = self.annals.get(call).await?;
        let run: RunView = self.annals.get(call.run_id).await?;
        let task: TaskView = self.annals.get(run.task).await?;
        let chain = task.header.external_ids.ending_with(".side_chain");
        Ok(chain.map(|chain| (chain.to_owned(), run.task)))
    }
}

/// Whether a task may be called so: its sub-agents cannot be recorded without it.
fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && name.len() <= NAME && !name.chars().any(char::is_control)
}
