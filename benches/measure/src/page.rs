//! `docs/performance.md`: what `make compare` measured, between two marks.

use std::fmt::Write;

use crate::marks::{Marks, PageError};
use crate::results::Results;
use crate::rows::MEANINGS;
use crate::stores::STORES;
use crate::table::{Table, of_payloads, of_stores};
use crate::workload::Layout;

/// Where the measured part begins, and where it ends.
const BEGIN: &str = "<!-- measured: written by `make compare` -->";
const END: &str = "<!-- /measured -->";

/// The page with another measured part.
///
/// # Errors
/// When it has not one place for it.
pub fn with_measured(page: &str, measured: &str) -> Result<String, PageError> {
    let marks = Marks {
        begin: BEGIN,
        end: END,
    };
    marks.with(page, measured)
}

/// The measured part: where and how, the tables, what their rows and columns mean.
pub fn measured(results: &Results) -> String {
    let mut text = conditions(results);
    text += &tables(results);
    text += "### What the rows mean\n\n";
    for (title, meaning) in MEANINGS {
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(text, "- **{title}**: {meaning}");
    }
    for cold in &results.cold {
        let _ = writeln!(text, "- **cold**, in this run: {cold}.");
    }
    text += "\n### Durability\n\n";
    let mut durability = Table::new(["Store", "When an append returns"]);
    for store in STORES {
        durability.push([store.title, store.durability]);
    }
    text += &durability.markdown();
    text
}

/// The tables alone.
pub fn tables(results: &Results) -> String {
    let payloads = &results.settings.payloads;
    let mut text = String::new();
    let Some((&main, others)) = payloads.split_first() else {
        return text;
    };
    let mut add = |title: String, table: String| {
        if !table.is_empty() {
            let _ = write!(text, "### {title}\n\n{table}\n");
        }
    };
    add(
        format!("Payloads of {main} bytes, streams interleaved"),
        of_stores(results, main, Layout::Interleaved),
    );
    add(
        "Other payloads, streams interleaved".into(),
        of_payloads(results, others, Layout::Interleaved),
    );
    add(
        format!("Payloads of {main} bytes, streams in runs"),
        of_stores(results, main, Layout::Runs),
    );
    text
}

fn conditions(results: &Results) -> String {
    let settings = &results.settings;
    let mut table = Table::new(["", ""]);
    table.push(["Date", &results.date]);
    table.push(["Source", &results.revision]);
    for (what, text) in results.machine.lines() {
        table.push([what, &text]);
    }
    let measured = format!(
        "medians of {} rounds (the other tables: of one), stores in turns; {} s for each measurement of appends; large logs \
         of {} events in streams of 1,000",
        settings.rounds, settings.seconds, settings.events
    );
    table.push(["Measured", &measured]);
    let mut text = table.markdown();
    if settings.quick {
        text += "\n**A quick run: it shows that the program works, and no figure of it means \
                 anything.**\n";
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::results::{Figure, Sample, Settings};

    fn results() -> Results {
        let sample = |store: &str, payload_bytes, layout: Layout, value| Sample {
            store: store.into(),
            measurement: "fill".into(),
            payload_bytes,
            layout: layout.name().into(),
            round: 0,
            figure: Figure::new("bytes", value),
        };
        Results {
            date: "2000-01-01 00:00 UTC".into(),
            revision: "abc".into(),
            machine: Machine::default(),
            settings: Settings {
                rounds: 3,
                seconds: 4.0,
                events: 1_000_000,
                payloads: vec![300, 100],
                quick: false,
            },
            samples: vec![
                sample("annals", 300, Layout::Interleaved, 503.0),
                sample("annals", 100, Layout::Interleaved, 303.0),
                sample("tephra", 300, Layout::Runs, 540.0),
            ],
            cold: vec!["dropped".into()],
            failures: Vec::new(),
        }
    }

    #[test]
    fn only_what_was_measured_changes() {
        let page = format!("# A\n\nabove\n\n{BEGIN}\nold {{}}\n{END}\n\nbelow\n");
        let expected = format!("# A\n\nabove\n\n{BEGIN}\n\nnew\n\n{END}\n\nbelow\n");
        let written = with_measured(&page, "new\n").unwrap();
        assert_eq!(written, expected);
        assert_eq!(with_measured(&written, "new").unwrap(), expected);
    }

    #[test]
    fn a_page_without_one_place_for_it_is_refused() {
        let pages = [
            String::new(),
            BEGIN.to_owned(),
            format!("{END}\n{BEGIN}\n"),
            format!("{BEGIN}\n{BEGIN}\n{END}\n"),
            format!("{BEGIN}\n{END}\n{END}\n"),
        ];
        for page in pages {
            assert!(with_measured(&page, "new").is_err(), "{page}");
        }
    }

    #[test]
    fn the_page_of_the_repository_has_its_place() {
        let page = include_str!("../../../docs/performance.md");
        with_measured(page, "new").unwrap();
    }

    #[test]
    fn the_measured_part_says_where_how_and_how_durable() {
        let text = measured(&results());
        for needed in [
            "| Date | 2000-01-01 00:00 UTC |",
            "medians of 3 rounds",
            "| bytes an event | bytes | 503 | - |",
            "| bytes an event | bytes | 303 | - | - |",
            "### Payloads of 300 bytes, streams in runs",
            "- **cold**, in this run: dropped.",
            "| Tephra 0.4.1 | `WriteCoordinator`",
        ] {
            assert!(text.contains(needed), "{needed} is not in\n{text}");
        }
        assert!(!text.contains("quick"));
    }

    #[test]
    fn a_quick_run_says_that_it_proves_nothing() {
        let mut results = results();
        results.settings.quick = true;
        assert!(measured(&results).contains("A quick run"));
    }
}
