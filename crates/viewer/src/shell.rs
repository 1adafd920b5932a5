//! What all pages have around them: the navigation, the moment that is shown, the proof.

use axum::response::Response;
use maud::{DOCTYPE, Markup, html};

use crate::answer::{API, Asked, Live, Page, Slider, is_of_now};
use crate::html::{copy, grouped, time};
use crate::moment::Moment;
use crate::problem::Problem;
use crate::proof::{Proof, badge};
use crate::shown;

/// The entries of the navigation: their names and addresses.
const SECTIONS: [(&str, &str); 11] = [
    ("Overview", "/"),
    ("Intents", "/intents"),
    ("Tasks", "/tasks"),
    ("Runs", "/runs"),
    ("Sessions", "/sessions"),
    ("Inbox", "/inbox"),
    ("Decisions", "/decisions"),
    ("Costs", "/costs"),
    ("Context", "/pipelines"),
    ("Search", "/search"),
    ("Log", "/log"),
];

/// A whole page.
pub(crate) fn page(
    asked: &Asked,
    page: &Page<Markup>,
    proof: &Proof,
    recorded_at: Option<&str>,
) -> Markup {
    let live = match (&page.live, asked.moment.is_chosen) {
        (Live::Never, _) | (_, true) => String::new(),
        (Live::Log, false) => "log".to_owned(),
        (Live::Streams(streams), false) => streams.join(" "),
    };
    let at = asked.moment.position.to_string();
    let at = if asked.moment.is_chosen { &at } else { "" };
    let address = asked.with(&[("at", at)]);
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&page.title, true))
            body data-end=(asked.moment.end) data-live=(live) data-address=(address) {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    a.brand href=(asked.moment.link("/")) { "annals" }
                    nav aria-label="Pages" { @for (name, path) in SECTIONS {
                        a href=(entry(path, asked.moment)) aria-current=[(name == page.section).then_some("page")] { (name) }
                    } }
                    span.live role="status" { span.shape aria-hidden="true" { "●" } " " span.said { "not live" } }
                }
                (moment(asked, page.slider, recorded_at))
                main #main tabindex="-1" { (page.data) }
                footer { div {
                    (badge(proof, page.subject.as_deref()))
                    (actions(asked, page))
                } }
                (keys())
            }
        }
    }
}

fn head(title: &str, has_script: bool) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · annals" }
            link rel="stylesheet" href="/assets/viewer.css";
            link rel="icon" href="/assets/icon.svg" type="image/svg+xml";
            @if has_script { script src="/assets/viewer.js" defer {} }
        }
    }
}

/// Where an entry of the navigation leads: to the same moment, but for what is of now alone.
fn entry(path: &str, moment: Moment) -> String {
    match is_of_now(path) {
        true => path.to_owned(),
        false => moment.link(path),
    }
}

/// The moment that is shown, and the slider that moves it. Without the script the form does it.
fn moment(asked: &Asked, slider: Slider, recorded_at: Option<&str>) -> Markup {
    let moment = asked.moment;
    let (by, shown, all) = match slider {
        Slider::Positions => ("at", moment.position.0, moment.end.0),
        Slider::Versions { shown, all } => ("version", shown, all),
        Slider::None => ("", 0, 0),
    };
    let hidden = asked.params.others(&["at", "version"]);
    html! {
        div.moment.past[moment.is_chosen] role="region" aria-label="Moment" {
            span.said {
                @if moment.is_chosen { strong { "As of event " (grouped(moment.position.0)) } }
                @else { strong { "Now" } ", event " (grouped(moment.position.0)) }
                @if let Some(recorded_at) = recorded_at { " · " (time(recorded_at)) }
                @if by == "version" { " · " (grouped(shown)) " of " (grouped(all)) " events here" }
            }
            @if !by.is_empty() && all > 0 {
                form.moves method="get" action=(asked.path) {
                    @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
                    input type="range" min="1" max=(all) value=(shown) aria-label="Moment" data-by=(by);
                    input type="text" name="at" inputmode="numeric" autocomplete="off" aria-label="Position or time"
                        placeholder="position" value=[moment.is_chosen.then_some(moment.position)];
                    button.go type="submit" { "Go" }
                }
            }
            span.back { @if moment.is_chosen { a href=(asked.with(&[("at", "")])) { "Back to now" } } }
        }
    }
}

/// What can be done with a page: it is passed on.
fn actions(asked: &Asked, page: &Page<Markup>) -> Markup {
    let lasting = asked.lasting();
    let address = lasting.clone().unwrap_or_else(|| asked.with(&[]));
    let json = match address.strip_prefix("/?") {
        Some(query) => format!("{API}/overview?{query}"),
        None => format!("{API}{address}"),
    };
    html! {
        div.actions {
            @if let Some(lasting) = lasting { a.button href=(lasting) title="This page as it is now, for ever" { "Permanent link" } }
            a.button href=(json) { "JSON" }
            (copy("Copy as Markdown", &page.markdown))
            button.copy type="button" data-copy-from=(json) hidden { "Copy as JSON" }
            (copy("Copy as command", &page.command))
            button type="button" data-keys hidden { "Keys" }
        }
    }
}

/// The keys, in a dialog.
fn keys() -> Markup {
    let keys = [
        ("j, k", "the next, the previous row"),
        ("[, ]", "one event back, one forward"),
        ("n", "back to now"),
        ("/", "search"),
        ("?", "these keys"),
    ];
    html! {
        dialog #keys aria-label="Keys" {
            dl { @for (key, does) in keys { div { dt { kbd { (key) } } dd { (does) } } } }
            button type="button" data-close { "Close" }
        }
    }
}

/// The page of a problem.
pub(crate) fn problem(problem: &Problem) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(problem.title(), false))
            body {
                header.top {
                    a.brand href="/" { "annals" }
                    nav aria-label="Pages" { @for (name, path) in SECTIONS { a href=(path) { (name) } } }
                }
                main #main tabindex="-1" {
                    div.object-head {
                        div.eyebrow { (problem.status.as_u16()) " " (problem.title()) }
                        h1 { (problem.detail) }
                        div.line { code { (problem.code) } a href="/" { "To the overview" } }
                    }
                }
            }
        }
    };
    shown::page(page)
}
