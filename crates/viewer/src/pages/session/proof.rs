//! The proof of a session: its state in plain words, the inclusion of its newest event, and how to verify it.

use annals::event_log::Position;
use annals::proof::{Detail, Proof, ProofError};
use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use schemars::JsonSchema;
use serde::Serialize;

use super::{NamedSession, find, head, neighbours, session_page};
use crate::answer::{Asked, Page};
use crate::figures::{counted, grouped};
use crate::foreign;
use crate::html::command;
use crate::problem::Problem;
use crate::proof::{
    Kept, ProofState, VERIFY_CHECKPOINT, VERIFY_PROOF, checkpoint, checkpoint_command,
    prove_command,
};
use crate::session_entry::SessionEntry;

/// A session with its proof.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionProof {
    /// The session.
    session: SessionEntry,
    /// The state of its events, by the checkpoint that was given to the viewer.
    state: ProofState,
    /// The checkpoint; null if none was given.
    checkpoint: Option<Kept>,
    /// The inclusion of its newest event; null where the log keeps no tree.
    inclusion: Option<Inclusion>,
}

/// The inclusion of an event in the Merkle tree of the log.
#[derive(Debug, Serialize, JsonSchema)]
struct Inclusion {
    /// The event.
    position: u64,
    /// The number of events that the tree is over.
    size: u64,
    /// The name of the log in checkpoints.
    origin: String,
    /// The root of the tree.
    root: String,
    /// The hashes beside the way from the event to the root.
    path: Vec<String>,
}

/// The proof page.
pub(crate) async fn proof(mut asked: Asked, Path(name): Path<String>) -> Result<Response, Problem> {
    let NamedSession { session, clock, .. } = find(&mut asked, &name).await?;
    let beside = neighbours(&asked, &session, clock).await?;
    let newest = Position(session.last_position).min(asked.moment.position);
    let (state, kept) = checkpoint(&asked.shared, newest).await;
    let inclusion = inclusion(&asked, newest).await?;
    let position = asked.moment.position.0;
    let page = Page {
        command: prove_command(&session.id.to_string(), position),
        ..session_page(&session, &asked, "Proof of ")
    };
    let page = page.with_data(SessionProof {
        session,
        state,
        checkpoint: kept,
        inclusion,
    });
    let page_of = |read: &SessionProof| {
        html! {
            (head::draw(&read.session, &asked, (clock, state, &beside), "Proof"))
            div.classic.tab { (draw(read, position)) }
        }
    };
    asked.answer(page, page_of).await
}

/// Proves that an event is in the log, and checks the proof.
async fn inclusion(asked: &Asked, event: Position) -> Result<Option<Inclusion>, Problem> {
    let proofs = asked.annals().proofs();
    let head = match proofs.head(Some(asked.moment.position.0)).await {
        Ok(head) => head,
        Err(ProofError::NoTree { .. }) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let proof = match proofs.event(event, &head, Detail::Headers).await? {
        Proof::Inclusion(proof) => proof,
        _ => return Ok(None),
    };
    let path = proof.events.first().map(|event| event.path.as_slice());
    let path = path.unwrap_or_default().iter().map(ToString::to_string);
    Ok(Some(Inclusion {
        position: event.0,
        size: head.size,
        root: head.root.to_string(),
        path: path.collect(),
        origin: head.origin,
    }))
}

fn draw(read: &SessionProof, position: u64) -> Markup {
    html! {
        section { (state(read)) }
        @match &read.inclusion {
            Some(inclusion) => { section { (included(inclusion)) } }
            None => { section { h2 { "Newest event" } p { "The log keeps no tree of hashes, so no proof can be made." } } }
        }
        section { (verify(read, position)) }
    }
}

/// The state in a sentence.
fn state(read: &SessionProof) -> Markup {
    let kept = read.checkpoint.as_ref();
    let size = kept.map_or(0, |kept| kept.size);
    let (class, sign, title) = match read.state {
        ProofState::Sound => ("add", "✓", "Sound"),
        ProofState::Behind => ("waitc", "○", "Checked in part"),
        ProofState::Unchecked => ("dim", "○", "Not checked"),
        ProofState::Broken => ("rem", "✕", "Not sound"),
    };
    html! {
        h2.verdict.(class) { span aria-hidden="true" { (sign) " " } (title) }
        p { @match read.state {
            ProofState::Sound => { "The log is what the checkpoint of its first " (counted(size, "event", "events")) " states, and all events of this session are among them." }
            ProofState::Behind => { "The log is what the checkpoint of its first " (counted(size, "event", "events")) " states. Later events of this session are not covered: make a new checkpoint." }
            ProofState::Unchecked => { "The viewer was started without a checkpoint, so nothing was compared. A checkpoint that is kept elsewhere shows any later change of the log: start the viewer with " code { "--checkpoint FILE" } ", or check it by the commands below." }
            ProofState::Broken => { "The log is not what the checkpoint states, or the checkpoint cannot be read." }
        } }
        @if let Some(problem) = kept.and_then(|kept| kept.problem.as_deref()) { p.rem { (foreign::text(problem)) } }
        @for signer in kept.map_or(&[][..], |kept| kept.signed_by.as_slice()) {
            p.dim { "Signed by " code { (foreign::text(signer)) } ". " code { "annals proof verify --key" } " checks the signature." }
        }
    }
}

/// The inclusion of the newest event.
fn included(inclusion: &Inclusion) -> Markup {
    html! {
        h2 { "Newest event" }
        p { span.add aria-hidden="true" { "✓ " } "Event " (grouped(inclusion.position)) " is included in the tree over the first "
            (counted(inclusion.size, "event", "events")) " of " code { (inclusion.origin) } "." }
        dl.fields.panel {
            div { dt { "root" } dd { code.root { (inclusion.root) } } }
            div { dt { "path" } dd { (counted(inclusion.path.len() as u64, "hash", "hashes")) } }
        }
        @if !inclusion.path.is_empty() {
            details.think { summary { "Hashes from the event to the root" }
                ol.hashes { @for hash in &inclusion.path { li { code.root { (hash) } } } } }
        }
    }
}

/// The commands that verify the session.
fn verify(read: &SessionProof, position: u64) -> Markup {
    let newest = read.inclusion.as_ref().map(|inclusion| inclusion.position);
    let session = read.session.id.to_string();
    html! {
        h2 { "Verify" }
        p { "Make a checkpoint, and keep it where the owner of the log cannot change it:" }
        (command(&checkpoint_command(position)))
        p { "Later, check that the log is still what the checkpoint states:" }
        (command(VERIFY_CHECKPOINT))
        p { "Check the records and the hashes of the whole log:" }
        (command("annals proof verify"))
        @if read.inclusion.is_some() {
            p { "Give someone a proof of this session's own events, or of its newest event. It is checked without the log:" }
            (command(&prove_command(&session, position)))
            @if let Some(newest) = newest { (command(&prove_command(&newest.to_string(), position))) }
            (command(VERIFY_PROOF))
        }
    }
}
