//! Counts compared with a baseline.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

use super::baseline::{Baseline, Counts};
use super::toolchain::Difference;

/// What to do about a count that differs.
const ADVICE: &str = "\
Where the change is intended, run `make bench-guard UPDATE=1` and commit benches/guard.json by
itself, with the reason. Where it is not, `callgrind_annotate` shows what takes the instructions
(docs/performance.md). Fewer instructions than before count, too: else what was gained could
be lost again unseen.";

/// What became of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Its count is within the tolerance.
    Same,
    /// It takes more instructions.
    More,
    /// It takes fewer.
    Fewer,
    /// The baseline does not have it.
    New,
    /// It is in the baseline only.
    Gone,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Same => "",
            Verdict::More => "MORE",
            Verdict::Fewer => "FEWER",
            Verdict::New => "NEW",
            Verdict::Gone => "GONE",
        })
    }
}

/// One case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// Its name.
    pub case: String,
    /// Instructions in the baseline.
    pub baseline: Option<u64>,
    /// Instructions now.
    pub now: Option<u64>,
    /// What that is more, in percent.
    pub change_percent: Option<f64>,
    /// How much it may be, either way.
    pub tolerance_percent: f64,
    /// What that means.
    pub verdict: Verdict,
}

/// All cases, or why they were not compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Whether something differs beyond its tolerance.
    pub failed: bool,
    /// Other versions than the baseline's, because of which nothing was compared.
    pub not_compared: Vec<Difference>,
    /// The cases, by name.
    pub cases: Vec<Row>,
}

/// By how much a count is more than another one, in percent.
pub fn change_percent(before: u64, now: u64) -> f64 {
    match (before, now) {
        (0, 0) => 0.0,
        (0, _) => f64::INFINITY,
        (before, now) => (now as f64 - before as f64) * 100.0 / before as f64,
    }
}

impl Report {
    /// Holds counts against the baseline.
    pub fn new(baseline: &Baseline, counts: &Counts) -> Report {
        let names: BTreeSet<&String> = baseline.cases.keys().chain(counts.keys()).collect();
        let row = |case: &String| row(baseline, case, counts.get(case).copied());
        let cases: Vec<Row> = names.into_iter().map(row).collect();
        Report {
            failed: cases.iter().any(|row| row.verdict != Verdict::Same),
            not_compared: Vec::new(),
            cases,
        }
    }

    /// Nothing was compared, because these differ.
    pub fn not_compared(differences: Vec<Difference>) -> Report {
        Report {
            failed: false,
            not_compared: differences,
            cases: Vec::new(),
        }
    }
}

fn row(baseline: &Baseline, case: &str, now: Option<u64>) -> Row {
    let before = baseline.cases.get(case).map(|it| it.instructions);
    let tolerance_percent = baseline.tolerance_percent(case);
    let change = before
        .zip(now)
        .map(|(before, now)| change_percent(before, now));
    let verdict = match (before, change) {
        (None, _) => Verdict::New,
        (Some(_), None) => Verdict::Gone,
        (Some(_), Some(change)) if change > tolerance_percent => Verdict::More,
        (Some(_), Some(change)) if change < -tolerance_percent => Verdict::Fewer,
        (Some(_), Some(_)) => Verdict::Same,
    };
    Row {
        case: case.to_owned(),
        baseline: before,
        now,
        change_percent: change,
        tolerance_percent,
        verdict,
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.not_compared.is_empty() {
            writeln!(
                f,
                "NOT COMPARED: benches/guard.json was counted with other tools."
            )?;
            for difference in &self.not_compared {
                writeln!(f, "  {difference}")?;
            }
            return write!(f, "`make bench-guard UPDATE=1` writes a new baseline.");
        }
        let (case, baseline, now, change) = ("case", "baseline", "now", "change");
        writeln!(f, "{case:<24} {baseline:>13} {now:>13} {change:>9}")?;
        for row in &self.cases {
            let number = |count: Option<u64>| count.map_or("-".to_owned(), grouped);
            let (baseline, now) = (number(row.baseline), number(row.now));
            let change = row.change_percent;
            let change = change.map_or("-".to_owned(), |change| format!("{change:+.2} %"));
            let line = format!(
                "{:<24} {baseline:>13} {now:>13} {change:>9} {}",
                row.case, row.verdict
            );
            writeln!(f, "{}", line.trim_end())?;
        }
        let differing = self.cases.iter().filter(|row| row.verdict != Verdict::Same);
        match (self.failed, self.cases.len(), differing.count()) {
            (false, all, _) => write!(f, "{all} cases, all within their tolerances."),
            (true, all, differing) => {
                write!(
                    f,
                    "{differing} of {all} cases differ beyond their tolerances.\n{ADVICE}"
                )
            }
        }
    }
}

/// A number with its thousands apart.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::baseline::Expected;
    use crate::guard::toolchain::tests::toolchain;

    fn baseline(cases: &[(&str, u64, Option<f64>)]) -> Baseline {
        let mut baseline = Baseline::new(toolchain("1.95.0"));
        for (case, instructions, tolerance_percent) in cases {
            let expected = Expected {
                instructions: *instructions,
                tolerance_percent: *tolerance_percent,
            };
            baseline.cases.insert((*case).to_owned(), expected);
        }
        baseline
    }

    fn counts(cases: &[(&str, u64)]) -> Counts {
        let owned = |(case, count): &(&str, u64)| ((*case).to_owned(), *count);
        cases.iter().map(owned).collect()
    }

    fn verdict(before: u64, now: u64, tolerance: Option<f64>) -> Verdict {
        let baseline = baseline(&[("case", before, tolerance)]);
        Report::new(&baseline, &counts(&[("case", now)])).cases[0].verdict
    }

    #[test]
    fn a_count_may_differ_by_its_tolerance_either_way() {
        assert_eq!(verdict(1_000, 1_030, None), Verdict::Same);
        assert_eq!(verdict(1_000, 970, None), Verdict::Same);
        assert_eq!(verdict(1_000, 1_031, None), Verdict::More);
        assert_eq!(verdict(1_000, 969, None), Verdict::Fewer);
    }

    #[test]
    fn a_case_can_have_a_tolerance_of_its_own() {
        assert_eq!(verdict(1_000, 1_031, Some(10.0)), Verdict::Same);
        assert_eq!(verdict(1_000, 1_011, Some(1.0)), Verdict::More);
    }

    #[test]
    fn what_was_nothing_and_is_something_differs() {
        assert_eq!(verdict(0, 1, Some(1_000.0)), Verdict::More);
        assert_eq!(verdict(0, 0, None), Verdict::Same);
        assert_eq!(verdict(5, 0, None), Verdict::Fewer);
    }

    #[test]
    fn a_case_that_is_on_one_side_only_fails() {
        let report = Report::new(&baseline(&[("a", 1, None)]), &counts(&[("b", 1)]));
        let verdicts: Vec<Verdict> = report.cases.iter().map(|row| row.verdict).collect();
        assert_eq!(verdicts, [Verdict::Gone, Verdict::New]);
        assert!(report.failed);
    }

    #[test]
    fn the_table_says_what_differs_and_what_to_do() {
        let baseline = baseline(&[("decode", 1_234_567, None), ("hash", 1_000, None)]);
        let report = Report::new(
            &baseline,
            &counts(&[("decode", 1_358_023), ("hash", 1_001)]),
        );
        let said = report.to_string();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines[1],
            "decode                       1,234,567     1,358,023  +10.00 % MORE"
        );
        assert_eq!(
            lines[2],
            "hash                             1,000         1,001   +0.10 %"
        );
        assert_eq!(lines[3], "1 of 2 cases differ beyond their tolerances.");
        assert!(said.contains("make bench-guard UPDATE=1"), "{said}");
    }

    #[test]
    fn another_compiler_is_named_and_is_not_a_failure() {
        let differences = toolchain("1.96.0").differences(&toolchain("1.95.0"));
        let report = Report::not_compared(differences);
        assert!(!report.failed);
        let said = report.to_string();
        assert!(said.starts_with("NOT COMPARED"), "{said}");
        assert!(
            said.contains("rustc 1.96.0 here, rustc 1.95.0 there"),
            "{said}"
        );
    }

    #[test]
    fn json_has_what_the_table_has() {
        let report = Report::new(&baseline(&[("a", 100, None)]), &counts(&[("a", 110)]));
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["failed"], true);
        assert_eq!(json["cases"][0]["verdict"], "more");
        assert_eq!(json["cases"][0]["now"], 110);
    }
}
