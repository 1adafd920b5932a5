//! What an object refers to that this log keeps: diffs, reports, outputs, what was seen.

use annals_domain::part_name;

use crate::{ArtifactView, CallLifeView, ObjectView, PieceValue, Text};

/// Content that an object has in this log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptContent<'a> {
    /// What it is called within its object: a part's name, an item's path, `diff`.
    pub name: String,
    /// The number of the item that it is of, where the object is a snapshot.
    pub item: Option<u32>,
    /// Where it is, or that it was removed.
    pub content: &'a PieceValue,
}

impl ArtifactView {
    /// The name of the part that this log keeps, if it has one.
    pub fn part_name(&self) -> Option<String> {
        part_name(self.content_type.as_ref().and_then(Text::as_str)?)
    }
}

impl ObjectView {
    /// The object's references to content, each with its field.
    pub fn artifacts(&self) -> Vec<(String, &ArtifactView)> {
        let (field, list) = match self {
            ObjectView::PatchSet(of) => {
                let artifact = of.artifact.iter();
                return artifact.map(|it| ("artifact".to_owned(), it)).collect();
            }
            ObjectView::Evidence(of) => ("report_artifacts", &of.report_artifacts),
            ObjectView::ToolInvocation(of) => ("artifacts", &of.artifacts),
            _ => return Vec::new(),
        };
        let numbered = list.iter().enumerate();
        numbered
            .map(|(number, artifact)| (format!("{field}[{number}]"), artifact))
            .collect()
    }

    /// Content of the object that this log keeps under a name, in the object's order.
    pub fn kept_content(&self) -> Vec<KeptContent<'_>> {
        match self {
            ObjectView::PatchSet(of) => parts(of.artifact.iter(), "diff"),
            ObjectView::Evidence(of) => parts(of.report_artifacts.iter(), "report"),
            ObjectView::ToolInvocation(of) => {
                let mut kept = parts(of.artifacts.iter(), "output");
                kept.extend(files_in_force(&of.life));
                kept
            }
            ObjectView::ContextSnapshot(of) => {
                let kept = of.items.iter().filter_map(|item| {
                    Some(KeptContent {
                        name: item.path.to_string(),
                        item: Some(item.index),
                        content: item.content.as_ref()?,
                    })
                });
                kept.collect()
            }
            ObjectView::Intent(_)
            | ObjectView::Plan(_)
            | ObjectView::Task(_)
            | ObjectView::Run(_)
            | ObjectView::Provenance(_)
            | ObjectView::Decision(_)
            | ObjectView::ContextPipeline(_)
            | ObjectView::Session(_)
            | ObjectView::Observation(_) => Vec::new(),
        }
    }
}

/// The settings and policy files that the decisions on a call state, each of them once.
fn files_in_force(life: &CallLifeView) -> Vec<KeptContent<'_>> {
    let files = life.decisions.iter().filter_map(|it| it.in_force.as_ref());
    let mut kept: Vec<KeptContent<'_>> = Vec::new();
    for file in files.flatten() {
        let Some(content) = &file.content else {
            continue;
        };
        let found = KeptContent {
            name: file.path.to_string(),
            item: None,
            content,
        };
        if !kept.contains(&found) {
            kept.push(found);
        }
    }
    kept
}

fn parts<'a>(
    artifacts: impl Iterator<Item = &'a ArtifactView>,
    unnamed: &str,
) -> Vec<KeptContent<'a>> {
    let kept = artifacts.filter_map(|artifact| {
        Some(KeptContent {
            name: artifact.part_name().unwrap_or_else(|| unnamed.to_owned()),
            item: None,
            content: artifact.content.as_ref()?,
        })
    });
    kept.collect()
}
