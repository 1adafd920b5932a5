//! One of two pieces of work that are compared: a run, or all runs of a task, an intent or a session.

use std::collections::{BTreeMap, HashMap};

use annals_domain::run::{ChangeType, EvidenceKind};
use annals_domain::{Kind, RunId, StreamKind, StreamRef, TaskId, Timestamp};
use annals_event_log::Position;
use annals_projections::{Entry, Fold, ObjectView, RunView, Status, TaskView, Text, Tokens};
use serde::Serialize;
use uuid::Uuid;

use super::{ComparedCall, Past, PastError};
use crate::window::kind_word;
use crate::{At, ObjectRef, ViewError};

/// One of two pieces of work that are compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CompareSide {
    /// The object's id.
    pub object_id: Uuid,
    /// What it is.
    #[serde(serialize_with = "kind_word")]
    pub object_type: Kind,
    /// What it is called by.
    pub title: Option<String>,
    /// Where it is in its life.
    pub status: Option<&'static str>,
    /// How many runs it has.
    pub runs: usize,
    /// What was asked for, each prompt once, in the order of the runs.
    pub prompts: Vec<String>,
    /// The models that were used.
    pub models: Vec<String>,
    /// When the first of what is compared happened.
    pub began_at: Option<Timestamp>,
    /// When the last of it happened.
    pub ended_at: Option<Timestamp>,
    /// The tool calls, in their order.
    pub calls: Vec<ComparedCall>,
    /// The files that patch sets touch, by their paths.
    pub files: Vec<FileLines>,
    /// What was checked, and what was decided on the runs.
    pub verdicts: Vec<SideCheck>,
    /// Tokens, and what they cost as it was recorded; none where nothing is known.
    pub tokens: Option<Tokens>,
}

/// A file that was touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileLines {
    /// Its path.
    pub path: String,
    /// What became of it last.
    pub change_type: ChangeType,
    /// Lines added, by all patch sets together.
    pub lines_added: u64,
    /// Lines deleted.
    pub lines_deleted: u64,
}

/// A check or a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SideCheck {
    /// What it was: `test`, `lint`, `build`, `review`, or `decision`.
    pub what: String,
    /// What was run, or decided.
    pub name: String,
    /// The exit code of what was run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The event that says so.
    #[serde(serialize_with = "crate::window::required_position")]
    pub position: Position,
}

/// What is in one run, while its stream is read.
#[derive(Default)]
struct InRun {
    /// The objects, in the order in which they came up.
    order: Vec<(Kind, Uuid, Position)>,
    folds: HashMap<(Kind, Uuid), Fold>,
}

impl InRun {
    fn apply(&mut self, entry: &Entry) {
        for (kind, id) in entry.touches() {
            let fold = self.folds.entry((kind, id)).or_insert_with(|| {
                self.order.push((kind, id, entry.position));
                Fold::new(kind, id)
            });
            fold.apply(entry);
        }
    }
}

impl Past<'_> {
    /// What is compared of an object, as it was at a moment.
    pub(super) async fn side(self, object: ObjectRef, at: At) -> Result<CompareSide, PastError> {
        let index = self.annals.index();
        let row = index.row(object.id).await?;
        let status = match at {
            At::Now => row.status.map(Status::word),
            at => status_of(&self.annals.view_at(object.id, at).await?),
        };
        let runs = match object.kind {
            Kind::Run | Kind::Task | Kind::Session | Kind::Intent => {
                self.annals.tool_calls().runs_of(object).await?
            }
            kind => return Err(ViewError::NoRuns { kind }.into()),
        };
        // A run's own is the error that it failed with.
        let title = match object.kind {
            Kind::Run => row.task_title,
            _ => row.title,
        };
        let title = title.map(|title| title.to_string());
        let mut side = CompareSide {
            object_id: object.id,
            object_type: object.kind,
            title,
            status,
            runs: 0,
            prompts: Vec::new(),
            models: Vec::new(),
            began_at: None,
            ended_at: None,
            calls: Vec::new(),
            files: Vec::new(),
            verdicts: Vec::new(),
            tokens: None,
        };
        let mut files = BTreeMap::new();
        for run in runs {
            self.add_run(RunId(run), at, &mut side, &mut files).await?;
        }
        side.files = files.into_values().collect();
        Ok(side)
    }

    async fn add_run(
        self,
        run: RunId,
        at: At,
        side: &mut CompareSide,
        files: &mut BTreeMap<String, FileLines>,
    ) -> Result<(), PastError> {
        let stream = StreamRef {
            kind: StreamKind::Run,
            id: run.0,
        };
        let mut inside = InRun::default();
        let each = |entry: Entry| {
            let (began, ended) = (&mut side.began_at, &mut side.ended_at);
            *began = Some(began.map_or(entry.occurred_at, |at| at.min(entry.occurred_at)));
            *ended = Some(ended.map_or(entry.occurred_at, |at| at.max(entry.occurred_at)));
            inside.apply(&entry);
        };
        let all = |_: &annals_domain::AnyEvent| true;
        self.annals.each_entry(stream, at, all, each).await?;
        let InRun { order, mut folds } = inside;
        let view = folds.remove(&(Kind::Run, run.0)).and_then(Fold::view);
        let Some(ObjectView::Run(view)) = view else {
            return Ok(());
        };
        side.runs += 1;
        self.add_prompts(&view, side).await?;
        let row = self.annals.index().row(run.0).await?;
        let is_then = match at {
            At::Position(position) => row.last_position <= position,
            At::Now => true,
            At::Recorded(_) | At::Occurred(_) => false,
        };
        add_tokens(&mut side.tokens, row.tokens.filter(|_| is_then));
        let cwd = view.environment.as_ref().and_then(|it| it.cwd.as_str());
        for (kind, id, position) in order {
            if let Some(view) = folds.remove(&(kind, id)).and_then(Fold::view) {
                add_part(&view, position, cwd, side, files);
            }
        }
        Ok(())
    }

    /// What was asked for with a run: the intent of its task, or else the task's title.
    async fn add_prompts(self, run: &RunView, side: &mut CompareSide) -> Result<(), PastError> {
        let task: TaskView = match self.annals.get::<TaskView>(TaskId(run.task.0)).await {
            Ok(task) => task,
            Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        // A run has no title of its own.
        side.title.get_or_insert_with(|| task.title.to_string());
        let prompt = match task.intent {
            Some(intent) => match self.annals.view(intent.0).await {
                Ok(ObjectView::Intent(intent)) => intent.prompt,
                Ok(_) | Err(ViewError::NotFound { .. } | ViewError::NotYet { .. }) => task.title,
                Err(error) => return Err(error.into()),
            },
            None => task.title,
        };
        push_new(&mut side.prompts, prompt.to_string());
        Ok(())
    }
}

/// Where an object that has runs is in its life.
fn status_of(view: &ObjectView) -> Option<&'static str> {
    match view {
        ObjectView::Run(view) => Some(view.status().name()),
        ObjectView::Task(view) => Some(view.status().name()),
        ObjectView::Intent(view) => Some(Status::from(view.status()).word()),
        ObjectView::Session(view) => Some(Status::from(view.status()).word()),
        _ => None,
    }
}

fn push_new(list: &mut Vec<String>, text: String) {
    if !list.contains(&text) {
        list.push(text);
    }
}

fn add_tokens(sum: &mut Option<Tokens>, more: Option<Tokens>) {
    let Some(more) = more else {
        return;
    };
    let Some(sum) = sum else {
        *sum = Some(more);
        return;
    };
    for (sum, more) in [
        (&mut sum.uncached_input_tokens, more.uncached_input_tokens),
        (&mut sum.cache_read_tokens, more.cache_read_tokens),
        (&mut sum.cache_write_tokens, more.cache_write_tokens),
        (&mut sum.output_tokens, more.output_tokens),
        (&mut sum.total_tokens, more.total_tokens),
    ] {
        *sum = sum.saturating_add(more);
    }
    sum.cost_usd = match (sum.cost_usd, more.cost_usd) {
        (Some(sum), Some(more)) => Some(sum + more),
        (sum, more) => sum.or(more),
    };
}

/// Adds what is in a run.
fn add_part(
    view: &ObjectView,
    position: Position,
    cwd: Option<&str>,
    side: &mut CompareSide,
    files: &mut BTreeMap<String, FileLines>,
) {
    match view {
        ObjectView::ToolInvocation(call) => side.calls.push(ComparedCall::of(call, position, cwd)),
        ObjectView::PatchSet(patch_set) => {
            for file in &patch_set.touched {
                let path = file.path.to_string();
                let known = files.entry(path.clone()).or_insert(FileLines {
                    path,
                    change_type: file.change_type,
                    lines_added: 0,
                    lines_deleted: 0,
                });
                known.change_type = file.change_type;
                known.lines_added += u64::from(file.lines_added);
                known.lines_deleted += u64::from(file.lines_deleted);
            }
        }
        ObjectView::Evidence(evidence) => {
            let is_check = matches!(
                evidence.kind,
                EvidenceKind::Test
                    | EvidenceKind::Lint
                    | EvidenceKind::Build
                    | EvidenceKind::Review
            );
            if is_check || evidence.exit_code.is_some() {
                let name = evidence.command.as_ref().unwrap_or(&evidence.tool);
                side.verdicts.push(SideCheck {
                    what: evidence.kind.to_string(),
                    name: name.to_string(),
                    exit_code: evidence.exit_code,
                    position,
                });
            }
        }
        ObjectView::Decision(decision) => side.verdicts.push(SideCheck {
            what: "decision".to_owned(),
            name: decision.decision_type.to_string(),
            exit_code: None,
            position,
        }),
        ObjectView::Provenance(provenance) => {
            if let Text::Present(model) = &provenance.model {
                push_new(&mut side.models, model.clone());
            }
        }
        _ => {}
    }
}
