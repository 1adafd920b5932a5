//! Keys in, screens out: what a user sees, drawn into a buffer.

#![allow(clippy::unwrap_used)]

use annals::domain::ActorRef;
use annals::domain::run::{DiffFormat, ProposePatchSet};
use annals::{Annals, At};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use uuid::Uuid;

use crate::app::App;
use crate::draw::draw;
use crate::options::Options;

const HOSTILE: &str = "Paginate\u{1b}[2J\u{202e} <script>";

/// A log with one run, which proposed a patch set and was completed with it.
async fn log() -> (Annals, Uuid) {
    let annals = Annals::open("memory:").await.unwrap();
    let agent = ActorRef::agent("coder");
    let me = annals.by(&agent);
    let intent = me.submit("Add pagination to the user list").await.unwrap();
    me.analyze(intent, "GET /users takes offset and limit")
        .await
        .unwrap();
    let task = me.task(intent, HOSTILE).await.unwrap();
    let run = me.start_run(task, None, None).await.unwrap();
    let patch_set = me
        .propose(ProposePatchSet::new(run, DiffFormat::Unified))
        .await
        .unwrap();
    me.validate(run).await.unwrap();
    me.commit(run, patch_set, None).await.unwrap();
    (annals, run.0)
}

async fn app(annals: &Annals) -> App<'_> {
    let options = Options {
        log: ".annals".to_owned(),
        ..Options::default()
    };
    App::new(annals, &options).await.unwrap()
}

/// What is on a screen of 120 by 24.
fn screen(app: &mut App<'_>) -> String {
    let mut terminal = Terminal::new(TestBackend::new(120, 24)).unwrap();
    terminal.draw(|frame| draw(frame, app)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let rows = buffer.content().chunks(120);
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    rows.map(|row| row.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

async fn press(app: &mut App<'_>, keys: &[KeyCode]) -> String {
    for key in keys {
        app.press(KeyEvent::new(*key, KeyModifiers::NONE)).await;
    }
    screen(app)
}

async fn type_in(app: &mut App<'_>, text: &str) -> String {
    let keys: Vec<KeyCode> = text.chars().map(KeyCode::Char).collect();
    press(app, &keys).await
}

#[tokio::test]
async fn lists_show_what_the_log_has_and_foreign_text_is_harmless() {
    let (annals, _) = log().await;
    let mut app = app(&annals).await;
    let sessions = screen(&mut app);
    assert!(sessions.contains(" 1 Sessions "), "{sessions}");
    let runs = press(&mut app, &[KeyCode::Char('2')]).await;
    assert!(runs.contains(" 2 Runs "), "{runs}");
    assert!(runs.contains("completed"), "{runs}");
    assert!(
        runs.contains("Paginate\\u{1b}[2J\\u{202e} <script>"),
        "{runs}"
    );
    assert!(!runs.contains('\u{1b}') && !runs.contains('\u{202e}'));
    let intents = press(&mut app, &[KeyCode::Char('4')]).await;
    assert!(
        intents.contains("Add pagination to the user list"),
        "{intents}"
    );
    let decisions = press(&mut app, &[KeyCode::Char('9')]).await;
    assert!(decisions.contains("▸ "), "{decisions}");
}

#[tokio::test]
async fn arrow_keys_show_an_object_as_views_at_its_positions_do() {
    let (annals, run) = log().await;
    let mut app = app(&annals).await;
    press(
        &mut app,
        &[KeyCode::Char('2'), KeyCode::Enter, KeyCode::Char('1')],
    )
    .await;
    let history = annals.history(run).await.unwrap();
    for steps in (0..history.len()).rev() {
        let shown = screen(&mut app);
        let position = history[steps].position;
        let view = annals.view_at(run, At::Position(position)).await.unwrap();
        let json: serde_json::Value = serde_json::from_str(&view.to_json().unwrap()).unwrap();
        let status = json["status"].as_str().unwrap();
        let row = shown.lines().find(|row| row.contains("status ")).unwrap();
        assert!(
            row.trim_end().ends_with(status),
            "{status} at {position}: {shown}"
        );
        let place = format!("event {position} · {} of {}", steps + 1, history.len());
        assert!(shown.contains(&place), "{place}: {shown}");
        press(&mut app, &[KeyCode::Left]).await;
    }
    let present = press(&mut app, &[KeyCode::End]).await;
    assert!(present.contains("· now"), "{present}");
    let first = press(&mut app, &[KeyCode::Home]).await;
    assert!(first.contains("· 1 of "), "{first}");
}

#[tokio::test]
async fn ids_in_fields_and_events_lead_on_and_escape_leads_back() {
    let (annals, _) = log().await;
    let mut app = app(&annals).await;
    press(
        &mut app,
        &[KeyCode::Char('2'), KeyCode::Enter, KeyCode::Char('1')],
    )
    .await;
    let found = type_in(&mut app, "/task ").await;
    assert!(found.contains("/task "), "{found}");
    let task = press(&mut app, &[KeyCode::Enter, KeyCode::Enter]).await;
    assert!(
        task.contains("task ") && task.contains("1 Fields"),
        "{task}"
    );
    assert!(task.contains("title"), "{task}");
    let event = press(&mut app, &[KeyCode::Char('2'), KeyCode::Enter]).await;
    assert!(event.contains("task.created"), "{event}");
    let run = press(&mut app, &[KeyCode::Esc, KeyCode::Esc]).await;
    assert!(run.contains(" run "), "{run}");
    let lists = press(&mut app, &[KeyCode::Esc, KeyCode::Esc, KeyCode::Esc]).await;
    assert!(lists.contains("2 Runs"), "{lists}");
}

#[tokio::test]
async fn a_search_moves_the_cursor_and_says_where_nothing_is() {
    let (annals, _) = log().await;
    let mut app = app(&annals).await;
    press(&mut app, &[KeyCode::Char('2'), KeyCode::Enter]).await;
    let top = press(&mut app, &[KeyCode::Char('g')]).await;
    let marked = |shown: &str| {
        shown
            .lines()
            .find(|row| row.starts_with('▸'))
            .map(str::to_owned)
    };
    let hit = type_in(&mut app, "/VALIDAT").await;
    assert_ne!(marked(&top), marked(&hit));
    assert!(
        marked(&hit).unwrap().to_lowercase().contains("validat"),
        "{hit}"
    );
    press(&mut app, &[KeyCode::Enter]).await;
    let none = type_in(&mut app, "/no such words").await;
    assert!(none.contains("nothing has"), "{none}");
}

#[tokio::test]
async fn what_comes_is_drawn_and_followed() {
    let (annals, run) = log().await;
    let mut app = app(&annals).await;
    press(&mut app, &[KeyCode::Char('2'), KeyCode::Enter]).await;
    assert!(!app.look().await);
    press(&mut app, &[KeyCode::Char('f')]).await;
    let before = screen(&mut app);
    let agent = ActorRef::agent("coder");
    annals.by(&agent).submit("Another one").await.unwrap();
    assert!(app.look().await);
    assert!(before.contains("following"), "{before}");
    let lists = press(&mut app, &[KeyCode::Esc, KeyCode::Char('4')]).await;
    assert!(lists.contains("Another one"), "{lists}");
    let history = annals.history(run).await.unwrap();
    assert!(!history.is_empty());
}

#[tokio::test]
async fn no_key_and_no_size_of_the_terminal_ends_it() {
    let (annals, _) = log().await;
    let mut app = app(&annals).await;
    let keys = [
        KeyCode::Char('2'),
        KeyCode::Enter,
        KeyCode::Tab,
        KeyCode::Tab,
        KeyCode::Tab,
        KeyCode::Left,
        KeyCode::Enter,
        KeyCode::Char('G'),
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Char('?'),
        KeyCode::Right,
        KeyCode::BackTab,
        KeyCode::Char('n'),
        KeyCode::Char(','),
        KeyCode::Char('.'),
        KeyCode::F(1),
        KeyCode::Esc,
        KeyCode::Esc,
        KeyCode::Esc,
    ];
    for (width, height) in [(0, 0), (1, 1), (3, 2), (20, 5), (500, 100)] {
        for key in keys {
            app.press(KeyEvent::new(key, KeyModifiers::NONE)).await;
            let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
            terminal.draw(|frame| draw(frame, &mut app)).unwrap();
        }
    }
    assert!(!app.is_done());
    app.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL))
        .await;
    assert!(app.is_done());
}
