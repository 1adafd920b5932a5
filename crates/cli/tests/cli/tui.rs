//! The terminal view on a terminal of its own.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::support::{Place, human, story};
use serde_json::json;

/// The program on a terminal of 120 by 24.
struct Terminal {
    child: Child,
    keys: ChildStdin,
    comes: Receiver<Vec<u8>>,
    shown: String,
}

impl Terminal {
    fn of(place: &Place, args: &str) -> Terminal {
        let program = env!("CARGO_BIN_EXE_annals");
        let line = format!("stty rows 24 cols 120; exec {program} tui {args}");
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
            shown: String::new(),
        }
    }

    fn press(&mut self, keys: &str) {
        self.shown.clear();
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits until all of these were drawn since the last keys. What does not change is not drawn again.
    #[track_caller]
    fn shows(&mut self, texts: &[&str]) {
        while !texts.iter().all(|text| self.shown.contains(text)) {
            match self.comes.recv_timeout(Duration::from_secs(20)) {
                Ok(bytes) => self.shown.push_str(&String::from_utf8_lossy(&bytes)),
                Err(error) => panic!("{error}: {texts:?} is not in {:?}", self.shown),
            }
        }
    }

    fn ends(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        while let Ok(bytes) = self.comes.recv_timeout(Duration::from_secs(5)) {
            self.shown.push_str(&String::from_utf8_lossy(&bytes));
        }
        (status.code().unwrap(), self.shown)
    }
}

const ALTERNATE: &str = "\u{1b}[?1049h";
const BACK: &str = "\u{1b}[?1049l";

#[test]
fn lists_lead_to_a_run_through_time_and_the_terminal_is_put_back() {
    let place = Place::with_log();
    story(&place);
    let mut terminal = Terminal::of(&place, "");
    terminal.shows(&[ALTERNATE, "Runs", "Cache it", "completed"]);
    terminal.press("\r");
    terminal.shows(&["Timeline", "now"]);
    terminal.press("\u{1b}[D");
    terminal.shows(&["◆"]);
    terminal.press("4");
    terminal.shows(&["diff --git"]);
    terminal.press("q");
    let (status, rest) = terminal.ends();
    assert_eq!(status, 0, "{rest}");
    assert!(rest.contains(BACK), "{rest:?}");
}

#[test]
fn an_event_of_another_process_appears() {
    let place = Place::with_log();
    story(&place);
    let mut terminal = Terminal::of(&place, "");
    terminal.shows(&["Runs"]);
    terminal.press("3");
    terminal.shows(&["Add a cache"]);
    terminal.press("");
    place.accept(&[human("create_intent", json!({ "prompt": "Measure it" }))]);
    terminal.shows(&["Measure it"]);
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
