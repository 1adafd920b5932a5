//! The diffs of the files that a session changed.

use std::collections::BTreeMap;

use annals::Annals;
use annals::event_log::Digest;
use annals::projections::{FileEdit, Turn, TurnBody};
use serde::Serialize;

use super::json::session;
use super::walk::{Step, Walk};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, Style, counted};

/// A change of a file by one tool call.
#[derive(Debug)]
struct Edit {
    prompt: u64,
    turn: u64,
    added: u64,
    deleted: u64,
    diff: Option<Digest>,
}

/// A change of a file as JSON prints it.
#[derive(Debug, Serialize)]
struct EditJson<'a> {
    prompt: u64,
    turn: u64,
    added: u64,
    deleted: u64,
    /// The diff; `null` if it was not recorded.
    diff: Option<&'a str>,
}

/// Prints the diffs of a session and of its sub-agents, file by file.
pub(in crate::commands) async fn run(
    annals: &Annals,
    walk: &mut Walk<'_>,
    context: &mut Context,
) -> Result<(), CliError> {
    let files = files(walk).await?;
    match context.output.is_json() {
        true => print_json(annals, walk, &files, &mut context.output).await,
        false => print(annals, &files, &mut context.output).await,
    }
}

/// The edits of each file, in the order of the conversation.
async fn files(walk: &mut Walk<'_>) -> Result<BTreeMap<String, Vec<Edit>>, CliError> {
    let mut files: BTreeMap<String, Vec<Edit>> = BTreeMap::new();
    let (mut prompt, mut number) = (0, 0);
    while let Some(step) = walk.next().await? {
        let Step::Turn(turn) = step else {
            continue;
        };
        // A sub-agent works for a turn of the session at the top.
        if walk.depth() == 0 {
            (prompt, number) = (turn.prompt, turn.number);
        }
        for edit in edits(&turn) {
            let edits = files.entry(edit.path.to_string()).or_default();
            edits.push(Edit {
                prompt,
                turn: number,
                added: edit.added.into(),
                deleted: edit.deleted.into(),
                diff: edit.diff,
            });
        }
    }
    Ok(files)
}

/// The edits of a turn that were not rejected.
pub(in crate::commands) fn edits(turn: &Turn) -> impl Iterator<Item = &FileEdit> {
    let edits = match &turn.body {
        TurnBody::ToolCall(call) => call.edits.as_slice(),
        _ => &[],
    };
    edits.iter().filter(|edit| !edit.rejected)
}

async fn print(
    annals: &Annals,
    files: &BTreeMap<String, Vec<Edit>>,
    output: &mut Output,
) -> Result<(), CliError> {
    if files.is_empty() {
        output.note("this session changed no files");
        return Ok(());
    }
    for (path, edits) in files {
        let name = output.style(Style::Bold, path);
        let (added, deleted) = sums(edits);
        let counts = counts(added, deleted, output);
        output.line(&format!("{name}  {counts}"))?;
        for edit in edits {
            let at = format!("  prompt {}, turn {}", edit.prompt, edit.turn);
            output.line(&output.style(Style::Dim, &at))?;
            match diff_of(annals, edit, path).await? {
                Some(diff) => print_diff(&diff, output)?,
                None => output.line("  the diff was not recorded")?,
            }
        }
        output.line("")?;
    }
    let all = files.values().map(|edits| sums(edits));
    let (added, deleted) = all.fold((0, 0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    let count = counted(files.len() as u64, "file", "files");
    let counts = counts(added, deleted, output);
    output.line(&format!("{count}  {counts}"))
}

fn sums(edits: &[Edit]) -> (u64, u64) {
    let add = |sum: (u64, u64), edit: &Edit| (sum.0 + edit.added, sum.1 + edit.deleted);
    edits.iter().fold((0, 0), add)
}

/// Lines added and deleted.
pub(in crate::commands) fn counts(added: u64, deleted: u64, output: &Output) -> String {
    let added = output.style(Style::Added, &format!("+{added}"));
    let deleted = output.style(Style::Removed, &format!("-{deleted}"));
    format!("{added} {deleted}")
}

fn print_diff(diff: &str, output: &mut Output) -> Result<(), CliError> {
    for line in diff.lines() {
        let style = match line.as_bytes().first() {
            _ if line.starts_with("+++ ") || line.starts_with("--- ") => Some(Style::Dim),
            Some(b'+') => Some(Style::Added),
            Some(b'-') => Some(Style::Removed),
            Some(b' ') | None => None,
            Some(_) => Some(Style::Dim),
        };
        match style {
            Some(style) => output.line(&output.style(style, line))?,
            None => output.line(line)?,
        }
    }
    Ok(())
}

/// The part of an edit's diff that is about its file.
async fn diff_of(annals: &Annals, edit: &Edit, path: &str) -> Result<Option<String>, CliError> {
    let Some(digest) = edit.diff else {
        return Ok(None);
    };
    let bytes = annals.conversations().diff(digest).await?;
    Ok(bytes.map(|bytes| section(&String::from_utf8_lossy(&bytes), path).to_owned()))
}

/// The section of a diff about one file; the whole diff if it has none.
fn section<'a>(diff: &'a str, path: &str) -> &'a str {
    let mark = match diff.contains("diff --git ") {
        true => "diff --git ",
        false => "--- ",
    };
    let starts = diff.match_indices(mark).map(|(at, _)| at);
    let is_line = |at: &usize| *at == 0 || diff.get(..*at).is_some_and(|it| it.ends_with('\n'));
    let is_header = |at: &usize| {
        let next = diff.get(*at..).and_then(|rest| rest.lines().nth(1));
        is_line(at) && (mark != "--- " || next.is_some_and(|next| next.starts_with("+++ ")))
    };
    let starts: Vec<usize> = starts.filter(is_header).collect();
    let ends = starts.iter().skip(1).copied().chain([diff.len()]);
    let mut sections = starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| diff.get(*start..end));
    let names = |section: &&str| {
        let mut head = section.lines().take_while(|line| !line.starts_with("@@"));
        head.any(|line| line.trim_end().ends_with(path))
    };
    sections.find(names).unwrap_or(diff)
}

/// Prints the diffs as one JSON object, file by file.
async fn print_json(
    annals: &Annals,
    walk: &Walk<'_>,
    files: &BTreeMap<String, Vec<Edit>>,
    output: &mut Output,
) -> Result<(), CliError> {
    let session = json_of(&session(Some(walk.top()))?)?;
    output.json_text(&format!("{{\"session\":{session},\"files\":["))?;
    for (number, (path, edits)) in files.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let (added, deleted) = sums(edits);
        let path_json = json_of(path)?;
        output.json_text(&format!(
            "{comma}{{\"path\":{path_json},\"added\":{added},\"deleted\":{deleted},\"edits\":["
        ))?;
        for (number, edit) in edits.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let diff = diff_of(annals, edit, path).await?;
            let edit = json_of(&EditJson {
                prompt: edit.prompt,
                turn: edit.turn,
                added: edit.added,
                deleted: edit.deleted,
                diff: diff.as_deref(),
            })?;
            output.json_text(&format!("{comma}{edit}"))?;
        }
        output.json_text("]}")?;
    }
    output.json_line("]}")
}

fn json_of<T: Serialize>(value: &T) -> Result<String, CliError> {
    serde_json::to_string(value).map_err(CliError::json)
}

#[cfg(test)]
mod tests {
    use super::section;

    #[test]
    fn a_diff_of_several_files_has_a_section_for_each() {
        let git = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n\
                   diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-c\n+d\n";
        assert!(section(git, "x").ends_with("+b\n"));
        assert!(section(git, "y").starts_with("diff --git a/y"));
        assert_eq!(section(git, "z"), git);
        let plain = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n--- not a header of a file\n+b\n";
        assert_eq!(section(plain, "x"), plain);
    }
}
