//! What sed and awk are given as programs: those that only filter what they read, and those that can do
//! anything. What is not understood can.

use crate::shell::word::Word;

/// Whether the script of sed runs commands, or reads and writes files by itself.
pub(crate) fn sed_runs_code(args: &[Word]) -> bool {
    let mut scripts: Vec<&str> = Vec::new();
    let mut first = None;
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text.as_deref() else {
            // A script that is not known; behind the script it is a file.
            if scripts.is_empty() && first.is_none() {
                return true;
            }
            continue;
        };
        if let Some(script) = text.strip_prefix("--expression=") {
            scripts.push(script);
        } else if text.starts_with("--") {
            if text.len() > 2 && !SED_LONG.iter().any(|it| text.starts_with(it)) {
                return true;
            }
        } else if let Some(letters) = text.strip_prefix('-').filter(|it| !it.is_empty()) {
            let end = letters.find(['e', 'f', 'i', 'l']);
            match end.and_then(|at| letters.split_at_checked(at)) {
                None => {}
                Some((_, "e")) => match words.next().and_then(|it| it.text.as_deref()) {
                    Some(script) => scripts.push(script),
                    None => return true,
                },
                Some((_, rest)) if rest.starts_with('e') => scripts.extend(rest.get(1..)),
                // What is behind it is the ending of a copy.
                Some((_, rest)) if rest.starts_with('i') => {}
                Some(_) => return true,
            }
        } else if first.is_none() {
            first = Some(text);
        }
    }
    if scripts.is_empty() {
        scripts.extend(first);
    }
    !scripts.iter().all(|script| only_filters(script))
}

/// Options of sed with a long name that give no script.
const SED_LONG: [&str; 10] = [
    "--quiet",
    "--silent",
    "--regexp-extended",
    "--in-place",
    "--null-data",
    "--separate",
    "--unbuffered",
    "--posix",
    "--debug",
    "--follow-symlinks",
];

/// Whether a script of sed has only commands that change what is printed.
fn only_filters(script: &str) -> bool {
    let mut rest = Rest(script);
    loop {
        rest.skip(|c| c.is_whitespace() || matches!(c, ';' | '{' | '}'));
        let Some(c) = rest.next() else { return true };
        let c = match c {
            // An address, or two.
            '0'..='9' | '$' | '/' | '\\' => match rest.behind_address(c) {
                Some(c) => c,
                None => return false,
            },
            c => c,
        };
        if matches!(c, '{' | '}') {
            continue;
        }
        let is_read = match c {
            'p' | 'P' | 'd' | 'D' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=' | 'z' => true,
            'q' | 'Q' => {
                rest.skip(|c| c.is_ascii_digit() || c == ' ');
                true
            }
            's' => rest.pair() && rest.are_flags(),
            'y' => rest.pair(),
            _ => false,
        };
        if !is_read || !rest.ends_command() {
            return false;
        }
    }
}

/// What is left of a script.
struct Rest<'a>(&'a str);

impl Rest<'_> {
    fn next(&mut self) -> Option<char> {
        let c = self.0.chars().next()?;
        self.0 = self.0.get(c.len_utf8()..)?;
        Some(c)
    }

    fn skip(&mut self, is: impl Fn(char) -> bool) {
        self.0 = self.0.trim_start_matches(is);
    }

    /// Text up to a character that is not escaped, nor in brackets: some seds know it there, and some do
    /// not.
    fn up_to(&mut self, end: char) -> bool {
        let mut open = 0_i32;
        while let Some(c) = self.next() {
            match c {
                '\\' => {
                    self.next();
                }
                c if c == end => return open <= 0,
                '[' => open += 1,
                ']' => open -= 1,
                _ => {}
            }
        }
        false
    }

    /// The command behind the addresses that begin with this character.
    fn behind_address(&mut self, first: char) -> Option<char> {
        let mut c = first;
        for _ in 0..2 {
            match c {
                '0'..='9' => self.skip(|c| c.is_ascii_digit() || c == '~'),
                '$' => {}
                '/' => self.up_to('/').then_some(())?,
                '\\' => {
                    let end = self.next()?;
                    self.up_to(end).then_some(())?;
                }
                '+' | '~' => self.skip(|c| c.is_ascii_digit()),
                _ => return None,
            }
            self.skip(|c| matches!(c, 'I' | 'M'));
            self.skip(char::is_whitespace);
            c = self.next()?;
            if c != ',' {
                break;
            }
            self.skip(char::is_whitespace);
            c = self.next()?;
        }
        while c == '!' || c.is_whitespace() {
            c = self.next()?;
        }
        Some(c)
    }

    /// `/one/two/`, between whatever character.
    fn pair(&mut self) -> bool {
        match self.next() {
            Some('\\' | '\n') | None => false,
            Some(end) => self.up_to(end) && self.up_to(end),
        }
    }

    /// The flags of a replacement, none of which runs or writes.
    fn are_flags(&mut self) -> bool {
        self.skip(|c| matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | '0'..='9'));
        true
    }

    fn ends_command(&mut self) -> bool {
        self.skip(|c| c == ' ' || c == '\t');
        self.0.is_empty() || self.0.starts_with([';', '\n', '}', '{'])
    }
}

/// Whether a program of awk runs commands, or reads and writes what it is not given.
pub(crate) fn awk_runs_code(args: &[Word]) -> bool {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.text.as_deref() else {
            return true;
        };
        match text {
            "-F" | "-v" => {
                words.next();
            }
            text if text.starts_with("-F") || text.starts_with("-v") || text == "--" => {}
            text if text.starts_with('-') => return true,
            program => return !only_prints(program),
        }
    }
    false
}

/// Whether a program of awk only prints.
fn only_prints(program: &str) -> bool {
    const DOES_MORE: [&str; 8] = [
        "system", "getline", "ENVIRON", "ARG", "/inet", "@", "close", "fflush",
    ];
    let does_more = DOES_MORE.iter().any(|it| program.contains(it));
    let pipes = program.replace("||", "").contains('|');
    let writes = program.match_indices('>').any(|(at, _)| {
        let behind = program.get(at + 1..).unwrap_or_default();
        let behind = behind.strip_prefix('=').unwrap_or(behind).trim_start();
        !behind.starts_with(|c: char| c.is_ascii_digit())
    });
    !does_more && !pipes && !writes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(command: &[&str]) -> Vec<Word> {
        let word = |text: &&str| match ["$SCRIPT", "$PROGRAM", "$FILE"].contains(text) {
            true => Word::unknown(text),
            false => Word::known(text),
        };
        command.iter().map(word).collect()
    }

    #[test]
    fn scripts_of_sed_that_only_filter_are_known() {
        for script in [
            "p",
            "$p",
            "1,20p",
            "1~2d",
            "/a/p",
            "/a/,/b/p",
            "/a/I,+3d",
            "/a\\/b/!d",
            "\\|a|d",
            "s/a/b/",
            "s/a/b/gI2",
            "s|a/b|c\\|d|g",
            "s/a/b/;s/c/d/",
            "1d;$d",
            "/a/{n;p}",
            "y/abc/def/",
            "10q",
            "$!d",
            "=",
            "/x/ { s/a/b/ ; p }",
            "",
        ] {
            assert!(!sed_runs_code(&words(&["-n", script, "f"])), "{script}");
        }
        assert!(!sed_runs_code(&words(&["-ne", "p", "-e", "d", "f"])));
        assert!(!sed_runs_code(&words(&["-i.bak", "s/a/b/", "f", "$FILE"])));
    }

    #[test]
    fn all_other_scripts_can_do_anything() {
        for script in [
            "e",
            "1e date",
            "e date",
            "s/a/b/e",
            "s/a/b/ge",
            "s/a/b/w x",
            "w x",
            "r x",
            "R x",
            "W x",
            "1r x",
            "/a/w x",
            "s/a/b",
            "/a",
            "a text",
            "i\\\ntext",
            "$!{e date\n}",
            "s/a/b/;e",
            "p e",
            "b x",
            "F",
            "v",
            "{e",
            "}e",
            "1,2,3p",
            "s\nab\nc\n",
        ] {
            assert!(sed_runs_code(&words(&[script, "f"])), "{script}");
        }
        for command in [
            &["-f", "x"][..],
            &["-nf", "x"],
            &["--file=x"],
            &["--exp=e"],
            &["$SCRIPT"],
            &["-e", "$SCRIPT"],
            &["-e", "p", "-e", "e"],
            &["-l5e", "p"],
        ] {
            assert!(sed_runs_code(&words(command)), "{command:?}");
        }
    }

    #[test]
    fn programs_of_awk_that_only_print_are_known() {
        for (command, is_code) in [
            (&["{print $1}", "f"][..], false),
            (
                &[
                    "-F:",
                    "-v",
                    "a=b",
                    "$1 == \"x\" || $2 >= 5 { n++ } END { print n }",
                ],
                false,
            ),
            (&["-F", "|", "{print $2}"], false),
            (&["{ system(\"x\") }"], true),
            (&["{ print > \"x\" }"], true),
            (&["{ print | \"x\" }"], true),
            (&["{ \"x\" | getline }"], true),
            (&["BEGIN { ARGV[1] = \"x\" }"], true),
            (&["{ print ENVIRON[\"x\"] }"], true),
            (&["-f", "x"], true),
            (&["-i", "inplace", "1"], true),
            (&["$PROGRAM"], true),
            (&["-e", "1"], true),
        ] {
            assert_eq!(awk_runs_code(&words(command)), is_code, "{command:?}");
        }
    }
}
