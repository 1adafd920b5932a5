//! Draws suggestions: a list box of turns, grouped by session, which the header's box shows while a person types.

use maud::{Markup, html};

use super::draw::{role, snippet_of};
use super::suggestion_model::{SuggestedSession, SuggestedTurn, SuggestionList};
use crate::figures::{Clock, or_unknown};
use crate::foreign;
use crate::session_entry::{agent_name, dot};

/// Characters of a title.
const TITLE: usize = 100;
/// Characters of the words in the last entry.
const WORDS: usize = 60;

/// Draws the list box, with the note on the state of the index. The script puts it below the header's box.
pub(super) fn draw(list: &SuggestionList, clock: Clock) -> Markup {
    let mut option = 0;
    html! {
        div.suggestions data-said=(foreign::attribute(&list.summary())) data-growing[list.is_growing] {
            div #suggestions role="listbox" aria-label="Search results" {
                @for (number, session) in list.sessions.iter().enumerate() {
                    @let label = format!("suggestion-group-{number}");
                    div.group role="group" aria-labelledby=(label) {
                        (head(session, &label, clock))
                        @for turn in &session.turns { (self::turn(turn, next(&mut option), clock)) }
                    }
                }
                a.all id=(next(&mut option)) role="option" aria-selected="false" tabindex="-1" href=(list.all) {
                    "All results for “" (foreign::text(&foreign::one_line(&list.query, WORDS))) "”"
                }
            }
            @if list.sessions.is_empty() && list.note.is_none() { p.note { "No turn has these words." } }
            @if let Some(note) = &list.note { p.note { (foreign::text(note)) } }
        }
    }
}

/// The id of the next option.
fn next(option: &mut usize) -> String {
    *option += 1;
    format!("suggestion-{option}")
}

/// The head of a session.
fn head(session: &SuggestedSession, label: &str, clock: Clock) -> Markup {
    let title = session.title.as_deref();
    let title = title.filter(|title| !title.trim().is_empty());
    html! {
        div.head id=(label) role="presentation" {
            @match session.id {
                None => { b { "Outside of sessions" } }
                Some(_) => {
                    @if let Some(status) = session.status { (dot(status)) }
                    b dir="auto" { (foreign::text(&foreign::one_line(title.unwrap_or("Session without a prompt"), TITLE))) }
                    span.by {
                        @if let Some(project) = &session.project { (foreign::text(project)) " · " }
                        @if let Some(agent) = &session.agent { (foreign::text(agent_name(agent))) }
                    }
                    span.spacer {}
                    @if session.status.is_some() { (or_unknown(session.last_activity, |at| clock.ago(at))) }
                }
            }
        }
    }
}

/// A turn with its line.
fn turn(turn: &SuggestedTurn, id: String, clock: Clock) -> Markup {
    html! {
        a.hit id=(id) role="option" aria-selected="false" tabindex="-1" href=(turn.address) {
            span.where { b { (role(turn.facet)) } }
            " "
            span.ctx dir="auto" { (snippet_of(&turn.snippet, turn.is_cut_before, turn.is_cut_behind)) }
            " "
            @if let Some(at) = turn.occurred_at { (clock.ago(at)) }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use annals::domain::Timestamp;
    use uuid::Uuid;

    use super::super::model::Piece;
    use super::*;
    use crate::shown;

    const HOSTILE: &str = "</div><script>alert(1)</script>\u{202e}\u{1b}[31m\" onfocus=\"x";

    fn piece(text: &str, mark: bool) -> Piece {
        Piece {
            text: text.to_owned(),
            mark,
        }
    }

    fn list(text: &str) -> SuggestionList {
        let turn = SuggestedTurn {
            position: 55,
            address: "/sessions/7?position=55&at=90".to_owned(),
            occurred_at: Some(Timestamp::EPOCH),
            facet: "rationale",
            snippet: vec![piece(text, false), piece("VAT", true), piece(text, false)],
            is_cut_before: true,
            is_cut_behind: false,
        };
        let session = SuggestedSession {
            id: Some(Uuid::nil()),
            title: Some(text.to_owned()),
            project: Some(text.to_owned()),
            agent: Some("codex".to_owned()),
            last_activity: None,
            status: Some("ended"),
            turns: vec![turn],
        };
        SuggestionList {
            query: text.to_owned(),
            sessions: vec![session],
            all: "/search?q=vat".to_owned(),
            ..SuggestionList::default()
        }
    }

    fn drawn(list: &SuggestionList) -> String {
        shown::html(draw(list, Clock::new(Timestamp::EPOCH)))
    }

    #[test]
    fn a_turn_is_an_option_with_its_words_marked() {
        let shown = drawn(&list("round "));
        for part in [
            "role=\"listbox\"",
            "<div class=\"group\" role=\"group\" aria-labelledby=\"suggestion-group-0\">",
            "id=\"suggestion-1\" role=\"option\" aria-selected=\"false\" tabindex=\"-1\" href=\"/sessions/7?position=55&amp;at=90\"",
            "<b>Answer</b>",
            "…round <mark>VAT</mark>round ",
            "Codex",
            "time unknown",
            "id=\"suggestion-2\" role=\"option\"",
            "href=\"/search?q=vat\"",
            "All results for “round”",
            "data-said=\"1 result in 1 session.\"",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("data-growing"), "{shown}");
        assert!(!shown.contains("class=\"note\""), "{shown}");
    }

    #[test]
    fn foreign_text_stays_text() {
        let mut list = list(HOSTILE);
        list.note = Some(HOSTILE.to_owned());
        let shown = drawn(&list);
        assert!(!shown.contains("<script"), "{shown}");
        assert!(!shown.contains("\" onfocus"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(!shown.contains('\u{202e}'), "{shown}");
        assert!(shown.contains("&lt;/div&gt;&lt;script&gt;"), "{shown}");
        let badge = "<span class=\"ctl\">ESC</span>";
        assert!(shown.matches(badge).count() >= 5, "{shown}");
    }

    #[test]
    fn states_are_words() {
        let none = SuggestionList {
            query: "vat".to_owned(),
            all: "/search?q=vat".to_owned(),
            ..SuggestionList::default()
        };
        let shown = drawn(&none);
        assert!(shown.contains("No turn has these words."), "{shown}");
        assert!(shown.contains("data-said=\"No results.\""), "{shown}");
        assert!(shown.contains("All results for “vat”"), "{shown}");
        let making = SuggestionList {
            note: Some("The search index is being made: 42 %.".to_owned()),
            is_growing: true,
            ..none
        };
        let shown = drawn(&making);
        assert!(!shown.contains("No turn has these words."), "{shown}");
        assert!(shown.contains("data-growing"), "{shown}");
        let said = "data-said=\"No results. The search index is being made: 42 %.\"";
        assert!(shown.contains(said), "{shown}");
    }
}
