//! What a log knows of intents, as their files would have it.

use annals::domain::intent::{ApprovalStatus, title_and_body};
use annals::domain::task::Status;
use annals::domain::{IntentId, TaskId, is_removed_name};
use annals::projections::{ForgeIntentView, ForgeTaskView, ReviewView, Text};
use annals::{Annals, At, ViewError};

use super::data::Extra;
use super::facts;
use super::intent::{Clarification, ForgeIntent};
use super::remains::{Remains, Spelling, keys};
use super::review::ForgeReview;
use super::task::ForgeTask;
use super::words::{IntentStatus, TaskStatus};

/// An intent with its tasks, as a log knows them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Logged {
    /// What its file is called, if that may be a file's name.
    pub(super) name: String,
    pub(super) intent: ForgeIntent,
    /// Its tasks, but for those that others took the place of.
    pub(super) tasks: Vec<LoggedTask>,
    /// The intent that it is a part of.
    pub(super) child_of: Option<IntentId>,
    /// The same, if its file calls that one by the name of its file.
    pub(super) named_parent: Option<IntentId>,
    /// What it depends on, if its file calls all of these by the names of their files.
    pub(super) named_dependencies: Vec<IntentId>,
    /// Whether it was split into others.
    pub(super) has_children: bool,
    /// Whether some of its texts were removed.
    pub(super) incomplete: bool,
}

/// A task, as a log knows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LoggedTask {
    pub(super) id: TaskId,
    pub(super) task: ForgeTask,
    /// What reviewers said, the oldest first.
    pub(super) reviews: Vec<ForgeReview>,
}

/// An intent as it is.
pub(super) async fn intent(annals: &Annals, id: IntentId) -> Result<Logged, ViewError> {
    let view = annals.inbox().forge_intent(id, At::Now).await?;
    let remains = remains(&view);
    let name = file_name(&view, &remains);
    let mut logged = Logged {
        tasks: Vec::new(),
        child_of: view.child_of,
        named_parent: view.child_of.filter(|_| remains.parent.is_none()),
        named_dependencies: match remains.depends_on {
            Some(_) => Vec::new(),
            None => view.dependencies.clone(),
        },
        has_children: !view.children.is_empty(),
        incomplete: is_incomplete(&view),
        intent: forge_intent(&view, remains),
        name,
    };
    for task in &view.tasks {
        let view = annals.inbox().forge_task(*task, At::Now).await?;
        if view.superseded_by.is_none() {
            logged.incomplete |= is_task_incomplete(&view);
            logged.tasks.push(logged_task(*task, &view, &logged.name));
        }
    }
    Ok(logged)
}

/// A task as it is; its intent's file is called this.
pub(super) async fn task(
    annals: &Annals,
    id: TaskId,
    intent: &str,
) -> Result<LoggedTask, ViewError> {
    let view = annals.inbox().forge_task(id, At::Now).await?;
    Ok(logged_task(id, &view, intent))
}

/// What an intent's file is called, if that may be a file's name.
pub(super) async fn name(annals: &Annals, id: IntentId) -> Result<String, ViewError> {
    let view = annals.inbox().forge_intent(id, At::Now).await?;
    Ok(file_name(&view, &remains(&view)))
}

fn remains(view: &ForgeIntentView) -> Remains {
    let json = view.extra.as_ref().and_then(Text::as_str);
    json.map(Remains::of_json).unwrap_or_default()
}

fn file_name(view: &ForgeIntentView, remains: &Remains) -> String {
    remains.name.clone().unwrap_or_else(|| view.id.clone())
}

fn is_removed(text: &Text) -> bool {
    text.as_str().is_none()
}

fn is_incomplete(view: &ForgeIntentView) -> bool {
    let texts = [&view.title, &view.body].into_iter().chain(&view.labels);
    let asked = view.clarifications.iter();
    let asked = asked.flat_map(|it| [Some(&it.question), it.answer.as_ref()]);
    let asked = asked.chain([view.extra.as_ref()]).flatten();
    let mut own = view.work_type.iter().map(|it| it.as_str());
    texts.chain(asked).any(is_removed) || own.any(is_removed_name)
}

fn is_task_incomplete(view: &ForgeTaskView) -> bool {
    let optional = [&view.plan, &view.context, &view.alias, &view.extra];
    let lists = view.relevant_files.iter().chain(&view.implementation_steps);
    let of_reviews = view.reviews.iter();
    let of_reviews = of_reviews.flat_map(|it| it.issues.iter().chain(&it.suggestions));
    let texts = optional.into_iter().flatten().chain(lists);
    texts.chain(of_reviews).chain([&view.title]).any(is_removed)
}

fn texts(texts: &[Text]) -> Vec<String> {
    texts.iter().map(Text::to_string).collect()
}

fn forge_intent(view: &ForgeIntentView, remains: Remains) -> ForgeIntent {
    let (title, body) = match remains.title_and_body.clone() {
        Some((title, body)) if is_split(view, &title, &body) => (title, body),
        _ => (view.title.to_string(), view.body.to_string()),
    };
    ForgeIntent {
        title,
        body,
        source: view.source,
        work_type: view.work_type.clone(),
        risk: view.risk,
        status: status(view.status),
        parent: remains.parent.clone().or_else(|| view.parent.clone()),
        created_at: match &remains.created_at {
            Some(Spelling::Absent) => None,
            Some(Spelling::As(spelled)) => Some(spelled.clone()),
            None => Some(view.created_at.to_string()),
        },
        labels: texts(&view.labels),
        clarifications: clarifications(view, &remains),
        depends_on: match &remains.depends_on {
            Some(names) => names.clone(),
            None => view.depends_on.clone(),
        },
        extra: remains.keys,
    }
}

/// Whether a request is made of this title and this body.
fn is_split(view: &ForgeIntentView, title: &str, body: &str) -> bool {
    let prompt = facts::prompt(title, body);
    let (first, rest) = title_and_body(&prompt);
    view.title.as_str() == Some(first) && view.body.as_str() == Some(rest)
}

fn clarifications(view: &ForgeIntentView, remains: &Remains) -> Vec<Clarification> {
    let asked = view.clarifications.iter().enumerate();
    let asked = asked.map(|(number, asked)| {
        let mut of_it = remains.questions.iter();
        let of_it = of_it.find(|it| it.number == number);
        let answer = asked.answer.as_ref().map(Text::to_string);
        Clarification {
            question: asked.question.to_string(),
            answer: answer.or_else(|| of_it.and_then(|it| it.blank.clone())),
            extra: of_it.map_or_else(Extra::default, |it| it.keys.clone()),
        }
    });
    asked.collect()
}

/// The word that a file has for a status.
pub(super) fn status(status: ApprovalStatus) -> IntentStatus {
    match status {
        ApprovalStatus::Proposed => IntentStatus::Proposed,
        ApprovalStatus::Approved => IntentStatus::Approved,
        ApprovalStatus::Executing => IntentStatus::Executing,
        ApprovalStatus::Done => IntentStatus::Done,
        ApprovalStatus::Blocked => IntentStatus::Blocked,
        ApprovalStatus::Error => IntentStatus::Error,
        ApprovalStatus::Rejected => IntentStatus::Rejected,
        ApprovalStatus::Cancelled => IntentStatus::Cancelled,
    }
}

fn logged_task(id: TaskId, view: &ForgeTaskView, intent: &str) -> LoggedTask {
    let task = ForgeTask {
        id: view.id.clone(),
        title: view.title.to_string(),
        intent_id: intent.to_owned(),
        status: match view.status {
            Status::Absent | Status::Draft => TaskStatus::Pending,
            Status::Running => TaskStatus::Implementing,
            Status::Done => TaskStatus::Done,
            Status::Failed => TaskStatus::Failed,
            Status::Cancelled => TaskStatus::Cancelled,
        },
        complexity: view.complexity,
        plan: view.plan.as_ref().map(Text::to_string),
        relevant_files: texts(&view.relevant_files),
        implementation_steps: texts(&view.implementation_steps),
        context: view.context.as_ref().map(Text::to_string),
        depends_on: view.depends_on.clone(),
        extra: keys(view.extra.as_ref().and_then(Text::as_str)),
    };
    let reviews = view.reviews.iter();
    LoggedTask {
        id,
        reviews: reviews.map(|review| of_review(&task.id, review)).collect(),
        task,
    }
}

fn of_review(task_id: &str, review: &ReviewView) -> ForgeReview {
    ForgeReview {
        task_id: task_id.to_owned(),
        verdict: review.verdict,
        issues: texts(&review.issues),
        suggestions: texts(&review.suggestions),
        extra: keys(review.extra.as_ref().and_then(Text::as_str)),
    }
}
