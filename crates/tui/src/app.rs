//! The state: a stack of screens, and what a key does to it.

use annals::Annals;
use annals::domain::Kind;
use annals::event_log::Position;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use uuid::Uuid;

use crate::cursor::Cursor;
use crate::error::ScreenError;
use crate::fields::Fields;
use crate::key::{Action, action};
use crate::lists::Lists;
use crate::object::{Object, Page};
use crate::options::Options;
use crate::past::PastPosition;
use crate::session::{Opened, SessionScreen};
use crate::steps::Steps;
use crate::text::{has, short};

/// Screens that lie below one another at most; the oldest are forgotten.
const DEEPEST: usize = 100;

/// One screen.
#[derive(Debug)]
pub(crate) enum Screen {
    Lists(Box<Lists>),
    Session(Box<SessionScreen>),
    Object(Box<Object>),
    /// An event or a frame in full.
    Fields(Fields),
}

/// A line that is being typed.
#[derive(Debug)]
pub(crate) struct Typed {
    pub(crate) prompt: Prompt,
    pub(crate) text: String,
}

/// The use of a typed line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Prompt {
    /// Words to search on the screen.
    Search,
    /// A position or a time to show the screen at.
    Time,
}

/// Everything that is shown.
pub(crate) struct App<'a> {
    annals: &'a Annals,
    screens: Vec<Screen>,
    /// The line that is being typed.
    pub(crate) typed: Option<Typed>,
    /// What is searched.
    pub(crate) needle: String,
    pub(crate) is_helping: bool,
    pub(crate) follows: bool,
    /// What is to be said at the bottom until the next key.
    pub(crate) note: Option<String>,
    pub(crate) log: String,
    pub(crate) is_coloured: bool,
    /// Rows of the screen's list, as it was drawn last.
    pub(crate) height: usize,
    seen: Position,
    is_done: bool,
}

impl<'a> App<'a> {
    pub(crate) async fn new(annals: &'a Annals, options: &Options) -> Result<App<'a>, ScreenError> {
        let past = match options.at {
            Some(position) => PastPosition::at(annals, position).await?,
            None => None,
        };
        let mut lists = Box::new(Lists::at(past));
        lists.show(annals, 0).await?;
        let mut app = App {
            annals,
            screens: vec![Screen::Lists(lists)],
            typed: None,
            needle: String::new(),
            is_helping: false,
            follows: false,
            note: None,
            log: annals_terminal::line(&options.log).into_owned(),
            is_coloured: options.is_coloured,
            height: 20,
            seen: annals.position(),
            is_done: false,
        };
        if let Some(id) = &options.object {
            let screen = named(annals, id, past).await?;
            app.screens.push(screen);
        }
        Ok(app)
    }

    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Up to where the log was when it was looked at last.
    pub(crate) fn seen(&self) -> Position {
        self.seen
    }

    pub(crate) fn screen(&mut self) -> Option<&mut Screen> {
        self.screens.last_mut()
    }

    /// The past position of the screen that is shown; `None` is the present. A screen of an event has that of the screen
    /// that it was opened from.
    pub(crate) fn past(&self) -> Option<PastPosition> {
        let past = self.screens.iter().rev().find_map(|screen| match screen {
            Screen::Lists(lists) => Some(lists.past()),
            Screen::Session(session) => Some(session.past),
            Screen::Object(object) => Some(object.past()),
            Screen::Fields(_) => None,
        });
        past.flatten()
    }

    /// Looks for what came; whether there is anything to draw.
    pub(crate) async fn look(&mut self) -> bool {
        let end = self.annals.position();
        if end == self.seen {
            return false;
        }
        self.seen = end;
        let refreshed = self.refresh().await;
        self.say(refreshed);
        true
    }

    async fn refresh(&mut self) -> Result<(), ScreenError> {
        let (annals, follows) = (self.annals, self.follows);
        match self.screens.last_mut() {
            Some(Screen::Lists(lists)) => lists.refresh(annals).await?,
            Some(Screen::Session(session)) => session.refresh(annals, follows).await?,
            Some(Screen::Object(object)) => {
                object.refresh(annals, follows).await?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Does what a key asks for; whether there is anything to draw. What fails is said at the bottom.
    pub(crate) async fn press(&mut self, key: KeyEvent) -> bool {
        if key.kind == KeyEventKind::Release {
            return false;
        }
        self.note = None;
        let done = match self.typed.take() {
            Some(typed) => self.type_on(typed, key).await,
            None => match action(key) {
                Some(_) if self.is_helping => {
                    self.is_helping = false;
                    Ok(())
                }
                Some(action) => self.act(action).await,
                None => Ok(()),
            },
        };
        self.say(done);
        true
    }

    fn say(&mut self, done: Result<(), ScreenError>) {
        if let Err(error) = done {
            self.note = Some(annals_terminal::line(&error.to_string()).into_owned());
        }
    }

    async fn act(&mut self, action: Action) -> Result<(), ScreenError> {
        match action {
            Action::Quit => self.is_done = true,
            Action::Help => self.is_helping = true,
            Action::Find => self.begin_typing(Prompt::Search),
            Action::Time => self.begin_typing(Prompt::Time),
            Action::NextHit => self.find(Steps::Forward).await?,
            Action::PreviousHit => self.find(Steps::Back).await?,
            Action::Follow => self.follow().await?,
            Action::Open => self.open().await?,
            Action::Back => self.back().await?,
            Action::NextTab => self.turn(|at, of| (at + 1) % of).await?,
            Action::PreviousTab => self.turn(|at, of| (at + of - 1) % of).await?,
            Action::Tab(tab) => self.turn(|at, of| if tab < of { tab } else { at }).await?,
            Action::Earlier(events) => self.travel(|at, _| at.saturating_sub(events)).await?,
            Action::Later(events) => self.travel(|at, _| at.saturating_add(events)).await?,
            Action::First => self.travel(|_, _| 0).await?,
            Action::Present => self.travel(|_, last| last).await?,
            Action::Up(_) | Action::PageUp | Action::Top => self.up(action),
            Action::Down(_) | Action::PageDown | Action::Bottom => self.down(action).await?,
        }
        Ok(())
    }

    fn up(&mut self, action: Action) {
        let page = self.height.saturating_sub(1).max(1);
        let rows = match action {
            Action::Up(rows) => rows,
            Action::PageUp => page,
            _ => usize::MAX,
        };
        if let Some((cursor, _)) = self.cursor() {
            cursor.up(rows);
        }
    }

    async fn down(&mut self, action: Action) -> Result<(), ScreenError> {
        let page = self.height.saturating_sub(1).max(1);
        let rows = match action {
            Action::Down(rows) => rows,
            Action::PageDown => page,
            _ => usize::MAX,
        };
        if let Some((cursor, len)) = self.cursor() {
            cursor.down(rows, len);
        }
        let annals = self.annals;
        if let Some(Screen::Lists(lists)) = self.screens.last_mut() {
            lists.read_on(annals).await?;
        }
        Ok(())
    }

    /// The cursor of the screen, and how many rows that has.
    fn cursor(&mut self) -> Option<(&mut Cursor, usize)> {
        Some(match self.screens.last_mut()? {
            Screen::Lists(lists) => {
                let list = lists.list();
                (&mut list.cursor, list.rows.len())
            }
            Screen::Session(session) => (&mut session.cursor, session.rows.len()),
            Screen::Object(object) => {
                let len = object.len();
                (object.cursor(), len)
            }
            Screen::Fields(fields) => (&mut fields.cursor, fields.rows.len()),
        })
    }

    async fn turn(&mut self, to: impl Fn(usize, usize) -> usize) -> Result<(), ScreenError> {
        let annals = self.annals;
        match self.screens.last_mut() {
            Some(Screen::Lists(lists)) => {
                let tab = to(lists.shown(), Lists::titles().count());
                lists.show(annals, tab).await?;
            }
            Some(Screen::Object(object)) => {
                let shown = Page::ALL.iter().position(|(_, page)| *page == object.page);
                let tab = to(shown.unwrap_or(0), Page::ALL.len());
                if let Some((_, page)) = Page::ALL.get(tab) {
                    object.turn(annals, *page).await?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Moves the screen through time: `to` gives the new step from the current one and the last one. Behind the last
    /// step is the present.
    async fn travel(&mut self, to: impl Fn(usize, usize) -> usize) -> Result<(), ScreenError> {
        let annals = self.annals;
        let position = match self.screens.last_mut() {
            Some(Screen::Object(object)) => {
                let last = object.history.len().saturating_sub(1);
                let moment = to(object.moment(), last);
                return Ok(object.travel(annals, moment).await?);
            }
            Some(Screen::Session(session)) => session.moved(to),
            Some(Screen::Lists(lists)) => {
                let end = annals.position().0;
                let at = lists.past().map_or(end, |past| past.position.0);
                let step = |position: u64| usize::try_from(position).unwrap_or(usize::MAX);
                // There is nothing before the first event.
                Some(Position(to(step(at), step(end)).max(1) as u64))
            }
            _ => None,
        };
        let past = match position {
            Some(position) => PastPosition::at(annals, position).await?,
            None => None,
        };
        self.go(past).await
    }

    /// Shows the screen as of a past position; `None` is the present.
    async fn go(&mut self, past: Option<PastPosition>) -> Result<(), ScreenError> {
        let annals = self.annals;
        match self.screens.last_mut() {
            Some(Screen::Object(object)) => object.go(annals, past).await,
            Some(Screen::Session(session)) => session.travel(annals, past).await,
            Some(Screen::Lists(lists)) if lists.is_of_sessions() => {
                lists.travel(annals, past).await
            }
            _ => {
                let note = "time is moved on the sessions, a session or an object's pages";
                self.note = Some(note.to_owned());
                Ok(())
            }
        }
    }

    async fn follow(&mut self) -> Result<(), ScreenError> {
        self.follows = !self.follows;
        if self.follows {
            self.return_to_present().await?;
            match self.screens.last_mut() {
                Some(Screen::Lists(lists)) => lists.list().cursor.at = 0,
                Some(Screen::Session(session)) => {
                    session.cursor.put(usize::MAX, session.rows.len())
                }
                Some(Screen::Object(object)) => {
                    let end = object.len().saturating_sub(1);
                    object.cursor().at = end;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// A screen that follows the log shows the present.
    async fn return_to_present(&mut self) -> Result<(), ScreenError> {
        match self.screens.last() {
            Some(Screen::Object(_) | Screen::Session(_)) => self.go(None).await,
            Some(Screen::Lists(lists)) if lists.is_of_sessions() => self.go(None).await,
            _ => Ok(()),
        }
    }

    async fn back(&mut self) -> Result<(), ScreenError> {
        if self.screens.len() > 1 {
            self.screens.pop();
            self.refresh().await?;
        } else if !self.needle.is_empty() {
            self.needle.clear();
        }
        Ok(())
    }

    /// Opens what is under the cursor.
    async fn open(&mut self) -> Result<(), ScreenError> {
        let past = self.past();
        let opened = match self.screens.last_mut() {
            Some(Screen::Lists(lists)) => {
                let list = lists.list();
                let row = list.rows.get(list.cursor.at);
                let (id, is_session) =
                    row.map_or((None, false), |row| (Some(row.id), row.is_session));
                match id.filter(|_| is_session) {
                    Some(id) => Some(session(self.annals, id, past).await?),
                    None => self.object(id, past).await?,
                }
            }
            Some(Screen::Session(screen)) => match screen.toggle(self.annals).await? {
                Opened::Here => None,
                Opened::SubAgent(id) => Some(session(self.annals, id, past).await?),
            },
            Some(Screen::Fields(fields)) => {
                let names = fields.rows.get(fields.cursor.at).and_then(|it| it.names);
                self.object(names, past).await?
            }
            Some(Screen::Object(object)) => {
                let at = object.cursor().at;
                match object.page {
                    Page::Fields => {
                        let names = object.fields.get(at).and_then(|it| it.names);
                        self.object(names, past).await?
                    }
                    Page::Timeline => object.history.get(at).map(event),
                    Page::Window => frame(object, at),
                    Page::Diff => None,
                }
            }
            None => None,
        };
        if let Some(opened) = opened {
            self.screens.push(opened);
            if self.screens.len() > DEEPEST {
                self.screens.remove(1);
            }
        }
        Ok(())
    }

    /// The screen of an object as of a past position, if there is one of this id.
    async fn object(
        &mut self,
        id: Option<Uuid>,
        past: Option<PastPosition>,
    ) -> Result<Option<Screen>, ScreenError> {
        let Some(id) = id else {
            self.note = Some("nothing to open here".to_owned());
            return Ok(None);
        };
        let Some((kind, _)) = self.annals.index().place(id).await? else {
            self.note = Some(format!("{} is no object of this log", short(id)));
            return Ok(None);
        };
        let object = Object::open(self.annals, annals::ObjectRef { kind, id }, past).await?;
        Ok(Some(Screen::Object(Box::new(object))))
    }

    fn begin_typing(&mut self, prompt: Prompt) {
        let text = String::new();
        self.typed = Some(Typed { prompt, text });
    }

    /// A key while a line is typed.
    async fn type_on(&mut self, mut typed: Typed, key: KeyEvent) -> Result<(), ScreenError> {
        let is_search = typed.prompt == Prompt::Search;
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        let is_left = key.code == KeyCode::Esc || is_control && key.code == KeyCode::Char('c');
        if is_left {
            if is_search {
                self.needle.clear();
            }
            return Ok(());
        }
        match key.code {
            KeyCode::Enter => return self.enter(typed).await,
            KeyCode::Backspace => {
                typed.text.pop();
            }
            KeyCode::Char(c) if !is_control => typed.text.push(c),
            _ => {}
        }
        if is_search {
            self.needle.clone_from(&typed.text);
        }
        self.typed = Some(typed);
        match is_search && !self.needle.is_empty() {
            true => self.find(Steps::Here).await,
            false => Ok(()),
        }
    }

    /// Keeps the searched words, or shows the screen as of the typed time.
    async fn enter(&mut self, typed: Typed) -> Result<(), ScreenError> {
        let text = typed.text.trim();
        match typed.prompt {
            _ if text.is_empty() => Ok(()),
            Prompt::Search => {
                self.needle = typed.text;
                Ok(())
            }
            Prompt::Time => {
                let past = PastPosition::named(self.annals, text).await?;
                self.go(past).await
            }
        }
    }

    async fn find(&mut self, steps: Steps) -> Result<(), ScreenError> {
        if self.needle.is_empty() {
            self.note = Some("nothing is searched: type / and words".to_owned());
            return Ok(());
        }
        let (annals, needle) = (self.annals, self.needle.clone());
        let is_found = match self.screens.last_mut() {
            Some(Screen::Lists(lists)) => lists.find(annals, &needle, steps).await?,
            Some(Screen::Session(session)) => {
                let (from, len) = (session.cursor.at, session.rows.len());
                let fits = |at: usize| {
                    let row = session.rows.get(at);
                    row.is_some_and(|row| has(&row.line(), &needle))
                };
                let found = steps.find(from, len, fits);
                if let Some(at) = found {
                    session.cursor.put(at, len);
                }
                found.is_some()
            }
            Some(Screen::Object(object)) => {
                let (from, len) = (object.cursor().at, object.len());
                let found = steps.find(from, len, |at| has(&object.line(at), &needle));
                if let Some(at) = found {
                    object.cursor().put(at, len);
                }
                found.is_some()
            }
            Some(Screen::Fields(fields)) => {
                let (from, len) = (fields.cursor.at, fields.rows.len());
                let fits = |at: usize| {
                    fields
                        .rows
                        .get(at)
                        .is_some_and(|it| has(&it.line(), &needle))
                };
                let found = steps.find(from, len, fits);
                if let Some(at) = found {
                    fields.cursor.put(at, len);
                }
                found.is_some()
            }
            None => false,
        };
        if !is_found {
            let place = if steps.is_forward() { "below" } else { "above" };
            self.note = Some(format!("nothing has {needle:?} {place} the cursor"));
        }
        Ok(())
    }
}

/// The screen of a session or an object by its name. A task that is a session is shown as its conversation.
async fn named(
    annals: &Annals,
    name: &str,
    past: Option<PastPosition>,
) -> Result<Screen, ScreenError> {
    let object = match annals.resolve(name).await {
        Ok(object) => object,
        Err(error) => match annals.conversations().find(name).await {
            Ok(found) => return session(annals, found.id, past).await,
            Err(_) => return Err(error.into()),
        },
    };
    if object.kind == Kind::Task
        && let Ok(found) = annals.conversations().find(&object.id.to_string()).await
    {
        return session(annals, found.id, past).await;
    }
    let object = Object::open(annals, object, past).await?;
    Ok(Screen::Object(Box::new(object)))
}

async fn session(
    annals: &Annals,
    id: Uuid,
    past: Option<PastPosition>,
) -> Result<Screen, ScreenError> {
    let screen = SessionScreen::read(annals, id, past).await?;
    Ok(Screen::Session(Box::new(screen)))
}

fn event(entry: &annals::projections::HistoryEntry) -> Screen {
    let title = format!("event {} · {}", entry.position, entry.event_type);
    // A history's entry is plain data, which has a JSON.
    let json = serde_json::to_value(entry).unwrap_or_default();
    Screen::Fields(Fields::new(title, &json))
}

fn frame(object: &Object, at: usize) -> Option<Screen> {
    let Some(Ok(seen)) = &object.window else {
        return None;
    };
    let frames = &seen.window.frames;
    let (number, json) = match frames.get(at) {
        Some(seen) => (seen.frame.frame_id, serde_json::to_value(seen)),
        None => {
            let gone = seen.window.evicted.get(at - frames.len())?;
            (gone.frame, serde_json::to_value(gone))
        }
    };
    let title = format!("frame {number}");
    Some(Screen::Fields(Fields::new(
        title,
        &json.unwrap_or_default(),
    )))
}
