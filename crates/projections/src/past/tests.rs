//! What is beyond the property tests of whole histories: names, conditions, lists, searches.

#![allow(clippy::unwrap_used)]

use serde_json::{Value, json};

use super::*;

fn ops(old: &Value, new: &Value) -> Vec<String> {
    let said = |change: &Change| {
        let op = format!("{:?}", change.op).to_lowercase();
        let new = change.new.as_ref().map(|it| format!(" {it}"));
        format!("{op} {}{}", change.path, new.unwrap_or_default())
    };
    changes(old, new).iter().map(said).collect()
}

#[test]
fn lists_are_compared_by_what_their_elements_are_called() {
    for (old, new, expected) in [
        (
            json!([1, 2, 3]),
            json!([2, 3, 4]),
            vec!["remove /0", "add /2 4"],
        ),
        (json!(["a"]), json!(["b", "a"]), vec!["add /0 \"b\""]),
        // Twice the same: by number.
        (json!([1, 1]), json!([1, 1, 2]), vec!["add /2 2"]),
        (json!([1, 1, 3]), json!([1]), vec!["remove /2", "remove /1"]),
        // Another order is another list.
        (json!([1, 2]), json!([2, 1]), vec!["replace  [2,1]"]),
        (
            json!([{"id": "x", "n": 1}, {"id": "y", "n": 1}]),
            json!([{"id": "y", "n": 2}, {"id": "z"}]),
            vec!["remove /0", "replace /0/n 2", "add /1 {\"id\":\"z\"}"],
        ),
        // Objects that are called nothing: by number.
        (
            json!([{"status": "a"}]),
            json!([{"status": "b"}, {"status": "a"}]),
            vec!["replace /0/status \"b\"", "add /1 {\"status\":\"a\"}"],
        ),
        (json!([]), json!([]), vec![]),
        (json!([null]), json!([{}]), vec!["replace /0 {}"]),
        (json!([1]), json!([1.0]), vec!["remove /0", "add /0 1.0"]),
        (json!({"a/b~": 1}), json!({}), vec!["remove /a~1b~0"]),
        (json!(null), json!({"a": 1}), vec!["add  {}", "add /a 1"]),
        (
            json!({"a": 1}),
            json!({"a": {"b": 1}}),
            vec!["replace /a {\"b\":1}"],
        ),
    ] {
        assert_eq!(ops(&old, &new), expected, "{old} -> {new}");
    }
}

#[test]
fn a_place_as_text_is_a_name_of_it() {
    let document = json!({
        "statuses": [{"status": "a", "reason": "r"}],
        "frames": [{"frame_id": 7, "summary": "s"}],
        "runs": ["x", "y]\""],
        "tags": {"a.b": "1", "a/b": "2", "": "3", "0": "4"},
    });
    for name in [
        "/statuses/0/reason",
        "/frames/0/summary",
        "/runs/1",
        "/tags/a.b",
        "/tags/a~1b",
        "/tags/",
        "/tags/0",
    ] {
        let name: FieldName = name.parse().unwrap();
        let place = name.place(&document).unwrap();
        let again: FieldName = place.to_string().parse().unwrap();
        assert_eq!(
            again.place(&document).as_ref(),
            Some(&place),
            "{name}: {place}"
        );
        assert_eq!(place.find(&document), name.find(&document));
        assert!(place.find(&document).is_some());
    }
    for absent in [
        "/statuses/1",
        "/statuses/00",
        "/statuses/-",
        "frames[frame_id=8]",
        "x.y",
    ] {
        let name: FieldName = absent.parse().unwrap();
        assert_eq!(
            (name.place(&document), name.find(&document)),
            (None, None),
            "{absent}"
        );
    }
    for bad in ["", ".", "a.", "a..b", "a[0", "a[\"b]", "/a~2", "a[=x"] {
        assert!(bad.parse::<FieldName>().is_err(), "{bad}");
    }
}

#[test]
fn conditions_hold_or_not() {
    let document = json!({
        "status": "failed", "n": 3, "f": 0.5, "big": u64::MAX, "none": null, "list": [1],
        "at": "2026-01-31T12:00:00Z", "frames": [{"frame_id": 7}],
        "tags": {"a]=b": 1, "q\"]": 2, "[x": 3},
    });
    for (text, holds) in [
        (r#"/status=="failed""#, true),
        (r#"status == "failed""#, true),
        (r#"/status != "failed""#, false),
        ("/missing != 1", true),
        ("/missing == null", false),
        ("/none == null", true),
        ("/none exists", true),
        ("/none", true),
        ("/missing absent", true),
        ("/n absent", false),
        ("/n == 3.0", true),
        ("/n <= 3", true),
        ("/n < 3", false),
        ("/n > 2.5", true),
        ("/f < 1", true),
        ("/big > 18446744073709551614", true),
        ("/status > 1", false),
        ("/status < 1", false),
        (r#"/status >= "f""#, true),
        (r#"/at < "2026-01-31T12:00:00.5Z""#, true),
        (r#"/at == "2026-01-31T12:00:00Z""#, true),
        ("/list == [1]", true),
        ("/list/0 == 1", true),
        ("frames[frame_id=7] exists", true),
        ("frames[frame_id=8] exists", false),
        ("frames[frame_id=7].frame_id>=7", true),
        (r#"tags["a]=b"] == 1"#, true),
        (r#"tags["q\"]"]==2"#, true),
        ("/tags/[x == 3", true),
    ] {
        let condition: Condition = text.parse().unwrap();
        assert_eq!(condition.holds(&document), holds, "{text}");
        assert_eq!(condition.to_string(), text);
    }
    for (bad, says) in [
        ("/status==failed", "a text has quotes: \"failed\""),
        ("/status==", "the literal is missing"),
        ("/status=1", "Expected FIELD OP JSON"),
        ("/status is 1", "unknown operator"),
        ("==1", "invalid field"),
        ("", "invalid field"),
        ("/a<{", "is not JSON"),
    ] {
        let error = bad.parse::<Condition>().unwrap_err().to_string();
        assert!(error.contains(says), "{bad}: {error}");
    }
}

#[test]
fn a_search_finds_what_a_scan_finds() {
    for last in 1..40_usize {
        for first_other in 1..=last {
            for skipped in [
                vec![],
                vec![first_other],
                vec![last / 2],
                (1..last).collect(),
            ] {
                let mut search = Bisection::new(0, last);
                let mut asked = 0;
                while let Some(state) = search.next_question() {
                    assert!(state > 0 && state < last);
                    match skipped.contains(&state) {
                        true => search.skip(state),
                        false => search.answer(state, state < first_other),
                    }
                    asked += 1;
                    assert!(asked <= last, "it ends");
                }
                let found = search.candidates();
                assert!(found.contains(&first_other));
                // All but the last of them gave no answer.
                assert!((*found.start()..*found.end()).all(|it| skipped.contains(&it)));
                if skipped.is_empty() {
                    assert_eq!(found, first_other..=first_other);
                    assert!(asked <= last.ilog2() as usize + 1);
                }
            }
        }
    }
}

#[test]
fn lists_are_laid_beside_each_other() {
    let pairs = |a: &str, b: &str| -> Vec<(Option<char>, Option<char>)> {
        let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
        let pair = |it: Aligned| (it.a.map(|at| a[at]), it.b.map(|at| b[at]));
        align(&a, &b).into_iter().map(pair).collect()
    };
    assert_eq!(pairs("", ""), []);
    assert_eq!(
        pairs("axc", "ac"),
        [
            (Some('a'), Some('a')),
            (Some('x'), None),
            (Some('c'), Some('c'))
        ]
    );
    let long: Vec<usize> = (0..5_000).collect();
    let other: Vec<usize> = (0..5_000)
        .map(|it| if it < 10 { it } else { it + 10_000 })
        .collect();
    let aligned = align(&long, &other);
    assert_eq!(aligned.len(), 10 + 2 * 4_990);
    assert_eq!(parting(&long, &other), Some(10));
    assert_eq!(parting(&long, &long), None);
    assert_eq!(parting(&long, &long[..3]), Some(3));
    let numbers = |side: fn(&Aligned) -> Option<usize>| -> Vec<usize> {
        aligned.iter().filter_map(side).collect()
    };
    assert_eq!(numbers(|it| it.a), long);
    assert_eq!(numbers(|it| it.b), long);
}
