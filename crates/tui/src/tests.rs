//! Keys in, screens out: what a user sees, drawn into a buffer.

#![allow(clippy::unwrap_used)]

use annals::domain::run::{DiffFormat, ProposePatchSet, RecordToolInvocation, ToolStatus};
use annals::domain::{ActorRef, RunId};
use annals::event_log::Position;
use annals::{Annals, At, Request};
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
    screen_of(app, 120)
}

/// What is on a screen of this width and 24 rows.
fn screen_of(app: &mut App<'_>, width: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, 24)).unwrap();
    terminal.draw(|frame| draw(frame, app)).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let rows = buffer.content().chunks(usize::from(width.max(1)));
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
        KeyCode::Char('t'),
        KeyCode::Char('2'),
        KeyCode::Char('d'),
        KeyCode::Enter,
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

/// A log with two sessions. Returns the first session's id, the positions behind each of its four tool calls, and that
/// behind the second session's.
async fn sessions() -> (Annals, Uuid, Vec<Position>, Position) {
    let annals = Annals::open("memory:").await.unwrap();
    let agent = ActorRef::agent("coder");
    let me = annals.by(&agent);
    let (cache, run) = session_of(&annals, "Add a cache").await;
    let mut positions = Vec::new();
    for tool in ["alpha", "beta", "gamma", "delta"] {
        call(&annals, run, tool).await;
        positions.push(annals.position());
    }
    let (_, run) = session_of(&annals, "Measure it").await;
    call(&annals, run, "epsilon").await;
    let second = annals.position();
    me.submit("Another one").await.unwrap();
    (annals, cache, positions, second)
}

async fn call(annals: &Annals, run: RunId, tool: &str) {
    let call = RecordToolInvocation::new(run, tool.to_owned(), ToolStatus::Ok);
    let request = Request::new(ActorRef::agent("coder"), call);
    annals.execute(request).await.unwrap();
}

async fn session_of(annals: &Annals, title: &str) -> (Uuid, RunId) {
    let agent = ActorRef::agent("coder");
    let me = annals.by(&agent);
    let intent = me.submit(title).await.unwrap();
    me.analyze(intent, "it is clear").await.unwrap();
    let task = me.task(intent, title).await.unwrap();
    let run = me.start_run(task, None, None).await.unwrap();
    (task.0, run)
}

/// A terminal view as of a position.
async fn app_at(annals: &Annals, at: Position) -> App<'_> {
    let options = Options {
        at: Some(at),
        ..Options::default()
    };
    App::new(annals, &options).await.unwrap()
}

/// The top line: the part about the position.
fn head(shown: &str) -> String {
    shown.lines().next().unwrap_or_default().trim().to_owned()
}

#[tokio::test]
async fn a_conversation_moves_through_time_by_turns() {
    let (annals, id, positions, _) = sessions().await;
    let options = Options {
        object: Some(id.to_string()),
        ..Options::default()
    };
    let mut app = App::new(&annals, &options).await.unwrap();
    let present = screen(&mut app);
    assert!(
        present.contains("delta") && present.contains("· now"),
        "{present}"
    );
    assert!(head(&present).ends_with("live"), "{present}");
    let earlier = press(&mut app, &[KeyCode::Left]).await;
    assert!(
        earlier.contains("gamma") && !earlier.contains("delta"),
        "{earlier}"
    );
    let event = format!("as of event {}, 20", positions[2]);
    assert!(head(&earlier).contains(&event), "{event}: {earlier}");
    assert!(!earlier.contains("· now"), "{earlier}");
    let first = press(&mut app, &[KeyCode::Home]).await;
    assert!(
        first.contains("alpha") && !first.contains("beta"),
        "{first}"
    );
    let still = press(&mut app, &[KeyCode::Left]).await;
    assert_eq!(first, still, "nothing is before the first turn");
    let later = press(&mut app, &[KeyCode::Char('.')]).await;
    assert_eq!(later, screen(&mut app));
    assert!(
        later.contains("delta") && later.contains("· now"),
        "{later}"
    );
    press(&mut app, &[KeyCode::Char(',')]).await;
    let end = press(&mut app, &[KeyCode::End]).await;
    assert!(
        end.contains("delta") && head(&end).ends_with("live"),
        "{end}"
    );
}

#[tokio::test]
async fn a_conversation_is_that_of_the_library_at_each_position() {
    let (annals, id, ..) = sessions().await;
    let all = annals
        .conversation(id, At::Now, annals::TurnRange::all())
        .await;
    let all = all.unwrap().turns;
    let mut compared = 0;
    for position in annals.history(id).await.unwrap()[0].position.0..annals.position().0 {
        let at = At::Position(Position(position));
        let past = annals.conversation(id, at, annals::TurnRange::all()).await;
        let turns = past.unwrap().turns.len();
        let mut app = app_at(&annals, Position(position)).await;
        let shown = press(&mut app, &[KeyCode::Enter]).await;
        // The second session is listed first once it has begun.
        if shown.contains("Measure it") || shown.contains("none yet") {
            continue;
        }
        let counted = format!("turn {turns} of {}", all.len());
        assert!(shown.contains(&counted), "{counted} at {position}: {shown}");
        assert!(
            shown.contains(&format!("as of event {position}")),
            "{shown}"
        );
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

#[tokio::test]
async fn the_sessions_are_listed_as_of_a_position() {
    let (annals, _, positions, second) = sessions().await;
    let mut app = app_at(&annals, positions[3]).await;
    let past = screen(&mut app);
    assert!(
        past.contains("Add a cache") && !past.contains("Measure it"),
        "{past}"
    );
    assert!(
        head(&past).contains(&format!("as of event {}", positions[3])),
        "{past}"
    );
    // An opened session is of the same position, and so is the list behind it.
    let opened = press(&mut app, &[KeyCode::Enter]).await;
    assert!(
        head(&opened).contains(&format!("as of event {}", positions[3])),
        "{opened}"
    );
    let earlier = press(&mut app, &[KeyCode::Left]).await;
    assert!(!earlier.contains("delta"), "{earlier}");
    assert_eq!(press(&mut app, &[KeyCode::Esc]).await, past);
    // Other lists are of the present, and have no time to move.
    let runs = press(&mut app, &[KeyCode::Char('2')]).await;
    assert!(head(&runs).ends_with("live"), "{runs}");
    let note = press(&mut app, &[KeyCode::Left]).await;
    assert!(note.contains("time is moved on"), "{note}");
    assert_eq!(press(&mut app, &[KeyCode::Char('1')]).await, past);
    let present = press(&mut app, &[KeyCode::End]).await;
    assert!(
        present.contains("Measure it") && head(&present).ends_with("live"),
        "{present}"
    );
    let before = press(&mut app, &[KeyCode::Left]).await;
    assert!(
        head(&before).contains(&format!("as of event {second}")),
        "{before}"
    );
    let first = press(&mut app, &[KeyCode::Home]).await;
    assert!(head(&first).contains("as of event 1, "), "{first}");
    assert!(
        !first.contains("Add a cache"),
        "its task had not begun: {first}"
    );
}

#[tokio::test]
async fn a_typed_position_or_time_is_shown() {
    let (annals, _, positions, _) = sessions().await;
    let mut app = app(&annals).await;
    let present = screen(&mut app);
    let typing = type_in(&mut app, "t17x").await;
    assert!(typing.contains("position or time: 17x"), "{typing}");
    let left = press(&mut app, &[KeyCode::Esc]).await;
    assert_eq!(left, present, "it is left without an effect");
    type_in(&mut app, &format!("t{}", positions[0])).await;
    let past = press(&mut app, &[KeyCode::Enter]).await;
    assert!(
        head(&past).contains(&format!("as of event {}", positions[0])),
        "{past}"
    );
    for now in ["now", "0m", "today"] {
        type_in(&mut app, &format!("t{now}")).await;
        let shown = press(&mut app, &[KeyCode::Enter]).await;
        assert_eq!(shown, present, "{now}");
    }
    for before in ["yesterday", "2d", "1999-01-01", "1999-01-01 14:30"] {
        type_in(&mut app, &format!("t{before}")).await;
        let shown = press(&mut app, &[KeyCode::Enter]).await;
        assert!(head(&shown).ends_with("as of event 0"), "{before}: {shown}");
        assert!(shown.contains("none yet"), "{before}: {shown}");
    }
    for (wrong, says) in [
        ("soon", "yesterday, 2d or 3h, or a position"),
        ("999999", "the log's end"),
        ("occurred:yesterday", "the log's clock"),
        ("0199c0de-0000-7000-8000-000000000001", "there is no event"),
    ] {
        type_in(&mut app, &format!("t{wrong}")).await;
        press(&mut app, &[KeyCode::Enter]).await;
        for width in [60, 120] {
            let shown = screen_of(&mut app, width);
            let words: Vec<&str> = shown.split_whitespace().collect();
            assert!(words.join(" ").contains(says), "{wrong}: {shown}");
            assert!(
                head(&shown).ends_with("as of event 0"),
                "{wrong} moves nothing: {shown}"
            );
        }
    }
}

#[tokio::test]
async fn what_had_not_begun_is_not_shown_in_the_past() {
    let (annals, id, ..) = sessions().await;
    let options = Options {
        object: Some(id.to_string()),
        at: Some(Position(1)),
        ..Options::default()
    };
    let error = App::new(&annals, &options).await.err().unwrap().to_string();
    assert!(error.contains("had not begun at event 1"), "{error}");
    let options = Options {
        object: Some(id.to_string()),
        ..Options::default()
    };
    let mut app = App::new(&annals, &options).await.unwrap();
    let present = screen(&mut app);
    type_in(&mut app, "t1").await;
    let shown = press(&mut app, &[KeyCode::Enter]).await;
    assert!(shown.contains("had not begun at event 1"), "{shown}");
    assert_eq!(head(&shown), head(&present), "it stays where it was");
}

#[tokio::test]
async fn the_past_stays_as_it_is_when_events_come_and_following_leaves_it() {
    let (annals, id, positions, _) = sessions().await;
    let options = Options {
        object: Some(id.to_string()),
        at: Some(positions[1]),
        ..Options::default()
    };
    let mut app = App::new(&annals, &options).await.unwrap();
    let past = screen(&mut app);
    assert!(past.contains("beta") && !past.contains("gamma"), "{past}");
    let run = annals
        .conversations()
        .summary(id, At::Now)
        .await
        .unwrap()
        .runs[0];
    call(&annals, RunId(run), "zeta").await;
    assert!(app.look().await);
    let shown = screen(&mut app);
    assert!(
        shown.contains("beta") && !shown.contains("gamma"),
        "{shown}"
    );
    assert_eq!(head(&shown), head(&past));
    assert_ne!(shown, past, "there are more turns to go to");
    let followed = press(&mut app, &[KeyCode::Char('f')]).await;
    assert!(followed.contains("zeta"), "{followed}");
    assert!(head(&followed).ends_with("following"), "{followed}");
}

#[tokio::test]
async fn a_past_object_is_opened_from_a_past_one() {
    let (annals, run) = log().await;
    let history = annals.history(run).await.unwrap();
    let options = Options {
        object: Some(run.to_string()),
        at: Some(history[0].position),
        ..Options::default()
    };
    let mut app = App::new(&annals, &options).await.unwrap();
    let shown = press(&mut app, &[KeyCode::Char('1')]).await;
    let event = format!("as of event {}, ", history[0].position);
    assert!(head(&shown).contains(&event), "{shown}");
    type_in(&mut app, "/task ").await;
    let task = press(&mut app, &[KeyCode::Enter, KeyCode::Enter]).await;
    assert!(task.contains(" task "), "{task}");
    assert!(!head(&task).is_empty(), "{task}");
    let back = press(&mut app, &[KeyCode::Esc, KeyCode::End]).await;
    assert!(head(&back).ends_with("live"), "{back}");
}

#[tokio::test]
async fn a_narrow_terminal_shows_the_position_and_some_keys() {
    let (annals, _, positions, _) = sessions().await;
    let mut app = app_at(&annals, positions[2]).await;
    app.log = "/home/somebody/with/a/long/path/.annals".to_owned();
    for keys in [&[][..], &[KeyCode::Enter], &[KeyCode::Left]] {
        press(&mut app, keys).await;
        let shown = screen_of(&mut app, 60);
        let position = positions[if keys == [KeyCode::Left] { 1 } else { 2 }];
        assert!(
            head(&shown).contains(&format!("as of event {position}, 20")),
            "{shown}"
        );
        assert!(head(&shown).starts_with("annals"), "{shown}");
        assert!(shown.lines().last().unwrap().contains("? help"), "{shown}");
    }
    let help = press(&mut app, &[KeyCode::Char('?')]).await;
    let narrow = screen_of(&mut app, 60);
    for shown in [help, narrow] {
        let words: Vec<&str> = shown
            .split(['│', ' ', '\n'])
            .filter(|it| !it.is_empty())
            .collect();
        let words = words.join(" ");
        assert!(
            words.contains("yesterday, 2026-01-31, 14:30, 2d, now"),
            "{shown}"
        );
        assert!(
            words.contains("the first event or turn; the present"),
            "{shown}"
        );
    }
    for width in [0, 1, 5, 20, 40] {
        screen_of(&mut app, width);
    }
}
