//! Recording what an agent's program tells while a session goes on: the same objects under the same ids as its
//! transcript makes.

use std::sync::Arc;
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;

use annals::Annals;
use annals::projections::{JsonText, ToolInvocationView};
use annals_domain::run::{EvidenceKind, RecordEvidence};
use annals_domain::{ContentPart, IntentId};
use uuid::Uuid;

use super::agent::Agent;
use super::batch::{ImportBatch, Load};
use super::commands::{self, By};
use super::ids::ToolIds;
use super::importer::{Done, Importer};
use super::item::Setting;
use super::record::Recorded;
use super::session::MAIN;
use super::telling::{Around, CallStep, CallTold, LiveAgent, Telling, Told};
use super::texts;
use super::told_call;
use crate::import::error::ImportError;
use crate::import::{ImportOptions, RedactedText};

static OPTIONS: LazyLock<ImportOptions> = LazyLock::new(ImportOptions::default);

/// What became of something that was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It is on disk.
    Recorded,
    /// The log had it.
    Before,
    /// The log does not have its session yet, and it does not begin one: tell it again when something did.
    Waits,
    /// The log cannot have it: what it is about is over, or it is too large.
    Refused,
}

/// Records what an agent tells of its sessions.
pub struct Live<'a> {
    importer: Importer<'a>,
}

impl std::fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").finish_non_exhaustive()
    }
}

impl<'a> Live<'a> {
    /// Records what an agent tells into a log.
    pub fn new(annals: &'a Annals, agent: LiveAgent) -> Live<'a> {
        let counts = Arc::new(AtomicBool::new(false));
        let source = format!("{} live", agent.key());
        Live {
            importer: Importer::new(annals, agent.0, &OPTIONS, counts, source),
        }
    }

    /// Records one thing, once. It is on disk when this answers.
    ///
    /// # Errors
    /// [`ImportError`]; telling it again is safe.
    pub async fn tell(&mut self, telling: &Telling) -> Result<Outcome, ImportError> {
        let outcome = self.tell_ahead(telling).await?;
        self.settle().await?;
        Ok(outcome)
    }

    /// Records one thing, once, and does not wait for the disk: [`Live::settle`] does, for many of them at once.
    ///
    /// # Errors
    /// [`ImportError`]; telling it again is safe.
    pub async fn tell_ahead(&mut self, telling: &Telling) -> Result<Outcome, ImportError> {
        self.importer.told(telling).await
    }

    /// Waits until all that was told is on disk.
    ///
    /// # Errors
    /// [`ImportError`]; what of it is on disk is not known, and telling it again is safe.
    pub async fn settle(&mut self) -> Result<(), ImportError> {
        self.importer.settle().await
    }
}

impl Importer<'_> {
    async fn told(&mut self, telling: &Telling) -> Result<Outcome, ImportError> {
        self.place(telling);
        let outcome = self.told_itself(telling).await?;
        match &telling.beside {
            Some(beside) if outcome != Outcome::Waits => {
                self.told_around(telling, beside, 1).await?;
            }
            _ => {}
        }
        Ok(outcome)
    }

    async fn told_itself(&mut self, telling: &Telling) -> Result<Outcome, ImportError> {
        match &telling.told {
            Told::Prompt { id, text } => self.told_prompt(telling, id, text).await,
            Told::Call(call) => self.told_call(telling, call).await,
            Told::Around(around) => self.told_around(telling, around, 0).await,
        }
    }

    /// Remembers where its session is, should that begin with it.
    fn place(&mut self, telling: &Telling) {
        let session = self.session(&telling.session);
        session.at = telling.at;
        let chain = session.chain(telling.side.as_deref().unwrap_or(MAIN));
        let name = |name: Option<&str>| {
            let mut name = name?.to_owned();
            texts::shorten_name(&mut name);
            Some(name)
        };
        chain.setting.get_or_insert_with(|| Setting {
            cwd: name(telling.cwd.as_deref()),
            git_branch: None,
            version: name(telling.version.as_deref()),
            continues: None,
        });
        if chain.title.is_none() {
            chain.title = telling.title.as_deref().map(str::to_owned);
        }
    }

    async fn told_prompt(
        &mut self,
        telling: &Telling,
        id: &str,
        text: &str,
    ) -> Result<Outcome, ImportError> {
        let (intent, key) = (self.ids.prompted(id), self.ids.prompted_batch(id));
        if self.is_known(key).await? {
            return Ok(Outcome::Before);
        }
        let place = (telling.at, 0);
        let refines = self.refined(&telling.session, intent, place).await?;
        let batch = asked(self.agent, telling, (intent, key), (id, text), refines);
        let recorded = self.recorded_once(batch).await?;
        if recorded == Recorded::Not {
            return Ok(Outcome::Refused);
        }
        let session = self.session(&telling.session);
        session.first_intent.get_or_insert(intent);
        session.last_intent = Some(intent);
        let chain = session.chain(MAIN);
        chain.title = Some(texts::bounded(text).to_owned());
        self.begins(telling).await?;
        Ok(outcome(recorded))
    }

    async fn told_around(
        &mut self,
        telling: &Telling,
        around: &Around,
        number: usize,
    ) -> Result<Outcome, ImportError> {
        let ids = self.ids.evidence(&telling.name, number);
        if self.is_known(ids.batch).await? {
            return Ok(Outcome::Before);
        }
        if !around.begins && !self.has_session(telling).await? {
            return Ok(Outcome::Waits);
        }
        self.begins(telling).await?;
        let run = self.chain_ids(telling).run;
        let record = evidence(run, around).with_id(ids.evidence);
        let actor = match around.is_by_person {
            true => commands::person(),
            false => self.agent.program(),
        };
        let by = By {
            actor,
            at: telling.at,
        };
        let requests = vec![by.request(record)];
        let name = telling.name.to_string();
        let batch = ImportBatch::new(ids.batch, name, requests, Load::default(), 0);
        self.recorded_once(batch).await.map(outcome)
    }

    async fn told_call(
        &mut self,
        telling: &Telling,
        call: &CallTold,
    ) -> Result<Outcome, ImportError> {
        let ids = self.call_ids(call).await?;
        let key = Uuid::new_v5(&ids.batch, telling.name.as_bytes());
        if self.is_known(key).await? {
            return Ok(Outcome::Before);
        }
        self.begins(telling).await?;
        let run = self.chain_ids(telling).run;
        let of = told_call::Of {
            agent: self.agent,
            run,
            call: ids.invocation,
            told: call,
            at: telling.at,
            cwd: telling.cwd.as_deref(),
        };
        let batch = ImportBatch::new(key, call.id.to_string(), of.requests(), Load::default(), 0);
        self.recorded_once(batch).await.map(outcome)
    }

    /// The ids of the call that something is told of. Where an agent asks for another call under an id that it has used,
    /// that is a call of its own: what was decided on the one says nothing of the other.
    async fn call_ids(&mut self, call: &CallTold) -> Result<ToolIds, ImportError> {
        let ids = self.ids.tool(&call.id);
        let Some(args) = requested_args(call) else {
            return Ok(ids);
        };
        self.settle_for(ids.invocation).await?;
        let calls = self.annals.tool_calls();
        let failed = |error| ImportError::View(Box::new(error));
        let known = calls.call(ids.invocation).await.map_err(failed)?;
        if known.is_none_or(|known| !is_another(&known, &call.tool, args)) {
            return Ok(ids);
        }
        let other = self.ids.tool_again(&call.id, &call.tool, args);
        // What is told afterwards may have other arguments, since hooks change them.
        let is_request =
            |step: &CallStep| matches!(step, CallStep::Requested { .. } | CallStep::Decided(_));
        if call.steps.iter().all(is_request) {
            return Ok(other);
        }
        self.settle_for(other.invocation).await?;
        let known = calls.call(other.invocation).await.map_err(failed)?;
        Ok(if known.is_some() { other } else { ids })
    }

    /// Whether the log has the session's own course.
    async fn has_session(&mut self, telling: &Telling) -> Result<bool, ImportError> {
        let begun = self.session(&telling.session).chain(MAIN).ids.batch;
        self.is_known(begun).await
    }

    /// Lets the chain begin that something is told of.
    pub(super) async fn begins(&mut self, telling: &Telling) -> Done {
        let side = telling.side.as_deref().unwrap_or(MAIN);
        let model = telling.model.as_deref();
        self.open(&telling.session, side, model, telling.at, 0)
            .await
    }

    fn chain_ids(&mut self, telling: &Telling) -> super::ids::ChainIds {
        let side = telling.side.as_deref().unwrap_or(MAIN);
        self.session(&telling.session).chain(side).ids
    }
}

/// The arguments that a call is asked for with.
fn requested_args(call: &CallTold) -> Option<&str> {
    call.steps.iter().find_map(|step| match step {
        CallStep::Requested { args } => args.as_deref(),
        _ => None,
    })
}

/// Whether a call that is known is of another tool, or has other arguments.
fn is_another(known: &ToolInvocationView, tool: &str, args: &str) -> bool {
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let known_args = known.args.as_ref().and_then(JsonText::json);
    let known_args = known_args.and_then(|args| parsed(args.text()));
    let (Some(known_args), Some(args)) = (known_args, parsed(args)) else {
        return false;
    };
    let known_tool = known.tool_name.as_str().unwrap_or_default();
    known_args != args || (!tool.trim().is_empty() && known_tool != tool.trim())
}

fn asked(
    agent: &'static Agent,
    telling: &Telling,
    (intent, key): (IntentId, Uuid),
    (id, text): (&str, &str),
    refines: Option<IntentId>,
) -> ImportBatch {
    let asked = commands::Asked {
        intent,
        refines,
        text,
        session: &telling.session,
        line: None,
        prompt: Some(id),
    };
    let requests = commands::prompt(agent, &asked, telling.at);
    ImportBatch::new(key, id.to_owned(), requests, Load::default(), 0)
}

fn evidence(run: annals_domain::RunId, around: &Around) -> RecordEvidence {
    let kind = EvidenceKind::Other(texts::kind_name(around.kind));
    let tool = match around.tool.trim() {
        "" => "(unnamed)",
        tool => texts::beginning(tool, texts::SUMMARY),
    };
    let summary = around.summary.as_deref();
    let summary = summary.filter(|text| !text.trim().is_empty());
    let name = |text: &str| match text.trim_start().starts_with('{') {
        true => "report.json",
        false => "report.txt",
    };
    let report = around.report.as_ref().map(RedactedText::as_str);
    let report = report.map(|text| ContentPart::new(name(text), text));
    RecordEvidence::new(run, kind, tool)
        .with_summary(summary.map(|text| texts::beginning(text, texts::SUMMARY).to_owned()))
        .with_report(report.into_iter().collect::<Vec<_>>())
}

fn outcome(recorded: Recorded) -> Outcome {
    match recorded {
        Recorded::Now(_) => Outcome::Recorded,
        Recorded::Before => Outcome::Before,
        Recorded::Not => Outcome::Refused,
    }
}
