//! What keys mean.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// So many rows up.
    Up(usize),
    /// So many rows down.
    Down(usize),
    /// A screen up.
    PageUp,
    /// A screen down.
    PageDown,
    /// The first row.
    Top,
    /// The last row.
    Bottom,
    /// What is under the cursor.
    Open,
    /// The screen before.
    Back,
    /// The next list or page.
    NextTab,
    /// The one before.
    PreviousTab,
    /// The list or page of this number, from 0.
    Tab(usize),
    /// So many events earlier.
    Earlier(usize),
    /// So many events later.
    Later(usize),
    /// As it was after its first event.
    First,
    /// As it is now.
    Present,
    /// Type a position or a time to go to.
    Time,
    /// Begin to type what is searched.
    Find,
    /// The next hit.
    NextHit,
    /// The hit before.
    PreviousHit,
    /// Follow what comes, or no longer.
    Follow,
    /// What keys there are.
    Help,
    /// Leave.
    Quit,
}

/// The keys, for people: `?` shows them.
pub(crate) const KEYS: [(&str, &str); 13] = [
    (
        "j k  ↓ ↑",
        "down, up; Ctrl-D Ctrl-U or Page keys by a screen; g G first, last",
    ),
    (
        "Enter  l",
        "open what is under the cursor: a session, a turn, an object, an event, an id in a field",
    ),
    ("Esc  h", "back to where you came from"),
    (
        "Tab  1-9",
        "the next list or page; Shift-Tab the one before",
    ),
    (
        "← →",
        "an event earlier, later; in a session a turn: the page is as it was then",
    ),
    (", .", "ten events or turns earlier, later"),
    ("Home End", "the first event or turn; the present"),
    (
        "t",
        "go to a position or a time: 1234, yesterday, 2026-01-31, 14:30, 2d, now",
    ),
    ("/", "search on this page; Enter keeps, Esc drops"),
    ("n N", "the next hit, the one before"),
    ("f", "follow: the cursor stays on what comes last"),
    ("?", "this"),
    ("q  Ctrl-C", "leave"),
];

/// What a key means outside of a search that is being typed.
pub(crate) fn action(key: KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Action::Quit),
            KeyCode::Char('d' | 'f') => Some(Action::PageDown),
            KeyCode::Char('u' | 'b') => Some(Action::PageUp),
            _ => None,
        };
    }
    Some(match key.code {
        KeyCode::Char('j') | KeyCode::Down => Action::Down(1),
        KeyCode::Char('k') | KeyCode::Up => Action::Up(1),
        KeyCode::PageDown | KeyCode::Char(' ') => Action::PageDown,
        KeyCode::PageUp => Action::PageUp,
        KeyCode::Char('g') => Action::Top,
        KeyCode::Char('G') => Action::Bottom,
        KeyCode::Enter | KeyCode::Char('l') => Action::Open,
        KeyCode::Esc | KeyCode::Backspace | KeyCode::Char('h') => Action::Back,
        KeyCode::Tab => Action::NextTab,
        KeyCode::BackTab => Action::PreviousTab,
        KeyCode::Char(digit @ '1'..='9') => Action::Tab(digit as usize - '1' as usize),
        KeyCode::Left => Action::Earlier(1),
        KeyCode::Right => Action::Later(1),
        KeyCode::Char(',') => Action::Earlier(10),
        KeyCode::Char('.') => Action::Later(10),
        KeyCode::Home => Action::First,
        KeyCode::End => Action::Present,
        KeyCode::Char('t') => Action::Time,
        KeyCode::Char('/') => Action::Find,
        KeyCode::Char('n') => Action::NextHit,
        KeyCode::Char('N') => Action::PreviousHit,
        KeyCode::Char('f') => Action::Follow,
        KeyCode::Char('?') => Action::Help,
        KeyCode::Char('q') => Action::Quit,
        _ => return None,
    })
}
