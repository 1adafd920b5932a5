//! Phrases of words that are in most events: the index knows which words follow each other, and a question of which it does not
//! know enough is given up and says so.

use annals::blocking::Wait;
use annals_search::{Answer, Count, Query, SearchRequest, Using};

use crate::support::{Home, NOTHING, positions};

/// Asks the index, and lets it propose so many events that are no answers.
fn ask(home: &Home, question: &str, most_refused: u64) -> Answer {
    let request = SearchRequest::new(Query::parse(question).unwrap())
        .with_limit(100)
        .with_most_refused(most_refused);
    let search = home.search();
    search
        .ask(&request, Using::Index, &mut |_| {})
        .wait()
        .unwrap()
}

#[test]
fn the_index_knows_which_words_follow_each_other() {
    let home = Home::new();
    for number in 0..200 {
        home.submit(&format!(
            "the end {number} of it, fooBar and x, parse as utf8"
        ));
    }
    let expected = [
        (home.submit("one of the ends"), "\"of the\""),
        (home.submit("x fooBar x"), "\"x foobar\""),
        (home.submit("foobarY"), "foobar_y"),
        (home.submit("parse_utf8"), "parseUtf8"),
        (home.submit("日本語 の本"), "本語"),
    ];
    for (position, question) in expected {
        let answer = ask(&home, question, 1);
        assert_eq!(positions(&answer), [position], "{question}");
        assert_eq!((answer.count, answer.passed_over), (Count::Exactly(1), 0));
    }
}

#[test]
fn a_question_that_is_given_up_says_so() {
    let home = Home::new();
    // It is so long that it comes last.
    let oldest = home.submit(&format!("of the of it {}", "and so on ".repeat(50)));
    for _ in 0..50 {
        home.submit("of the other, as the of");
    }
    let answer = ask(&home, "\"of the of\"", 10);
    assert_eq!(positions(&answer), NOTHING);
    assert_eq!((answer.count, answer.passed_over), (Count::AtLeast(0), 41));
    let answer = ask(&home, "of -\"the of\"", 10);
    assert_eq!((answer.count, answer.passed_over), (Count::AtLeast(0), 41));
    let answer = ask(&home, "\"of the of\"", 51);
    assert_eq!(positions(&answer), [oldest]);
    assert_eq!((answer.count, answer.passed_over), (Count::Exactly(1), 0));
}
