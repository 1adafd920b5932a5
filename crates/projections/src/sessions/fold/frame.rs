//! Events of plans and context pipelines: what was said in a session.

use annals_domain::pipeline::{self, AdoptedFrame, FrameKind, FramePushed};
use annals_domain::{ActorKind, Slot, StreamKind, plan};
use serde::Deserialize;
use uuid::Uuid;

use super::{Done, Fold};
use crate::frame_data::FrameData;
use crate::sessions::row::{self, PLAN, PlanRow};

/// The subtype of a title that the recording gives to the session with a line.
const SUMMARY: &str = "summary";
/// How that title ranks among those that agents give.
const SUMMARY_RANK: u8 = 1;

/// Frames that tell the title of a session, as Codex and Copilot name them.
const TITLES: [&str; 2] = ["thread_name_updated", "session.title_changed"];
/// How those titles rank.
const TITLE_RANK: u8 = 2;

/// What is read of a frame with a title.
#[derive(Debug, Default, Deserialize)]
struct FrameTitle {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    thread_name: Option<String>,
}

/// A frame.
struct Said<'a> {
    kind: &'a FrameKind,
    summary: Slot,
    content: Option<Slot>,
    data: Option<Slot>,
}

/// Causes for which there was no answer, by words of the error.
const CAUSES: [(&str, &str); 6] = [
    ("rate_limit", "rate limit"),
    ("rate limit", "rate limit"),
    ("overloaded", "overloaded"),
    ("credit balance", "no credit"),
    ("authentication", "not signed in"),
    ("prompt is too long", "prompt too long"),
];
/// The same by the status that stands first in the error.
const STATUSES: [(&str, &str); 3] = [
    ("401", "not signed in"),
    ("429", "rate limit"),
    ("529", "overloaded"),
];

/// Returns the cause of an error in a few words.
fn cause(error: &str) -> &'static str {
    let lower = error.to_lowercase();
    let digits = |c: char| c.is_ascii_digit();
    let first = lower.find(digits).and_then(|at| lower.get(at..));
    let status = first.and_then(|rest| rest.split(|c| !digits(c)).next());
    let by_word = CAUSES.iter().find(|(word, _)| lower.contains(word));
    let by_status = STATUSES.iter().find(|(code, _)| status == Some(code));
    let found = by_word.or(by_status);
    found.map_or("API error", |(_, cause)| cause)
}

impl Fold<'_, '_> {
    pub(super) async fn of_plan(&mut self, id: Uuid, event: &plan::Event) -> Done {
        let pipeline = match event {
            plan::Event::Drafted(event) => event.pipeline,
            plan::Event::Adopted(event) => event.object.as_ref().and_then(|it| it.pipeline),
            _ => None,
        };
        let Some(pipeline) = pipeline.map(|pipeline| pipeline.0) else {
            return Ok(());
        };
        let key = row::key(PLAN, id);
        let known: Option<PlanRow> = row::get(self.rows.table, &key).await?;
        let task = known.and_then(|row| row.task);
        let row = PlanRow {
            pipeline: Some(pipeline),
            task,
        };
        self.rows.table.put_bytes(&key, row::write(&row)?);
        match task {
            Some(task) => self.uses_pipeline(task, pipeline).await,
            None => Ok(()),
        }
    }

    /// Follows a plan for a task: its context is the session's conversation.
    pub(super) async fn follows_plan(&mut self, task: Uuid, plan: Uuid) -> Done {
        self.rows
            .session(task)
            .await?
            .add_stream(StreamKind::Plan, plan);
        let key = row::key(PLAN, plan);
        let known: Option<PlanRow> = row::get(self.rows.table, &key).await?;
        let mut known = known.unwrap_or_default();
        known.task = Some(task);
        self.rows.table.put_bytes(&key, row::write(&known)?);
        match known.pipeline {
            Some(pipeline) => self.uses_pipeline(task, pipeline).await,
            None => Ok(()),
        }
    }

    async fn uses_pipeline(&mut self, task: Uuid, pipeline: Uuid) -> Done {
        let task = self.rows.merged(task).await?;
        if self.rows.pipeline(pipeline).await?.is_some() {
            return Ok(());
        }
        self.rows.put_pipeline(pipeline, task)?;
        self.rows
            .session(task)
            .await?
            .add_stream(StreamKind::Pipeline, pipeline);
        if self.rows.node(pipeline).await?.is_some() {
            // Frames came before the run.
            self.rows.merge(pipeline, task).await?;
        }
        self.rows.begin(task).await
    }

    pub(super) async fn of_pipeline(&mut self, id: Uuid, event: &pipeline::Event) -> Done {
        match event {
            pipeline::Event::FramePushed(FramePushed {
                kind,
                summary,
                data,
                content,
                ..
            }) => {
                let said = Said {
                    kind,
                    summary: *summary,
                    content: *content,
                    data: *data,
                };
                self.frame(id, &said).await
            }
            pipeline::Event::Adopted(event) => {
                for frame in &event.frames {
                    self.adopted_frame(id, frame).await?;
                }
                Ok(())
            }
            // No other event of a pipeline is read.
            _ => Ok(()),
        }
    }

    async fn adopted_frame(&mut self, pipeline: Uuid, frame: &AdoptedFrame) -> Done {
        // A pipeline that is adopted again has its frames again.
        let key = [row::key(row::PIPELINE, pipeline), b"a".to_vec()].concat();
        let counted: Option<u64> = row::get(self.rows.table, &key).await?;
        if counted.is_some_and(|counted| frame.frame_id.0 <= counted) {
            return Ok(());
        }
        self.rows
            .table
            .put_bytes(&key, row::write(&frame.frame_id.0)?);
        let said = Said {
            kind: &frame.kind,
            summary: frame.summary,
            content: None,
            data: frame.data,
        };
        self.frame(pipeline, &said).await
    }

    /// The session of a pipeline. One that no run uses yet is one by itself.
    async fn frame(&mut self, pipeline: Uuid, said: &Said<'_>) -> Done {
        let task = self.rows.pipeline(pipeline).await?.unwrap_or(pipeline);
        let id = self.rows.merged(task).await?;
        self.rows.ensure(id).await?;
        let entry = self.entry;
        let at = entry.agents_time();
        let is_by_person = entry.actor.kind == ActorKind::Human;
        let notes = FrameData::read(entry, said.data);
        let summary = entry.text(said.summary).to_string();
        let prompt = self.prompt_text(said, &summary);
        let title = self.frame_title(said);
        let session = self.rows.session(id).await?;
        let is_title = notes.subtype.as_deref() == Some(SUMMARY);
        session.note(entry, !is_title);
        let was_checkpoint = session.facts.is_after_checkpoint;
        session.facts.is_after_checkpoint = *said.kind == FrameKind::Checkpoint && !is_title;
        match said.kind {
            FrameKind::IntentAnalysis => {
                session.prompted(at, is_by_person);
                session.offer_prompt(at, &prompt);
                session.go_on(at);
            }
            FrameKind::StepSummary if notes.is_error(&summary) => {
                session.fail_for_now(entry, cause(&summary));
            }
            FrameKind::StepSummary => {
                session.row.summary.counts.answers += 1;
                session.go_on(at);
            }
            FrameKind::Checkpoint if is_title => {
                session.facts.title_by_line = notes.line.clone().map(|line| (line, summary));
            }
            FrameKind::Checkpoint => {
                // A compaction and the summary that it leaves are two frames.
                session.row.summary.counts.compactions += u64::from(!was_checkpoint);
            }
            FrameKind::SystemState if summary.contains("<command-name>") => {
                session.offer_prompt(at, &summary);
                session.go_on(at);
            }
            _ => {}
        }
        if let Some(title) = title {
            session.offer_agents_title(TITLE_RANK, &title);
        }
        session.note_branch(&notes, at);
        if !is_title {
            session.note_line(&notes);
        }
        Ok(())
    }

    /// The title that a frame tells.
    fn frame_title(&self, said: &Said<'_>) -> Option<String> {
        let FrameKind::Other(kind) = said.kind else {
            return None;
        };
        let content = said.content.filter(|_| TITLES.contains(&kind.as_str()))?;
        let text = self.entry.text(content);
        let title: FrameTitle = serde_json::from_str(text.as_str()?).ok()?;
        title.title.or(title.thread_name)
    }

    /// All of a prompt, if it is stored within its event; else its beginning.
    fn prompt_text(&self, said: &Said<'_>, summary: &str) -> String {
        let content = said
            .content
            .filter(|_| *said.kind == FrameKind::IntentAnalysis)
            .map(|slot| self.entry.text(slot));
        let text = content.and_then(|json| serde_json::from_str(json.as_str()?).ok());
        text.unwrap_or_else(|| summary.to_owned())
    }
}

impl crate::sessions::held::HeldSession {
    fn note_branch(&mut self, notes: &FrameData, at: Option<annals_domain::Timestamp>) {
        if let Some(branch) = &notes.git_branch
            && at >= self.facts.branch_at
        {
            self.facts.branch_at = at;
            self.row.summary.branch = Some(branch.clone());
        }
    }

    /// The title that names a line is this session's if the line is.
    fn note_line(&mut self, notes: &FrameData) {
        let Some((line, title)) = &self.facts.title_by_line else {
            return;
        };
        let lines = [&notes.line, &notes.tool_use_line];
        if lines.into_iter().flatten().any(|it| it == line) {
            let title = title.clone();
            self.facts.title_by_line = None;
            self.offer_agents_title(SUMMARY_RANK, &title);
        }
    }
}
