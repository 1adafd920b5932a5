//! What was said: prompts, the model's texts and thoughts, what the program
//! adds.

use annals_domain::IntentId;
use annals_domain::pipeline::FrameKind;
use annals_projections::IntentView;
use uuid::Uuid;

use super::batch::{ImportBatch, Load};
use super::claim::Claim;
use super::commands::{self, FrameData};
use super::importer::{Done, Importer};
use super::item::{Entry, Evidence, Item, QUEUED, Speaker, What};
use super::place::Spoken;
use super::record::Recorded;
use super::remark::Remark;
use super::session::MAIN;
use super::texts::{self, Part};
use crate::import::error::ImportError;
use crate::import::fields;

/// A text in a user's line.
struct UserText<'a> {
    text: &'a str,
    /// What of it a person asked for.
    asked: Option<&'a str>,
    is_summary: bool,
}

impl Importer<'_> {
    /// Records what a line says.
    pub(super) async fn entry(&mut self, entry: &Entry, line: u64) -> Done {
        let Some(mut spoken) = self.spoken(entry, line).await? else {
            return Ok(());
        };
        if let Some(frame) = entry.older_frame
            && self
                .is_known(self.ids.frame_batch(&entry.name, frame))
                .await?
        {
            self.report.already_there += spoken.load.take().lines;
            return Ok(());
        }
        match entry.speaker {
            Speaker::Model => self.model_speaks(&mut spoken).await?,
            Speaker::User | Speaker::Program => {
                spoken.no_tokens(&self.agent.token_paths);
                count_idle_details(&mut spoken);
            }
        }
        for item in &entry.items {
            self.item(&mut spoken, item).await?;
        }
        if entry.speaker == Speaker::Model {
            self.open_with_tokens(&spoken.session, &spoken.chain, entry.message())
                .await?;
        }
        self.leftover(spoken);
        Ok(())
    }

    async fn model_speaks(&mut self, spoken: &mut Spoken<'_>) -> Done {
        self.count_usage(spoken).await?;
        if spoken.chain == MAIN {
            let message = spoken.entry.message();
            let calls = self.session(&spoken.session).given_up(message);
            for call in calls {
                self.give_up(&spoken.session, call, spoken.line).await?;
            }
        }
        Ok(())
    }

    async fn item(&mut self, spoken: &mut Spoken<'_>, item: &Item) -> Done {
        if item.what.makes_a_frame() {
            let chain = self.session(&spoken.session).chain(&spoken.chain);
            chain.place.read_text(&spoken.entry.name);
        }
        match &item.what {
            What::Prompt {
                text,
                asked,
                is_summary,
            } => {
                let said = UserText {
                    text,
                    asked: asked.as_deref(),
                    is_summary: *is_summary,
                };
                self.text_of_user(spoken, item, said).await
            }
            What::Text(text) => self.text(spoken, item, FrameKind::StepSummary, text).await,
            What::Thinking(text) => {
                let kind = FrameKind::Other("thinking".to_owned());
                self.text(spoken, item, kind, text).await
            }
            What::ToolCall { .. } => self.tool_use(spoken, item).await,
            What::ToolResult { .. } => self.answer(spoken, item).await,
            What::Said {
                kind,
                text,
                compaction,
            } => {
                item.count(&[], &mut spoken.load.fields);
                let data = FrameData {
                    compaction: spoken.load.json(compaction.as_deref()),
                    ..spoken.data()
                };
                let frame = commands::text_frame(spoken.pipeline, kind.clone(), text, data);
                let mut batch = spoken.batch(self.agent.program(), frame, item);
                if *kind == FrameKind::Checkpoint {
                    self.drop_before(spoken, &mut batch).await?;
                }
                self.context(&spoken.session, &spoken.chain, batch).await
            }
            What::Evidence(evidence) => self.evidence(spoken, item, evidence).await,
            What::Whole {
                kind,
                summary,
                part,
            } => {
                self.whole(spoken, item, kind.clone(), summary, part.as_ref())
                    .await
            }
        }
    }

    async fn text_of_user(
        &mut self,
        spoken: &mut Spoken<'_>,
        item: &Item,
        said: UserText<'_>,
    ) -> Done {
        item.count(&[], &mut spoken.load.fields);
        count_cut(spoken, item, said.text);
        // What the program alone wrote is not what a sub-agent was asked for.
        let is_asked = (self.agent.asked)(said.text).is_some();
        let session = self.session(&spoken.session);
        let chain = session.chain(&spoken.chain);
        let begins = chain.is_side() && chain.title.is_none() && is_asked;
        if begins {
            chain.title = Some(texts::bounded(said.text).to_owned());
        }
        let kind = if said.is_summary {
            FrameKind::Checkpoint
        } else if begins {
            FrameKind::IntentAnalysis
        } else if let Some(asked) = said.asked {
            return self.prompt(spoken, item, said.text, asked).await;
        } else {
            FrameKind::SystemState
        };
        let actor = match begins {
            true => self.agent.agent(),
            false => self.agent.program(),
        };
        let batch = spoken.text_batch(kind, said.text, actor, item);
        match begins {
            true => self.work(&spoken.session, &spoken.chain, batch).await,
            false => self.context(&spoken.session, &spoken.chain, batch).await,
        }
    }

    /// Records a prompt: what was asked as an intent, and all of the text as a frame.
    async fn prompt(
        &mut self,
        spoken: &mut Spoken<'_>,
        item: &Item,
        text: &str,
        asked: &str,
    ) -> Done {
        let line = &spoken.entry.name;
        if self.repeats_in_log(spoken.entry, item).await? {
            self.report.already_there += spoken.load.take().lines;
            return Ok(());
        }
        let (intent, key) = self.prompt_ids(spoken.entry, asked).await?;
        let place = (spoken.at, spoken.line);
        let refines = self.refined(&spoken.session, intent, place).await?;
        let session = self.session(&spoken.session);
        session.doubt();
        session.first_intent.get_or_insert(intent);
        session.last_intent = Some(intent);
        let chain = session.chain(MAIN);
        chain
            .title
            .get_or_insert_with(|| texts::bounded(asked).to_owned());
        let mut load = spoken.load.take();
        load.fields.inferred("intent.content (the prompt)");
        load.fields
            .inferred("actor (one person, one agent, one program)");
        let asked = commands::Asked {
            intent,
            refines,
            text: asked,
            session: &spoken.session,
            line: Some(line),
            prompt: None,
        };
        let batch = ImportBatch::new(
            key,
            line.clone(),
            commands::prompt(self.agent, &asked, spoken.at),
            load,
            spoken.line,
        );
        let recorded = self.recorded_once(batch).await?;
        self.name_prompt(spoken, intent, &recorded).await?;
        let kind = FrameKind::IntentAnalysis;
        let frame = spoken.text_batch(kind, text, commands::person(), item);
        self.work(&spoken.session, MAIN, frame).await
    }

    /// Whether the log has a queued prompt's line as one that repeats it. A copy of the session may lack what showed it.
    async fn repeats_in_log(&mut self, entry: &Entry, item: &Item) -> Result<bool, ImportError> {
        if entry.subtype.as_deref() != Some(QUEUED) {
            return Ok(false);
        }
        let key = self.ids.frame_batch(&entry.name, item.frame);
        match self.known(key).await? {
            Some(batch) => self.is_repetition(batch).await,
            None => Ok(false),
        }
    }

    /// The intent that a prompt becomes, and its batch. Where the agent's program told of the prompt before there
    /// was a line, the log has it by its own name. That another line of it says something else makes it another
    /// intent.
    async fn prompt_ids(
        &mut self,
        entry: &Entry,
        asked: &str,
    ) -> Result<(IntentId, Uuid), ImportError> {
        let by_line = (
            self.ids.intent(&entry.name),
            self.ids.prompt_batch(&entry.name),
        );
        let Some(prompt) = &entry.prompt else {
            return Ok(by_line);
        };
        if self.is_known(by_line.1).await? {
            return Ok(by_line);
        }
        let told = (self.ids.prompted(prompt), self.ids.prompted_batch(prompt));
        let Some(batch) = self.known(told.1).await? else {
            return Ok(by_line);
        };
        let claims = [Claim::Prompt(texts::bounded(asked))];
        let is_told = self.is_there(told.0).await? && self.holds(&claims, batch).await?;
        Ok(if is_told { told } else { by_line })
    }

    /// Says what a prompt is called that is recorded by its line, so that what the agent's program tells of it
    /// later makes no second intent.
    async fn name_prompt(
        &mut self,
        spoken: &Spoken<'_>,
        intent: IntentId,
        recorded: &Recorded,
    ) -> Done {
        let line = &spoken.entry.name;
        let Some(prompt) = &spoken.entry.prompt else {
            return Ok(());
        };
        if intent != self.ids.intent(line) || self.is_known(self.ids.prompted_batch(prompt)).await?
        {
            return Ok(());
        }
        match recorded {
            Recorded::Now(_) => {}
            Recorded::Before if self.has_names_of_import(intent).await? => {}
            Recorded::Before | Recorded::Not => return Ok(()),
        }
        let names = commands::prompt_names(self.agent, &spoken.session, Some(line), Some(prompt));
        let named = commands::named(intent, names);
        let batch = ImportBatch::new(
            self.ids.prompted_batch(prompt),
            line.clone(),
            vec![spoken.by(self.agent.agent()).request(named)],
            Load::default(),
            spoken.line,
        );
        self.once(batch).await
    }

    /// Whether an intent has the names that an import gave it, and no others: names are replaced as a whole, and a
    /// seal is of what it was then. What people changed since stays as it is.
    async fn has_names_of_import(&mut self, intent: IntentId) -> Result<bool, ImportError> {
        self.settle_for(intent).await?;
        let view: IntentView = match self.annals.get(intent).await {
            Ok(view) => view,
            Err(error) => return Err(ImportError::View(Box::new(error))),
        };
        let own = ["session", "line"].map(|what| self.agent.external(what));
        let mut names = view.header.external_ids.0.iter();
        let is_own = names.all(|(name, _)| own.iter().any(|own| name.as_str() == Some(own)));
        Ok(is_own && view.header.checksum.is_none() && !view.header.seal_removed)
    }

    /// A text or a thought.
    async fn text(
        &mut self,
        spoken: &mut Spoken<'_>,
        item: &Item,
        kind: FrameKind,
        text: &str,
    ) -> Done {
        let actor = match spoken.entry.speaker {
            Speaker::User => commands::person(),
            Speaker::Model => self.agent.agent(),
            Speaker::Program => self.agent.program(),
        };
        item.count(&[], &mut spoken.load.fields);
        if text.trim().is_empty() {
            return Ok(());
        }
        count_cut(spoken, item, text);
        let batch = spoken.text_batch(kind, text, actor, item);
        self.work(&spoken.session, &spoken.chain, batch).await
    }

    /// A part that has no place of its own: a frame keeps it as it is.
    async fn whole(
        &mut self,
        spoken: &mut Spoken<'_>,
        item: &Item,
        kind: FrameKind,
        summary: &str,
        part: Option<&Part>,
    ) -> Done {
        let lost: &[&str] = match part {
            Some(_) => &[],
            None => &[item.path],
        };
        if part.is_none() {
            spoken.load.remarks.push(Remark::PartTooLarge);
        }
        item.count(lost, &mut spoken.load.fields);
        let frame = spoken.part_frame(kind, summary, part);
        let batch = spoken.batch(self.agent.program(), frame, item);
        self.context(&spoken.session, &spoken.chain, batch).await
    }

    /// What happened around the conversation. It is not what the model saw, so that there is no frame.
    async fn evidence(
        &mut self,
        spoken: &mut Spoken<'_>,
        item: &Item,
        evidence: &Evidence,
    ) -> Done {
        item.count(&[], &mut spoken.load.fields);
        let actor = match evidence.is_by_person {
            true => commands::person(),
            false => self.agent.program(),
        };
        let ids = self.ids.evidence(&spoken.entry.name, item.frame);
        let run = self.session(&spoken.session).chain(&spoken.chain).ids.run;
        let record = commands::evidence(run, ids.evidence, evidence);
        let batch = ImportBatch::new(
            ids.batch,
            spoken.entry.name.clone(),
            vec![spoken.by(actor).request(record)],
            spoken.load.take(),
            spoken.line,
        );
        self.context(&spoken.session, &spoken.chain, batch).await
    }

    /// Reports what no part of the line took with it.
    fn leftover(&mut self, mut spoken: Spoken<'_>) {
        let load = spoken.load.take();
        if load.lines > 0 {
            let speaker = match spoken.entry.speaker {
                Speaker::User => "user",
                Speaker::Model => "assistant",
                Speaker::Program => "program",
            };
            self.skipped.add(&format!("{speaker} without content"));
        }
        self.fields.add(&load.fields);
        for remark in load.remarks {
            self.remarks.add(remark, &self.file, spoken.line);
        }
    }
}

/// Details of a result count as lost where no result is.
fn count_idle_details(spoken: &mut Spoken<'_>) {
    let items = &spoken.entry.items;
    let answers = items
        .iter()
        .any(|item| matches!(item.what, What::ToolResult { .. }));
    if let (false, Some(details)) = (answers, &spoken.entry.details) {
        let fields = &mut spoken.load.fields;
        fields::count(
            details.raw.get(),
            details.path,
            fields::NOTHING,
            &[],
            fields,
        );
    }
}

/// Counts what is cut off a text that is too long.
fn count_cut(spoken: &mut Spoken<'_>, item: &Item, text: &str) {
    if texts::bounded(text).len() < text.len() {
        spoken.load.remarks.push(Remark::TextCut);
        let path = format!("{} (beyond 1 MiB)", item.path);
        spoken.load.fields.lost(&path, 1);
    }
}
