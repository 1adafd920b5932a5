//! What fuzzers need and nobody else.

use annals_dialects::secrets::Secrets;
use annals_tool_policy::Call;
use serde_json::json;

use crate::{otlp, settings};

/// A request's body of telemetry: its first byte says whether it is of logs or spans, and in which encoding.
pub fn telemetry(data: &[u8]) {
    if let Some((how, body)) = data.split_first() {
        otlp::understand(*how & 1 == 1, *how & 2 == 2, body, &Secrets::standard());
    }
}

/// Settings of a project behind a line with a command, or with the path of a file to be edited.
pub fn settings(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (asked, text) = text.split_once('\n').unwrap_or_default();
    for (tool, argument) in [("Bash", "command"), ("Edit", "file_path")] {
        let call = Call::new(tool, json!({ argument: asked })).with_cwd("/work/app".to_owned());
        let inferred = settings::of_project(text, &call);
        let by_rule = inferred.filter(|it| it.source.is_some());
        // Escapes of JSON aside.
        let is_there = by_rule.is_none_or(|it| text.contains(&it.name) || text.contains('\\'));
        assert!(is_there, "it is a rule of the settings");
    }
}
