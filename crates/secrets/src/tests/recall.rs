//! How many secrets are found of two lists: those with a form of their own, and those that a label
//! tells; each as commands, diffs, settings, listings and JSON show it.

use std::collections::BTreeMap;
use std::rc::Rc;

use rand::SeedableRng;
use rand::rngs::StdRng;

use super::super::{Candidate, Secrets, Span};
use super::corpus::{SAMPLES, encoded, made, plain};

/// Secrets that a label tells: a context and a template, as in [`SAMPLES`].
const LABELLED: &str = include_str!("labelled.txt");

/// The same two lists, and texts without secrets, by someone who had not seen the rules. What is missed of them is in
/// docs/secrets.md.
const HELD_OUT_FORMS: &str = include_str!("held_out_forms.txt");
const HELD_OUT_LABELLED: &str = include_str!("held_out_labelled.txt");
const ORDINARY: &str = include_str!("ordinary.txt");

/// Lines of other vendors and labels, written before the rules were tried on them.
const FURTHER_FORMS: &str = include_str!("further_forms.txt");
const FURTHER_LABELLED: &str = include_str!("further_labelled.txt");

/// The least share that is found of a list, and in each of its containers.
const LEAST: f64 = 0.95;

/// The same for lists of which some have neither a prefix nor a mark.
const LEAST_OF_OTHERS: f64 = 0.8;

/// A text of many lines, each changed.
fn each_line(text: &str, change: impl Fn(usize, &str) -> String) -> String {
    let lines = text.lines().enumerate();
    lines
        .map(|(number, line)| change(number + 1, line))
        .collect()
}

/// What a sample is shown in, and whether that is JSON.
fn containers(sample: &str) -> Vec<(&'static str, String, bool)> {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let output = format!("see\n{sample}\nthere");
    let stdout = format!("{{\"stdout\": {}}}", json(&output));
    let coloured = each_line(sample, |_, line| format!("\u{1b}[32m+{line}\u{1b}[m\n"));
    let grep = each_line(sample, |number, line| {
        format!("config/app.yml:{number}:{line}\n")
    });
    vec![
        ("alone", format!("{sample}\n"), false),
        ("text", format!("{output}\n"), false),
        (
            "json",
            format!(
                "{{\"type\": \"tool_result\", \"content\": {}}}",
                json(&output)
            ),
            true,
        ),
        (
            "json in json",
            format!("{{\"out\": {}}}", json(&stdout)),
            true,
        ),
        ("escaped", format!("INFO {stdout}\n"), false),
        (
            "diff",
            format!(
                "@@ -1 +1 @@\n{}",
                each_line(sample, |_, line| format!("+{line}\n"))
            ),
            false,
        ),
        (
            "removed",
            format!(
                "@@ -1 +1 @@\n{}",
                each_line(sample, |_, line| format!("-{line}\n"))
            ),
            false,
        ),
        ("coloured", coloured.clone(), false),
        ("coloured json", format!("[{}]", json(&coloured)), true),
        (
            "listing",
            each_line(sample, |number, line| format!("{number:6}\t{line}\n")),
            false,
        ),
        (
            "arrows",
            each_line(sample, |number, line| format!("{number:6}\u{2192}{line}\n")),
            false,
        ),
        ("grep", grep, false),
        ("shell", format!("$ {sample}\nok\n"), false),
        (
            "base64",
            encoded(&format!("# settings of it\nHOST=db\n{sample}\nPORT=1\n")),
            false,
        ),
    ]
}

/// How many of how many were found, by a name.
type Shares = BTreeMap<String, (u64, u64)>;

/// Looks for the secrets of a list, and counts them by context and by container.
fn looked_for(list: &str, times: usize, seed: u64) -> (Shares, Shares, Vec<String>) {
    let (secrets, mut random) = (Secrets::standard(), StdRng::seed_from_u64(seed));
    let (mut contexts, mut places, mut missed) = (Shares::new(), Shares::new(), Vec::new());
    let lines = list
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    for line in lines {
        let (context, template) = line.split_once(' ').unwrap();
        for _ in 0..times {
            let (sample, secret) = made(&plain(template), &mut random);
            let core = secret
                .lines()
                .max_by_key(|line| line.len())
                .unwrap()
                .to_owned();
            for (place, text, is_json) in containers(&sample) {
                let content = match is_json {
                    true => secrets.redact_json(&text).content.into_owned(),
                    false => secrets.redact(&text).content.into_owned(),
                };
                let is_found = match place {
                    "base64" => content.len() < text.len() / 2,
                    _ => !content.contains(&core),
                };
                for (shares, name) in [(&mut contexts, context), (&mut places, place)] {
                    let (found, all) = shares.entry(name.to_owned()).or_default();
                    *all += 1;
                    *found += u64::from(is_found);
                }
                if !is_found {
                    missed.push(format!("{context}, {place}: {text}"));
                }
            }
        }
    }
    (contexts, places, missed)
}

fn share((found, all): (u64, u64)) -> f64 {
    found as f64 / all.max(1) as f64
}

#[track_caller]
fn is_found(name: &str, list: &str) {
    is_found_in(name, list, LEAST);
}

#[track_caller]
fn is_found_in(name: &str, list: &str, least: f64) {
    let (contexts, places, missed) = looked_for(list, 2, 20_261_128);
    let sum = |shares: &Shares| {
        shares
            .values()
            .fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
    };
    let (found, all) = sum(&contexts);
    println!("{name}: {found} of {all} found");
    for (of, counted) in contexts.iter().chain(&places) {
        println!(
            "{of:<28} {:>5} of {:>5}  {:.1} %",
            counted.0,
            counted.1,
            share(*counted) * 100.0
        );
    }
    let alone = missed.iter().filter(|it| it.contains(", alone: "));
    println!("{:#?}", alone.collect::<Vec<_>>());
    assert!(share((found, all)) >= least, "{name}: {found} of {all}");
    for (place, counted) in places {
        assert!(share(counted) >= least, "{name}, {place}: {counted:?}");
    }
}

#[test]
fn secrets_with_a_form_of_their_own_are_found_in_every_container() {
    let kinds: std::collections::BTreeSet<&str> = SAMPLES
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert!(kinds.len() >= 130, "{} kinds", kinds.len());
    is_found("of their own", SAMPLES);
}

#[test]
fn secrets_that_a_label_tells_are_found_in_every_container() {
    let count = LABELLED
        .lines()
        .filter(|line| !line.starts_with('#'))
        .count();
    assert!(count >= 125, "{count} templates");
    is_found("labelled", LABELLED);
}

#[test]
fn held_out_secrets_with_a_form_of_their_own_are_found() {
    is_found("held out, of their own", HELD_OUT_FORMS);
}

#[test]
fn held_out_secrets_that_a_label_tells_are_found() {
    is_found("held out, labelled", HELD_OUT_LABELLED);
}

#[test]
fn further_secrets_with_a_form_of_their_own_are_found() {
    is_found_in("further, of their own", FURTHER_FORMS, LEAST_OF_OTHERS);
}

#[test]
fn further_secrets_that_a_label_tells_are_found() {
    is_found_in("further, labelled", FURTHER_LABELLED, LEAST_OF_OTHERS);
}

#[test]
fn texts_without_secrets_stay_as_they_are() {
    let secrets = Secrets::standard();
    let texts: Vec<String> = ORDINARY.lines().map(plain).collect();
    let found = texts.iter().filter_map(|text| {
        let text = text.replace("{n}", "\n");
        let redacted = secrets.redact(&text);
        (!redacted.hits.is_empty()).then(|| redacted.content.into_owned())
    });
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{found:#?}");
}

/// A pattern is searched for around its hints alone. In a large text it finds what it finds in the whole.
#[test]
fn what_is_found_around_hints_is_all_that_there_is() {
    let secrets = Secrets::standard();
    let mut random = StdRng::seed_from_u64(20_261_129);
    let filler = "let total = items.iter().map(|item| item.price).sum::<u64>(); // of all\n";
    let mut text = String::new();
    for list in [SAMPLES, LABELLED, HELD_OUT_FORMS, HELD_OUT_LABELLED] {
        let templates = list
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        for line in templates {
            let (_, template) = line.split_once(' ').unwrap();
            text.push_str(&made(&plain(template), &mut random).0);
            text.push('\n');
            text.push_str(&filler.repeat(20));
        }
    }
    let bytes = text.as_bytes();
    let all = (0..secrets.0.patterns.len()).map(|pattern| Candidate {
        pattern,
        hits: Rc::new(vec![(0, bytes.len())]),
    });
    let near = secrets.find(&secrets.0.gate.candidates(bytes), bytes);
    let whole = secrets.find(&all.collect::<Vec<_>>(), bytes);
    let is_found = |span: &&Span| {
        let mut all = near.iter();
        all.any(|it| it.start <= span.start && span.end <= it.end)
    };
    let missed = whole.iter().filter(|span| !is_found(span)).map(|span| {
        let around = bytes[span.start.saturating_sub(60)..span.end].to_vec();
        String::from_utf8_lossy(&around).into_owned()
    });
    let missed: Vec<String> = missed.collect();
    assert!(missed.is_empty(), "{missed:#?}");
}
