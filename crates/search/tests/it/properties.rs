//! Searching finds every event with the words and no other, by the index and without, whatever was appended, removed
//! and interrupted before: compared with the log read from one end to the other, and with the model.

use std::collections::BTreeMap;

use annals::Target;
use annals::blocking::Wait;
use annals::domain::pipeline::FrameKind;
use annals::event_log::Position;
use annals_search::{Facet, LogSearch, Query, SearchRequest, Using};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use regex::bytes::Regex;

use crate::model::{Term, answers};
use crate::support::{Home, positions};

/// Words that meet each other's parts.
const WORDS: &[&str] = &[
    "parse",
    "parseUtf8",
    "parse_utf8",
    "utf8",
    "PARSE",
    "HTTPServer",
    "httpserver",
    "server",
    "cli/main.go",
    "main",
    "go",
    "--no-index",
    "no",
    "index",
    "café",
    "CAFÉ",
    "cafe",
    "E0502",
    "e0502:",
    "x",
    "a1b2C3",
    "Übung",
];

#[derive(Debug, Clone)]
enum Step {
    Submit(Vec<usize>),
    Tool(Vec<usize>, Vec<usize>),
    Frame(bool, Vec<usize>),
    Search,
    /// A new process.
    Reopen,
    /// The files of the index as they were when the process before was killed: one is missing.
    Tear(usize),
    RedactEvent(usize),
    RedactWord(usize),
}

fn text() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(0..WORDS.len(), 1..6)
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => text().prop_map(Step::Submit),
        4 => (text(), text()).prop_map(|(args, result)| Step::Tool(args, result)),
        3 => (any::<bool>(), text()).prop_map(|(is_said, text)| Step::Frame(is_said, text)),
        3 => Just(Step::Search),
        1 => Just(Step::Reopen),
        1 => any::<prop::sample::Index>().prop_map(|it| Step::Tear(it.index(1000))),
        1 => (0..1000_usize).prop_map(Step::RedactEvent),
        1 => (0..WORDS.len()).prop_map(Step::RedactWord),
    ]
}

fn term() -> impl Strategy<Value = Term> {
    let words = prop::collection::vec(0..WORDS.len(), 1..4);
    (words, 0..6_u8, 0..4_u8).prop_map(|(words, form, excluded)| {
        let is_excluded = excluded == 0;
        // `-` before a flag would be a part of the flag.
        let is_phrase = form == 0 || is_excluded && WORDS[words[0]].starts_with('-');
        let text = match is_phrase {
            true => said(&words),
            false => WORDS[words[0]].to_owned(),
        };
        let is_open =
            !is_phrase && form == 1 && text.len() > 1 && text.ends_with(char::is_alphanumeric);
        Term {
            text,
            is_phrase,
            is_open,
            is_excluded,
        }
    })
}

fn said(words: &[usize]) -> String {
    words
        .iter()
        .map(|word| WORDS[*word])
        .collect::<Vec<_>>()
        .join(" ")
}

/// The texts that were said, by the positions of the events that have them.
type Told = BTreeMap<u64, Vec<(Facet, String)>>;

fn run(home: &mut Home, steps: &[Step]) -> Told {
    let mut told: Told = BTreeMap::new();
    for step in steps {
        match step {
            Step::Submit(words) => {
                let position = home.submit(&said(words));
                told.insert(position, vec![(Facet::Prompts, said(words))]);
            }
            Step::Tool(args, result) => {
                let json = serde_json::json!({ "command": said(args) }).to_string();
                let position = home.tool("Bash", &json, &said(result));
                let texts = [
                    (Facet::Tools, "Bash".to_owned()),
                    (Facet::Tools, said(args)),
                    (Facet::Results, said(result)),
                ];
                told.insert(position, texts.into());
            }
            Step::Frame(is_said, words) => {
                let (kind, facet) = match is_said {
                    true => (FrameKind::StepSummary, Facet::Rationale),
                    false => (FrameKind::ToolCall, Facet::Results),
                };
                home.annals
                    .by(&home.ada)
                    .push_frame(home.pipeline, kind, said(words))
                    .wait()
                    .unwrap();
                told.insert(home.annals.position().0, vec![(facet, said(words))]);
            }
            Step::Search => drop(home.search().catch_up(&mut |_| {}).wait().unwrap()),
            Step::Reopen => home.reopen(),
            Step::Tear(number) => {
                let files = crate::support::files(&home.index());
                if !files.is_empty() {
                    std::fs::remove_file(&files[number % files.len()]).unwrap();
                }
            }
            Step::RedactEvent(number) => {
                let Some(position) = told.keys().nth(number % told.len().max(1)).copied() else {
                    continue;
                };
                home.redact(Target::Event(Position(position)));
                told.insert(position, Vec::new());
            }
            Step::RedactWord(word) => {
                let word = WORDS[*word];
                home.redact(Target::Pattern(Regex::new(&regex::escape(word)).unwrap()));
                for texts in told.values_mut() {
                    texts.retain(|(_, text)| !text.contains(word));
                }
            }
        }
    }
    told
}

fn ask(search: &LogSearch, question: &str, facets: &[Facet], using: Using) -> Vec<u64> {
    let request = SearchRequest::new(Query::parse(question).unwrap())
        .with_facets(facets.to_vec())
        .with_limit(10_000);
    let answer = search.ask(&request, using, &mut |_| {}).wait().unwrap();
    assert_eq!(answer.is_of_index, using != Using::Log, "{answer:?}");
    positions(&answer)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|it| it.parse().ok()).unwrap_or(12),
        rng_seed: RngSeed::Fixed(20_261_127),
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    #[test]
    fn search_finds_every_event_with_the_words_and_nothing_removed(
        steps in prop::collection::vec(step(), 1..30),
        questions in prop::collection::vec((prop::collection::vec(term(), 1..4), prop::sample::subsequence(Facet::ALL.to_vec(), 0..=4)), 12),
    ) {
        let mut home = Home::new();
        // What a log begins with is not among the words.
        let told = run(&mut home, &steps);
        let search = home.search();
        for (terms, facets) in questions {
            let question = terms.iter().map(Term::question).collect::<Vec<_>>().join(" ");
            if terms.iter().all(|term| term.is_excluded) {
                prop_assert!(Query::parse(&question).is_err());
                continue;
            }
            let shown: &[Facet] = if facets.is_empty() { &Facet::ALL } else { &facets };
            let is_answer = |texts: &Vec<(Facet, String)>| {
                let texts = texts.iter().filter(|(facet, _)| shown.contains(facet));
                let texts: Vec<&str> = texts.map(|(_, text)| text.as_str()).collect();
                answers(&texts, &terms)
            };
            let expected: Vec<u64> = told.iter().filter(|(_, texts)| is_answer(texts)).map(|(position, _)| *position).collect();
            prop_assert_eq!(&ask(&search, &question, &facets, Using::Log), &expected, "{} in {:?}", question, facets);
            prop_assert_eq!(&ask(&search, &question, &facets, Using::Index), &expected, "{} in {:?}", question, facets);
        }
    }
}
