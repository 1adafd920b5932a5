//! The files that a session changed, with the prompts that led to it.

use std::collections::BTreeMap;

use annals::projections::{Turn, TurnBody};
use serde::Serialize;
use serde_json::json;

use super::diffs::{counts, edits};
use super::json::session;
use super::walk::{Step, Walk};
use crate::context::Context;
use crate::error::CliError;
use crate::output::{Output, Style, counted};

/// Characters of a prompt that are shown.
const PROMPT: usize = 80;

/// A changed file.
#[derive(Debug, Default, Serialize)]
struct ChangedFile {
    path: String,
    added: u64,
    deleted: u64,
    prompts: Vec<PromptOfFile>,
}

/// The changes of a file by one prompt.
#[derive(Debug, Serialize)]
struct PromptOfFile {
    /// The prompt's number; 0 before the first prompt.
    prompt: u64,
    /// The first turn that changed the file.
    turn: u64,
    added: u64,
    deleted: u64,
    /// The beginning of the prompt.
    text: String,
}

/// Prints the changed files of a session and of its sub-agents.
pub(super) async fn run(walk: &mut Walk<'_>, context: &mut Context) -> Result<(), CliError> {
    let mut files = ChangedFiles::default();
    while let Some(step) = walk.next().await? {
        // A sub-agent works for the prompt of the session at the top.
        let is_nested = walk.depth() > 0;
        match step {
            Step::Turn(turn) if is_nested => files.edits(&turn),
            Step::Turn(turn) => files.turn(&turn),
            Step::SubAgent { .. } | Step::End => {}
        }
    }
    let files: Vec<ChangedFile> = files.files.into_values().collect();
    if context.output.is_json() {
        let value = json!({ "session": session(Some(walk.top()))?, "files": files });
        return context.output.json(&value);
    }
    print(&files, &mut context.output)
}

/// Files by path, as the turns are read.
#[derive(Debug, Default)]
struct ChangedFiles {
    files: BTreeMap<String, ChangedFile>,
    /// The number of the turn of the session at the top, its prompt's number and the beginning of the prompt.
    turn: u64,
    prompt: u64,
    text: String,
}

impl ChangedFiles {
    fn turn(&mut self, turn: &Turn) {
        (self.turn, self.prompt) = (turn.number, turn.prompt);
        if let TurnBody::Prompt(prompt) = &turn.body {
            let text = prompt.text.to_string();
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            self.text = words.chars().take(PROMPT).collect();
            if self.text.len() < words.len() {
                self.text.push('…');
            }
        }
        self.edits(turn);
    }

    fn edits(&mut self, turn: &Turn) {
        for edit in edits(turn) {
            let path = edit.path.to_string();
            let (added, deleted) = (u64::from(edit.added), u64::from(edit.deleted));
            let file = self.files.entry(path.clone()).or_default();
            file.path = path;
            file.added += added;
            file.deleted += deleted;
            match file
                .prompts
                .last_mut()
                .filter(|it| it.prompt == self.prompt)
            {
                Some(prompt) => {
                    prompt.added += added;
                    prompt.deleted += deleted;
                }
                None => file.prompts.push(PromptOfFile {
                    prompt: self.prompt,
                    turn: self.turn,
                    added,
                    deleted,
                    text: self.text.clone(),
                }),
            }
        }
    }
}

fn print(files: &[ChangedFile], output: &mut Output) -> Result<(), CliError> {
    if files.is_empty() {
        return output.line("this session changed no files");
    }
    for file in files {
        let path = output.style(Style::Bold, &file.path);
        let counts = counts(file.added, file.deleted, output);
        output.line(&format!("{path}  {counts}"))?;
        for prompt in &file.prompts {
            let counts = format!("+{} -{}", prompt.added, prompt.deleted);
            let turn = output.style(Style::Dim, &format!("turn {}", prompt.turn));
            output.line(&format!(
                "  prompt {}  {counts}  {turn}  {}",
                prompt.prompt, prompt.text
            ))?;
        }
    }
    let (added, deleted) = files.iter().fold((0, 0), |(added, deleted), file| {
        (added + file.added, deleted + file.deleted)
    });
    let count = counted(files.len() as u64, "file", "files");
    let counts = counts(added, deleted, output);
    output.line(&format!("{count}  {counts}"))
}
