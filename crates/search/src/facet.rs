//! What a text is to the work: asked for, done, come back, or a reason. Each field of each event has one, or is not
//! searched (`docs/search.md`).

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use annals_domain::StreamKind;
use annals_domain::pipeline::FrameKind;
use annals_event_log::{Classification, Classified, ErrorClass};
use annals_wire::event_docs::{self, FieldDoc, Part};
use serde::Serialize;

/// What a text is to the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Facet {
    /// What was asked for: prompts, tasks, plans, questions and answers, observations.
    Prompts,
    /// What was done for it: tools with their arguments, commands.
    Tools,
    /// What came back: results, errors, evidence, what the model was shown.
    Results,
    /// Why: what the model said and thought, summaries, reasons, decisions, reviews.
    Rationale,
}

impl Facet {
    /// All of them, in the order of the documentation.
    pub const ALL: [Facet; 4] = [
        Facet::Prompts,
        Facet::Tools,
        Facet::Results,
        Facet::Rationale,
    ];

    /// The word that people use for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Facet::Prompts => "prompts",
            Facet::Tools => "tools",
            Facet::Results => "results",
            Facet::Rationale => "rationale",
        }
    }

    /// What a frame of a context window is.
    pub(crate) fn of_frame(kind: &FrameKind) -> Facet {
        match kind {
            FrameKind::IntentAnalysis => Facet::Prompts,
            FrameKind::CodeChange
            | FrameKind::SystemState
            | FrameKind::ErrorRecovery
            | FrameKind::ToolCall => Facet::Results,
            FrameKind::StepSummary | FrameKind::Checkpoint | FrameKind::Other(_) => {
                Facet::Rationale
            }
        }
    }
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no facet.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected prompts, tools, results or rationale")]
pub struct UnknownFacet;

impl Classified for UnknownFacet {
    fn classify(&self) -> Classification {
        ErrorClass::Invalid.code("unknown_facet")
    }
}

impl FromStr for Facet {
    type Err = UnknownFacet;

    fn from_str(word: &str) -> Result<Facet, UnknownFacet> {
        let known = Facet::ALL.into_iter().find(|it| it.as_str() == word);
        known.ok_or(UnknownFacet)
    }
}

/// A field of an event that is searched, or that has such fields.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Searched {
    pub(crate) name: String,
    pub(crate) is: Is,
}

/// What is in such a field.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Is {
    /// Numbers of pieces, which are texts.
    Texts(Facet),
    /// Numbers of pieces, which are JSON.
    Json(Facet),
    /// Names, as they are.
    Names(Facet),
    /// A group of fields, or a list of them.
    Group(Vec<Searched>),
}

/// The fields that are searched of each type of events that has any.
static FIELDS: LazyLock<HashMap<&'static str, Vec<Searched>>> = LazyLock::new(|| {
    let events = StreamKind::ALL
        .iter()
        .flat_map(|kind| event_docs::events(*kind));
    let fields = events.map(|event| (event.event_type, searched(event.event_type, &event.fields)));
    fields.filter(|(_, fields)| !fields.is_empty()).collect()
});

/// The fields of a type of events that are searched; none of a type that is passed over.
pub(crate) fn fields_of(event_type: &str) -> &'static [Searched] {
    FIELDS.get(event_type).map_or(&[], Vec::as_slice)
}

fn searched(event_type: &str, fields: &[FieldDoc]) -> Vec<Searched> {
    let field = |field: &FieldDoc| {
        let is = match &field.part {
            Part::Structure => return None,
            Part::Group(fields) | Part::Groups(fields) => match searched(event_type, fields) {
                fields if fields.is_empty() => return None,
                fields => Is::Group(fields),
            },
            Part::Name => Is::Names(facet_of(event_type, &field.name)?),
            Part::Content if field.kind.contains("JSON") => {
                Is::Json(facet_of(event_type, &field.name)?)
            }
            Part::Content => Is::Texts(facet_of(event_type, &field.name)?),
        };
        Some(Searched {
            name: field.name.clone(),
            is,
        })
    };
    fields.iter().filter_map(field).collect()
}

/// What a field with content is; none where it is not searched.
fn facet_of(event_type: &str, field: &str) -> Option<Facet> {
    use Facet::{Prompts, Rationale, Results, Tools};
    let facet = match (event_type, field) {
        // Its content and summary are taken together, by the frame's kind; its data is for machines.
        ("pipeline.frame_pushed", _) | ("pipeline.adopted", "data") => return None,
        ("pipeline.adopted" | "pipeline.global_summary_set", "summary") => Rationale,
        ("snapshot.opened" | "snapshot.finalized" | "snapshot.adopted", "summary") => Rationale,
        ("session.plan_updated", "plan") => Prompts,
        ("session.conflict_detected", "details") => Results,
        // The tool's own output; diffs and reports are read by `annals object cat`.
        ("run.tool_invoked" | "run.tool_ended" | "run.tool_invocation_adopted", "content") => {
            Results
        }
        (event, "content") if event.starts_with("intent.") => Prompts,
        (_, "content") => return None,
        (
            _,
            "prompt"
            | "instruction"
            | "questions"
            | "answer"
            | "title"
            | "description"
            | "constraint"
            | "constraints"
            | "criterion"
            | "acceptance_criteria"
            | "plan"
            | "relevant_files"
            | "implementation_steps"
            | "context"
            | "labels"
            | "tags"
            | "alias"
            | "text"
            | "evidence"
            | "extra"
            | "inputs"
            | "checks"
            | "rows"
            | "details"
            | "node"
            | "nodes"
            | "work_item"
            | "id"
            | "repo",
        ) => Prompts,
        (
            _,
            "tool" | "tool_name" | "command" | "args" | "paths_read" | "paths_written" | "body"
            | "files" | "actions" | "branch" | "name" | "scope",
        ) => Tools,
        (
            _,
            "result_summary" | "failure" | "error" | "error_code" | "message" | "summary" | "path"
            | "path_hint" | "preview" | "inline_text" | "patch" | "outputs" | "metrics" | "raw"
            | "kind" | "state" | "status",
        ) => Results,
        (
            _,
            "reason" | "rationale" | "global_summary" | "violations" | "issues" | "suggestions"
            | "by_name" | "source" | "permission_mode",
        ) => Rationale,
        _ => return None,
    };
    is_searched(event_type, field).then_some(facet)
}

/// Where a name has another meaning than in the events that its facet is for.
fn is_searched(event_type: &str, field: &str) -> bool {
    match field {
        // Of environments and of provenance, which say on which machine and with which model.
        "extra" => !event_type.starts_with("run."),
        // Of a session's configuration: profiles, limits.
        "id" | "name" | "status" => !matches!(event_type, "session.created" | "session.adopted"),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Fields with content that nobody would look for by their words: machines' data, digests, addresses, names of
    /// programs, and ids, for which `annals object list --external-id` is.
    const NOT_SEARCHED: &[&str] = &[
        "agent",
        "agent_profile",
        "arch",
        "auth_context",
        "blacklist",
        "checkpoint_id",
        "checksum",
        "content_blob",
        "content_type",
        "cwd",
        "data",
        "display_name",
        "download_uri",
        "external_ids",
        "file",
        "key",
        "model",
        "os",
        "parameters",
        "per_command_caps",
        "plan_node",
        "profile",
        "project",
        "protected_branches",
        "provider",
        "provider_hint",
        "repo_path",
        "risk_word",
        "store",
        "transitions",
        "type_word",
        "whitelist",
        "workspace",
    ];

    fn each_field(
        event_type: &'static str,
        fields: &[FieldDoc],
        each: &mut dyn FnMut(&'static str, &FieldDoc),
    ) {
        for field in fields {
            match &field.part {
                Part::Structure => {}
                Part::Content | Part::Name => each(event_type, field),
                Part::Group(fields) | Part::Groups(fields) => each_field(event_type, fields, each),
            }
        }
    }

    #[test]
    fn every_field_with_content_is_searched_or_listed() {
        let (mut undecided, mut idle) = (
            BTreeSet::new(),
            NOT_SEARCHED.iter().copied().collect::<BTreeSet<_>>(),
        );
        for kind in StreamKind::ALL {
            for event in event_docs::events(*kind) {
                each_field(event.event_type, &event.fields, &mut |event_type, field| {
                    let name = field.name.as_str();
                    idle.remove(name);
                    let known = match name {
                        "content" | "summary" => true,
                        "extra" | "id" | "name" | "status" => true,
                        name => {
                            NOT_SEARCHED.contains(&name) != facet_of(event_type, name).is_some()
                        }
                    };
                    if !known {
                        undecided.insert(format!("{event_type} {name}"));
                    }
                });
            }
        }
        assert_eq!(undecided, BTreeSet::new());
        assert_eq!(idle, BTreeSet::new(), "no event has these fields");
    }

    #[test]
    fn facets_are_known_by_their_words() {
        for facet in Facet::ALL {
            assert_eq!(facet.to_string().parse(), Ok(facet));
        }
        assert_eq!("result".parse::<Facet>(), Err(UnknownFacet));
    }
}
