//! One object, now or after one of its events.

use annals::domain::Kind;
use annals::event_log::Position;
use annals::projections::{HistoryEntry, ObjectView, PieceValue, RunView};
use annals::{Annals, At, LoadError, ObjectRef, SeenWindow, ViewError};
use serde_json::Value;

use crate::cursor::Cursor;
use crate::error::ScreenError;
use crate::fields::{Field, rows};
use crate::past::PastPosition;
use crate::text::{safe, short};

/// Bytes of a diff that are shown.
const LONGEST_DIFF: usize = 4 * 1024 * 1024;

/// What of an object is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Page {
    Fields,
    Timeline,
    Window,
    Diff,
}

impl Page {
    pub(crate) const ALL: [(&'static str, Page); 4] = [
        ("Fields", Page::Fields),
        ("Timeline", Page::Timeline),
        ("Window", Page::Window),
        ("Diff", Page::Diff),
    ];
}

/// What a page has, or why it has nothing.
pub(crate) type Shown<T> = Result<T, String>;

/// An object's screen.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) object: ObjectRef,
    pub(crate) called: String,
    /// All its events, oldest first.
    pub(crate) history: Vec<HistoryEntry>,
    /// After which of them it is shown; now, if there is none.
    pub(crate) moment: Option<usize>,
    pub(crate) page: Page,
    pub(crate) fields: Vec<Field>,
    pub(crate) window: Option<Shown<SeenWindow>>,
    pub(crate) diff: Option<Shown<Vec<String>>>,
    cursors: [Cursor; Page::ALL.len()],
}

impl Object {
    /// Opens an object as of a past position; `None` is the present.
    pub(crate) async fn open(
        annals: &Annals,
        object: ObjectRef,
        past: Option<PastPosition>,
    ) -> Result<Object, ScreenError> {
        let page = match object.kind {
            Kind::Run | Kind::Session => Page::Timeline,
            Kind::ContextPipeline => Page::Window,
            Kind::PatchSet => Page::Diff,
            _ => Page::Fields,
        };
        let row = annals.index().row(object.id).await?;
        let title = row.task_title.or(row.title);
        let title = title.map(|title| format!(" · {title}")).unwrap_or_default();
        let called = format!("{} {}{title}", object.kind.object_type(), short(object.id));
        let mut opened = Object {
            object,
            called: safe(&called),
            history: Vec::new(),
            moment: None,
            page,
            fields: Vec::new(),
            window: None,
            diff: None,
            cursors: Default::default(),
        };
        opened.refresh(annals, false).await?;
        opened.go(annals, past).await?;
        Ok(opened)
    }

    /// Shows the object as of a past position: after the last of its events up to there.
    pub(crate) async fn go(
        &mut self,
        annals: &Annals,
        past: Option<PastPosition>,
    ) -> Result<(), ScreenError> {
        let Some(PastPosition { position, .. }) = past else {
            return Ok(self.travel(annals, usize::MAX).await?);
        };
        let until = self.history.partition_point(|it| it.position <= position);
        match (until, self.history.first()) {
            (0, Some(entry)) => {
                let first = entry.position;
                Err(ScreenError::NotYet { position, first })
            }
            _ => Ok(self.travel(annals, until.saturating_sub(1)).await?),
        }
    }

    /// The past event after which it is shown; `None` is the present.
    pub(crate) fn past(&self) -> Option<PastPosition> {
        let entry = self.history.get(self.moment?)?;
        Some(PastPosition {
            position: entry.position,
            time: Some(entry.recorded_at),
        })
    }

    /// Reads what there is of it now; whether anything came.
    pub(crate) async fn refresh(
        &mut self,
        annals: &Annals,
        follows: bool,
    ) -> Result<bool, ViewError> {
        let last = self.history.last().map(|entry| entry.position);
        let row = annals.index().row(self.object.id).await?;
        if last == Some(row.last_position) {
            return Ok(false);
        }
        self.history = annals.history(self.object.id).await?;
        if self.moment.is_none() {
            self.show(annals).await?;
            if follows {
                let end = self.len().saturating_sub(1);
                self.cursor().at = end;
            }
        }
        Ok(true)
    }

    /// The position after which it is shown.
    pub(crate) fn position(&self) -> Option<Position> {
        let at = self.moment?;
        self.history.get(at).map(|entry| entry.position)
    }

    /// Moves to the event at this index; behind the last one to the present.
    pub(crate) async fn travel(&mut self, annals: &Annals, to: usize) -> Result<(), ViewError> {
        let moment = Some(to).filter(|to| to.saturating_add(1) < self.history.len());
        if moment == self.moment {
            return Ok(());
        }
        self.moment = moment;
        if self.page == Page::Timeline {
            let len = self.history.len();
            self.cursor().put(moment.unwrap_or(len), len);
        }
        self.show(annals).await
    }

    /// Where it is in time, as an index of its events.
    pub(crate) fn moment(&self) -> usize {
        let present = self.history.len().saturating_sub(1);
        self.moment.unwrap_or(present)
    }

    pub(crate) async fn turn(&mut self, annals: &Annals, page: Page) -> Result<(), ViewError> {
        self.page = page;
        self.read(annals).await
    }

    /// Shows another moment: what was read of the one before is gone.
    async fn show(&mut self, annals: &Annals) -> Result<(), ViewError> {
        let view = annals.view_at(self.object.id, self.at()).await?;
        let json = view.to_json().map_err(LoadError::Render)?;
        // It is the JSON that was written just now.
        let json = serde_json::from_str(&json).unwrap_or(Value::String(json));
        self.fields = rows(&json);
        (self.window, self.diff) = (None, None);
        self.read(annals).await
    }

    /// Reads what the page needs and was not read yet.
    async fn read(&mut self, annals: &Annals) -> Result<(), ViewError> {
        match self.page {
            Page::Window if self.window.is_none() => {
                let at = At::Position(self.position().unwrap_or_else(|| annals.position()));
                let seen = annals.pipelines().window(self.object, None, at).await;
                self.window = Some(unless_missing(seen)?);
            }
            Page::Diff if self.diff.is_none() => {
                self.diff = Some(self.read_diff(annals).await?);
            }
            _ => {}
        }
        Ok(())
    }

    fn at(&self) -> At {
        self.position().map_or(At::Now, At::Position)
    }

    /// The diff of a patch set, or of the last one of a run.
    async fn read_diff(&self, annals: &Annals) -> Result<Shown<Vec<String>>, ViewError> {
        let view = annals.view_at(self.object.id, self.at()).await?;
        let view = match &view {
            ObjectView::Run(run) => match last_patch_set(run) {
                Some(last) => annals.view_at(last, self.at()).await?,
                None => return Ok(Err("the run has no patch set at this moment".to_owned())),
            },
            _ => view,
        };
        let ObjectView::PatchSet(patch_set) = &view else {
            return Ok(Err("only patch sets and runs have diffs".to_owned()));
        };
        let content = patch_set.artifact.as_ref().map(|it| &it.content);
        let bytes = match content {
            None => return Ok(Err("it was recorded without its diff".to_owned())),
            Some(None) => {
                return Ok(Err(
                    "its diff is in another store, as its artifact says".to_owned()
                ));
            }
            Some(Some(PieceValue::Removed)) => {
                return Ok(Err("its diff was removed for good".to_owned()));
            }
            Some(Some(PieceValue::Bytes(bytes))) => bytes.clone(),
            Some(Some(PieceValue::Attachment { digest, .. })) => {
                match annals
                    .contents()
                    .get(*digest)
                    .await
                    .map_err(LoadError::from)?
                {
                    Some(bytes) => bytes,
                    None => return Ok(Err(format!("the blob {digest} of its diff is missing"))),
                }
            }
        };
        Ok(Ok(lines(&bytes)))
    }

    /// How many rows the page has.
    pub(crate) fn len(&self) -> usize {
        match self.page {
            Page::Fields => self.fields.len(),
            Page::Timeline => self.history.len(),
            Page::Window => match &self.window {
                Some(Ok(seen)) => seen.window.frames.len() + seen.window.evicted.len(),
                _ => 0,
            },
            Page::Diff => self
                .diff
                .as_ref()
                .and_then(|it| it.as_ref().ok())
                .map_or(0, Vec::len),
        }
    }

    /// A row of the page as it is searched.
    pub(crate) fn line(&self, at: usize) -> String {
        match self.page {
            Page::Fields => self.fields.get(at).map(Field::line).unwrap_or_default(),
            Page::Timeline => match self.history.get(at) {
                Some(entry) => format!("{} {} {}", entry.position, entry.actor.id, entry.summary),
                None => String::new(),
            },
            Page::Window => match &self.window {
                Some(Ok(seen)) => frame_line(seen, at),
                _ => String::new(),
            },
            Page::Diff => match &self.diff {
                Some(Ok(lines)) => lines.get(at).cloned().unwrap_or_default(),
                _ => String::new(),
            },
        }
    }

    pub(crate) fn cursor(&mut self) -> &mut Cursor {
        let shown = |(_, page): &(&str, Page)| *page == self.page;
        let at = Page::ALL.iter().position(shown).unwrap_or(0);
        &mut self.cursors[at.min(Page::ALL.len() - 1)]
    }
}

/// What is to be said of a frame in a search.
fn frame_line(seen: &SeenWindow, at: usize) -> String {
    let frames = &seen.window.frames;
    if let Some(seen) = frames.get(at) {
        return format!(
            "{} {} {}",
            seen.frame.frame_id,
            seen.frame.kind.label(),
            seen.frame.summary
        );
    }
    match seen.window.evicted.get(at - frames.len()) {
        Some(gone) => format!("{} {} evicted", gone.frame, gone.kind.label()),
        None => String::new(),
    }
}

fn last_patch_set(run: &RunView) -> Option<uuid::Uuid> {
    run.patchsets.last().map(|id| id.0)
}

/// An object that has none of it is no failure: the page says so.
fn unless_missing<T>(read: Result<T, ViewError>) -> Result<Shown<T>, ViewError> {
    match read {
        Ok(read) => Ok(Ok(read)),
        Err(ViewError::Load(error)) => Err(ViewError::Load(error)),
        Err(error) => Ok(Err(error.to_string())),
    }
}

/// The lines of a diff, harmless.
fn lines(bytes: &[u8]) -> Vec<String> {
    let kept = bytes.get(..LONGEST_DIFF).unwrap_or(bytes);
    let text = String::from_utf8_lossy(kept);
    let mut lines: Vec<String> = text.lines().map(diff_line).collect();
    if kept.len() < bytes.len() {
        lines.push("… and more; `annals show ID --diff` prints all of it".to_owned());
    }
    lines
}

/// Tabs of a diff are kept apart from spaces that were there.
fn diff_line(line: &str) -> String {
    safe(&line.replace('\t', "    "))
}
