//! Two pieces of work side by side: what `annals object compare` shows of two runs, tasks, intents or sessions, and where they
//! part.

mod draw;
mod model;

use axum::response::Response;
use maud::html;

use self::model::Compared;
use crate::answer::{Asked, Live, Page, Slider};
use crate::costing;
use crate::pages::list::plain;
use crate::problem::Problem;

/// What a page has: a comparison, where two objects are named.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct Compare {
    /// The comparison; null where not both objects were named.
    compared: Option<Compared>,
}

pub(crate) async fn compare(asked: Asked) -> Result<Response, Problem> {
    let (a, b) = (asked.params.get("a"), asked.params.get("b"));
    let compared = match (a, b) {
        (Some(a), Some(b)) => Some(read(&asked, a, b).await?),
        _ if asked.is_api => {
            let detail = "a comparison is of two objects: expected a and b";
            return Err(Problem::invalid(detail));
        }
        _ => None,
    };
    let (title, markdown, command) = match &compared {
        None => (
            "Compare".to_owned(),
            String::new(),
            "annals object compare A B".to_owned(),
        ),
        Some(compared) => (
            format!("{} and {}", compared.a.name(), compared.b.name()),
            markdown(compared),
            format!("annals object compare {} {}", compared.a.id, compared.b.id),
        ),
    };
    let page = Page {
        title,
        section: "Runs",
        live: Live::Never,
        slider: Slider::Positions,
        subject: None,
        markdown,
        command,
        data: Compare { compared },
    };
    let draw = |compare: &Compare| {
        html! {
            (draw::form(&asked))
            @if let Some(compared) = &compare.compared { (draw::draw(compared, &asked)) }
        }
    };
    asked.answer(page, draw).await
}

async fn read(asked: &Asked, a: &str, b: &str) -> Result<Compared, Problem> {
    let reading = asked.reading();
    // What was not there yet by the moment is not compared.
    let (a, b) = (reading.find(a).await?, reading.find(b).await?);
    let (a, b) = (a.reference(), b.reference());
    let past = asked.annals().past();
    let found = match asked.moment.is_chosen {
        true => past.compare_at(a, b, asked.moment.at()).await?,
        false => past.compare(a, b).await?,
    };
    let from = asked.params.number("from")?.unwrap_or(0);
    let from = usize::try_from(from).unwrap_or(usize::MAX);
    let mut compared = Compared::of(&found, from, asked.params.limit()?);
    if !asked.moment.is_chosen {
        for side in [&mut compared.a, &mut compared.b] {
            side.cost = costing::of(asked.annals(), side.id).await?;
        }
    }
    Ok(compared)
}

fn markdown(compared: &Compared) -> String {
    let (a, b) = (&compared.a, &compared.b);
    let mut text = format!("# {} and {}\n\n", plain(&a.name()), plain(&b.name()));
    for side in [a, b] {
        text.push_str(&format!(
            "- `{}` {}: {} calls, {} failed, {} files\n",
            side.id,
            side.status.unwrap_or("-"),
            side.calls,
            side.failed_calls,
            side.files
        ));
    }
    text.push('\n');
    for beside in &compared.calls {
        let (sign, call) = match (&beside.a, &beside.b) {
            (Some(call), Some(_)) => (" ", call),
            (Some(call), None) => ("-", call),
            (None, Some(call)) => ("+", call),
            (None, None) => continue,
        };
        text.push_str(&format!("    {sign} {}\n", call.line.replace('\n', " ")));
    }
    text
}
