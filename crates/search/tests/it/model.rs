//! A simple model of what words are and what a question finds, from docs/search.md alone: slow, and with nothing in
//! common with the program.

/// A text taken apart: runs of letters and digits, each with its parts.
fn runs(text: &str) -> Vec<Vec<String>> {
    let mut runs: Vec<Vec<String>> = Vec::new();
    let mut current: Vec<char> = Vec::new();
    for character in text.chars().chain([' ']) {
        match character.is_alphanumeric() {
            true => current.push(character),
            false if current.is_empty() => {}
            false => runs.push(parts(&std::mem::take(&mut current))),
        }
    }
    runs
}

/// The parts of a run, in small letters without accents.
fn parts(run: &[char]) -> Vec<String> {
    let mut parts = vec![String::new()];
    for (at, character) in run.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| run[at]);
        let behind = run.get(at + 1).copied();
        let humps = character.is_uppercase() && before.is_some_and(|it| !it.is_uppercase());
        let last_of_many = character.is_uppercase()
            && before.is_some_and(char::is_uppercase)
            && behind.is_some_and(char::is_lowercase);
        if humps || last_of_many {
            parts.push(String::new());
        }
        let plain = match character {
            'é' | 'É' => 'e',
            'Ü' | 'ü' => 'u',
            other => other.to_ascii_lowercase(),
        };
        parts.last_mut().unwrap().push(plain);
    }
    parts
}

/// Whether the runs of a term follow each other somewhere in a text.
fn has(text: &str, term: &str, is_open: bool) -> bool {
    let (text, term) = (runs(text), runs(term));
    let all: Vec<&String> = text.iter().flatten().collect();
    (0..all.len()).any(|at| from(&text, &all, at, &term, is_open))
}

/// Whether the runs of a term follow each other from one part on.
fn from(
    text: &[Vec<String>],
    all: &[&String],
    at: usize,
    term: &[Vec<String>],
    is_open: bool,
) -> bool {
    let Some((run, rest)) = term.split_first() else {
        return true;
    };
    let is_open_here = is_open && rest.is_empty();
    let fits = |found: &str, wanted: &str, is_open: bool| match is_open {
        true => found.starts_with(wanted),
        false => found == wanted,
    };
    let whole: String = run.concat();
    // One part that is all of it.
    if all
        .get(at)
        .is_some_and(|part| fits(part, &whole, is_open_here))
        && from(text, all, at + 1, rest, is_open)
    {
        return true;
    }
    // Its parts.
    let last = run.len() - 1;
    let each = run.iter().enumerate().all(|(number, part)| {
        let found = all.get(at + number);
        found.is_some_and(|found| fits(found, part, is_open_here && number == last))
    });
    if each && from(text, all, at + run.len(), rest, is_open) {
        return true;
    }
    // A run of the text that begins here and is all of it.
    let mut begin = 0;
    for found in text {
        if begin == at
            && fits(&found.concat(), &whole, is_open_here)
            && from(text, all, at + found.len(), rest, is_open)
        {
            return true;
        }
        begin += found.len();
    }
    false
}

/// A term of a question.
#[derive(Debug, Clone)]
pub struct Term {
    pub text: String,
    pub is_phrase: bool,
    pub is_open: bool,
    pub is_excluded: bool,
}

impl Term {
    pub fn question(&self) -> String {
        let excluded = if self.is_excluded { "-" } else { "" };
        match (self.is_phrase, self.is_open) {
            (true, _) => format!("{excluded}\"{}\"", self.text),
            (false, true) => format!("{excluded}{}*", self.text),
            (false, false) => format!("{excluded}{}", self.text),
        }
    }
}

/// Whether texts answer a question.
pub fn answers(texts: &[&str], terms: &[Term]) -> bool {
    terms.iter().all(|term| {
        let is_open = term.is_open && !term.is_phrase;
        texts.iter().any(|text| has(text, &term.text, is_open)) != term.is_excluded
    })
}

#[test]
fn the_model_is_what_the_page_says() {
    assert_eq!(
        runs("parseUtf8String, HTTPServer max_É"),
        [
            vec!["parse".to_owned(), "utf8".to_owned(), "string".to_owned()],
            vec!["http".to_owned(), "server".to_owned()],
            vec!["max".to_owned()],
            vec!["e".to_owned()],
        ]
    );
    assert!(has("a parseUtf8 b", "parse_utf8", false) && has("parse_utf8", "parseUtf8", false));
    assert!(has("parseUtf8", "parseutf8", false) && !has("parse utf8", "parseutf8", false));
    assert!(has("cli/main.go", "main.g", true) && !has("cli/main.go", "main.g", false));
}
