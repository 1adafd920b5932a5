//! The terminal view on a terminal of its own.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::{Place, human, story};
use serde_json::json;

const ROWS: usize = 24;
const COLUMNS: usize = 120;

/// What a terminal shows after what came: only cells that change are drawn, so what came has no whole words.
struct Screen {
    cells: [[char; COLUMNS]; ROWS],
    row: usize,
    column: usize,
    /// What came and is not drawn yet: the beginning of a character or of an escape sequence.
    rest: Vec<u8>,
}

impl Screen {
    fn new() -> Screen {
        Screen {
            cells: [[' '; COLUMNS]; ROWS],
            row: 0,
            column: 0,
            rest: Vec::new(),
        }
    }

    fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let text = match std::str::from_utf8(&self.rest) {
            Ok(text) => text.to_owned(),
            Err(error) => String::from_utf8_lossy(&self.rest[..error.valid_up_to()]).into_owned(),
        };
        let mut left = text.as_str();
        while let Some(c) = left.chars().next() {
            let Some(length) = self.step(c, left) else {
                break;
            };
            left = &left[length..];
        }
        self.rest.drain(..text.len() - left.len());
    }

    /// Draws a character, or does what a sequence says; how long it is, if all of it is there.
    fn step(&mut self, c: char, left: &str) -> Option<usize> {
        if c != '\u{1b}' {
            self.put(c);
            return Some(c.len_utf8());
        }
        if left.len() < 2 {
            return None;
        }
        let Some(sequence) = left.strip_prefix("\u{1b}[") else {
            return Some(2);
        };
        let end = sequence.find(|c: char| matches!(c, '@'..='~'))?;
        let numbers = sequence[..end].split(';').map(|it| it.parse().unwrap_or(1));
        let numbers: Vec<usize> = numbers.collect();
        match &sequence[end..=end] {
            "H" => {
                self.row = numbers[0].saturating_sub(1);
                self.column = numbers.get(1).copied().unwrap_or(1).saturating_sub(1);
            }
            "J" => self.cells = [[' '; COLUMNS]; ROWS],
            _ => {}
        }
        Some(2 + end + 1)
    }

    fn put(&mut self, c: char) {
        match c {
            '\r' => self.column = 0,
            '\n' => self.row = (self.row + 1).min(ROWS - 1),
            c => {
                let row = self.cells.get_mut(self.row);
                if let Some(cell) = row.and_then(|row| row.get_mut(self.column)) {
                    *cell = c;
                }
                self.column += 1;
            }
        }
    }

    fn text(&self) -> String {
        let rows = self.cells.iter().map(|row| row.iter().collect::<String>());
        rows.map(|row| format!("{}\n", row.trim_end())).collect()
    }
}

/// The program on a terminal.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    comes: Receiver<Vec<u8>>,
    screen: Screen,
    /// All that came.
    all: String,
}

impl Terminal {
    fn of(place: &Place, args: &str) -> Terminal {
        let program = env!("CARGO_BIN_EXE_annals");
        let line = format!("stty rows {ROWS} cols {COLUMNS}; exec {program} tui {args}");
        let mut child = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(place.path(""))
            .env("ANNALS_LOG", "log")
            .env("TERM", "xterm")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let keys = child.stdin.take().unwrap();
        let mut out = child.stdout.take().unwrap();
        let (sends, comes) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read @ 1..) = out.read(&mut bytes) {
                if sends.send(bytes[..read].to_vec()).is_err() {
                    return;
                }
            }
        });
        Terminal {
            child,
            keys,
            comes,
            screen: Screen::new(),
            all: String::new(),
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    fn take(&mut self, bytes: &[u8]) {
        self.screen.take(bytes);
        self.all.push_str(&String::from_utf8_lossy(bytes));
    }

    /// Waits until the screen has all of these.
    #[track_caller]
    fn shows(&mut self, texts: &[&str]) {
        let began = Instant::now();
        while !texts.iter().all(|text| self.screen.text().contains(text)) {
            let left = Duration::from_secs(120).saturating_sub(began.elapsed());
            match self.comes.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(error) => panic!("{error}: {texts:?} is not in\n{}", self.screen.text()),
            }
        }
    }

    /// Waits until the program ends: its status, and all that it ever sent.
    fn ends(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        while let Ok(bytes) = self.comes.recv_timeout(Duration::from_secs(60)) {
            self.take(&bytes);
        }
        (status.code().unwrap(), std::mem::take(&mut self.all))
    }
}

/// What fails leaves no program behind, which would keep the output of the tests open.
impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const ALTERNATE: &str = "\u{1b}[?1049h";
const BACK: &str = "\u{1b}[?1049l";

#[test]
fn lists_lead_to_a_run_through_time_and_the_terminal_is_put_back() {
    let place = Place::with_log();
    story(&place);
    let mut terminal = Terminal::of(&place, "");
    terminal.shows(&["Sessions", "Runs"]);
    terminal.press("2");
    terminal.shows(&["Runs", "Cache it", "completed"]);
    terminal.press("\r");
    terminal.shows(&["Timeline", "now"]);
    terminal.press("\u{1b}[D");
    terminal.shows(&["◆┄"]);
    terminal.press("4");
    terminal.shows(&["diff --git"]);
    terminal.press("q");
    let (status, rest) = terminal.ends();
    assert_eq!(status, 0, "{rest}");
    assert!(rest.contains(ALTERNATE), "{rest:?}");
    assert!(rest.contains(BACK), "{rest:?}");
}

#[test]
fn sessions_are_shown_as_of_an_earlier_position() {
    let place = Place::with_log();
    story(&place);
    let mut terminal = Terminal::of(&place, "--at now");
    terminal.shows(&["Cache it", "live"]);
    terminal.press("\u{1b}[D");
    terminal.shows(&["as of event", "Cache it"]);
    terminal.press("tyesterday\r");
    terminal.shows(&["as of event 0", "none yet"]);
    terminal.press("tnow\r");
    terminal.shows(&["Cache it", "live"]);
    terminal.press("q");
    assert_eq!(terminal.ends().0, 0);
    let mut terminal = Terminal::of(&place, "--at yesterday");
    terminal.shows(&["as of event 0", "none yet"]);
    terminal.press("q");
    assert_eq!(terminal.ends().0, 0);
    for (at, says) in [("soon", "RFC 3339"), ("999999", "ends at")] {
        let (status, shown) = Terminal::of(&place, &format!("--at {at}")).ends();
        assert_ne!(status, 0, "{shown}");
        assert!(shown.contains(says), "{at}: {shown}");
    }
}

#[test]
fn an_event_of_another_process_appears() {
    let place = Place::with_log();
    story(&place);
    let mut terminal = Terminal::of(&place, "");
    terminal.shows(&["Runs"]);
    terminal.press("4");
    terminal.shows(&["Add a cache"]);
    place.accept(&[human("create_intent", json!({ "prompt": "Measure it" }))]);
    terminal.shows(&["Measure it", "Add a cache"]);
    terminal.press("\u{3}");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn what_is_not_there_is_said_on_the_users_own_screen() {
    let place = Place::with_log();
    let (status, shown) = Terminal::of(&place, "0123456789abcdef").ends();
    assert_eq!(status, 1, "{shown}");
    assert!(shown.contains("0123456789abcdef"), "{shown}");
    assert!(!shown.contains(ALTERNATE), "{shown:?}");
}

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let place = Place::with_log();
    place.run(&["tui"]).fails(2, &["needs a terminal", "list"]);
}
