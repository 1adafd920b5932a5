//! `annals intent classify`: the type, flow and first risk of a text, by rule.

use std::io::{self, IsTerminal};
use std::path::Path;

use annals::domain::intent::{
    Classification, ListedType, Proposal, RiskRule, TypeRule, WorkType, classify, title_and_body,
};

use crate::cli::Classify;
use crate::context::Context;
use crate::error::CliError;
use crate::output::Output;
use crate::small_text::{self, NoText};

pub(crate) fn run(args: &Classify, context: &mut Context) -> Result<(), CliError> {
    let text = text(&args.text, &context.output)?;
    let (title, body) = title_and_body(&text);
    let found = classify(&Proposal {
        title,
        body,
        labels: &args.labels,
        declared: args.declared.as_ref(),
        source: args.source,
        unknown_type: args.unknown_type,
    });
    if found.work_type.listed().is_none() {
        note_type(&found.work_type, args.unknown_type, &context.output);
    }
    if context.output.is_json() {
        return context.output.json(&found);
    }
    print(&found, args.explain, &mut context.output)
}

/// Says how a type is treated that is not listed: it may be a typing error.
pub(crate) fn note_type(own: &WorkType, treated_as: ListedType, output: &Output) {
    let listed: Vec<&str> = ListedType::ALL.iter().map(|it| it.as_str()).collect();
    output.note(&format!(
        "the type {:?} is not one of {}; it is kept, with the flow and risk of {treated_as} \
         (classification.unknown_type)",
        own.as_str(),
        listed.join(", ")
    ));
}

/// The text that words on the command line are, or else standard input.
pub(crate) fn text(words: &[String], output: &Output) -> Result<String, CliError> {
    match words {
        [] => read(output),
        [dash] if dash == "-" => read(output),
        words => Ok(words.join(" ")),
    }
}

fn read(output: &Output) -> Result<String, CliError> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        output.note("reading a text from the terminal; Ctrl-D ends");
    }
    let input = |source| CliError::input(Path::new("-"), source);
    let wrong = |reason: &str| input(io::Error::new(io::ErrorKind::InvalidData, reason));
    small_text::read(stdin.lock()).map_err(|error| match error {
        NoText::Unreadable(source) => input(source),
        NoText::TooLong => wrong("the text is longer than 1 MiB"),
        NoText::NotUtf8 { byte } => {
            wrong(&format!("the text is not UTF-8 from its byte {byte} on"))
        }
    })
}

fn print(found: &Classification, explain: bool, output: &mut Output) -> Result<(), CliError> {
    let because = |value: &str, reason: String| match explain {
        true => format!("{value}, {reason}"),
        false => value.to_owned(),
    };
    let steps: Vec<&str> = found.flow.iter().map(|step| step.as_str()).collect();
    let rules_of = match &found.work_type {
        WorkType::Other(own) => format!("as for types that are not listed, as {own:?}"),
        listed => format!("as for {listed}"),
    };
    let flow = because(&steps.join(", "), rules_of);
    let by_type = because(found.work_type.as_str(), type_reason(&found.type_rule));
    let by_risk = because(found.risk.as_str(), risk_reason(found));
    output.fields(&[("type", by_type), ("flow", flow), ("risk", by_risk)])
}

fn type_reason(rule: &TypeRule) -> String {
    match rule {
        TypeRule::Declared => "as it was declared".to_owned(),
        TypeRule::Label(label) => format!("by the label {label:?}"),
        TypeRule::Keyword(word) => format!("by the keyword {word:?}"),
        TypeRule::Source => "by the source, as no word names a type".to_owned(),
        TypeRule::Default => "as no word names another type".to_owned(),
    }
}

fn risk_reason(found: &Classification) -> String {
    match &found.risk_rule {
        RiskRule::HighWord(word) => format!("by the high word {word:?}"),
        RiskRule::Type => format!("as for {}", found.work_type),
    }
}
