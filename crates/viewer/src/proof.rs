//! The badge of each page: what shows that what it shows was in the log, and how to check it.

use std::io::Read;
use std::path::Path;

use annals::event_log::Position;
use annals::proof::{Checkpoint, ProofError};
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::grouped;
use crate::html::command;
use crate::problem::Problem;
use crate::state::Shared;

/// Bytes of a checkpoint's file.
const LONGEST: u64 = 1_000_000;

/// What shows that something was in the log.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
#[schemars(inline)]
pub(crate) struct Proof {
    /// What the log is called in checkpoints.
    origin: String,
    /// How many events the root is over: the position that is shown.
    size: u64,
    /// The root of the Merkle tree over those events, in hexadecimal digits. Null where the log keeps no tree.
    root: Option<String>,
    /// The checkpoint that was given to the viewer, which is kept outside of the log.
    checkpoint: Option<Kept>,
}

/// A checkpoint that is kept outside of the log.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Kept {
    /// How many events it is over.
    pub(crate) size: u64,
    /// Who signed it, as it says. The viewer checks no signature: `annals proof verify` does.
    pub(crate) signed_by: Vec<String>,
    /// Whether the log still is what it says: the same log, with the same root over those events.
    fits: bool,
    /// Whether all that is shown was there when it was made.
    covers: bool,
    /// Why it does not fit, or cannot be read.
    pub(crate) problem: Option<String>,
}

/// The state of what a page shows, by the checkpoint that was given to the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ProofState {
    /// The log is what the checkpoint states, and the checkpoint covers all that is shown.
    Sound,
    /// The log is what the checkpoint states, but events came since.
    Behind,
    /// No checkpoint was given.
    Unchecked,
    /// The log is not what the checkpoint states, or the checkpoint cannot be read.
    Broken,
}

impl ProofState {
    fn of(kept: Option<&Kept>) -> ProofState {
        match kept {
            None => ProofState::Unchecked,
            Some(kept) if !kept.fits => ProofState::Broken,
            Some(kept) if kept.covers => ProofState::Sound,
            Some(_) => ProofState::Behind,
        }
    }
}

/// The checkpoint that was given to the viewer, compared with the log up to a position, and what follows from it.
pub(crate) async fn checkpoint(shared: &Shared, position: Position) -> (ProofState, Option<Kept>) {
    let kept = match &shared.checkpoint {
        Some(path) => Some(kept(shared, path, position).await),
        None => None,
    };
    (ProofState::of(kept.as_ref()), kept)
}

pub(crate) async fn read(shared: &Shared, position: Position) -> Result<Proof, Problem> {
    let proofs = shared.annals.proofs();
    let origin = proofs.origin();
    let root = match proofs.head(Some(position.0)).await {
        Ok(head) => Some(head.root.to_string()),
        Err(ProofError::NoTree { .. }) => None,
        Err(error) => return Err(error.into()),
    };
    let checkpoint = match &shared.checkpoint {
        Some(path) => Some(kept(shared, path, position).await),
        None => None,
    };
    Ok(Proof {
        origin,
        size: position.0,
        root,
        checkpoint,
    })
}

async fn kept(shared: &Shared, path: &Path, position: Position) -> Kept {
    let not = |problem: String| Kept {
        size: 0,
        signed_by: Vec::new(),
        fits: false,
        covers: false,
        problem: Some(problem),
    };
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path);
    let read = file.and_then(|file| file.take(LONGEST).read_to_end(&mut bytes));
    if let Err(error) = read {
        return not(error.to_string());
    }
    let checkpoint = match Checkpoint::read(&bytes) {
        Ok(checkpoint) => checkpoint,
        Err(error) => return not(error.to_string()),
    };
    let fits = shared.annals.proofs().check(checkpoint.head()).await;
    let size = checkpoint.head().size;
    Kept {
        size,
        signed_by: checkpoint
            .signers()
            .iter()
            .map(ToString::to_string)
            .collect(),
        fits: fits.is_ok(),
        covers: fits.is_ok() && size >= position.0,
        problem: fits.err().map(|error| error.to_string()),
    }
}

/// The command that compares a log with a checkpoint.
pub(crate) const VERIFY_CHECKPOINT: &str = "annals proof verify --checkpoint checkpoint";
/// The command that checks a proof without the log.
pub(crate) const VERIFY_PROOF: &str =
    "annals proof verify --proof proof.json --checkpoint checkpoint";

/// The command that makes a checkpoint of the first events.
pub(crate) fn checkpoint_command(size: u64) -> String {
    format!("annals proof checkpoint --at {size} --out checkpoint")
}

/// The command that proves all events of an object.
pub(crate) fn prove_command(subject: &str, size: u64) -> String {
    format!("annals proof prove {subject} --at {size} --out proof.json")
}

/// The badge at the foot of a page.
pub(crate) fn badge(proof: &Proof, subject: Option<&str>) -> Markup {
    let size = proof.size;
    let checkpoint = checkpoint_command(size);
    html! {
        details.proof id="proof" {
            summary { (verdict(proof)) }
            div {
                @if let Some(root) = &proof.root {
                    div { "Root of the Merkle tree over the first " (grouped(size)) " events of "
                        code { (proof.origin) } ":" }
                    code.root { (root) }
                }
                @if let Some(kept) = &proof.checkpoint {
                    @for signer in &kept.signed_by { div { "Signed by " code { (signer) }
                        ", which annals proof verify --key checks." } }
                    @if let Some(problem) = &kept.problem { div.bad { (problem) } }
                }
                div { "Check that the log still is what a checkpoint says that you kept elsewhere:" }
                (command(VERIFY_CHECKPOINT))
                @if let Some(subject) = subject {
                    div { "Give somebody else a proof of all events on this object, to be checked without the log:" }
                    (command(&checkpoint))
                    (command(&prove_command(subject, size)))
                    (command(VERIFY_PROOF))
                } @else {
                    div { "Make one of what is shown here:" }
                    (command(&checkpoint))
                }
            }
        }
    }
}

/// The badge's first line.
fn verdict(proof: &Proof) -> Markup {
    let size = grouped(proof.size);
    let Some(kept) = &proof.checkpoint else {
        let root = proof.root.as_deref().unwrap_or("none");
        let short: String = root.chars().take(12).collect();
        return html! { "Proof: " (size) " events, root " code { (short) "…" } };
    };
    let covered = grouped(kept.size);
    html! {
        @if !kept.fits {
            span.bad { "✕ The log is not what the checkpoint says" }
        } @else if kept.covers {
            span.ok { "✓ Covered by the checkpoint of " (covered) " events" }
        } @else {
            span.no { "○ The checkpoint covers " (covered) " of these " (size) " events" }
        }
    }
}
