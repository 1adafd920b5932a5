//! An auditor's check, away from the log: is what a proof file says in the log of a signed checkpoint?
//!
//! ```sh
//! annals proof checkpoint --key log.key --out checkpoint                # by the log's keeper, and given away
//! annals proof prove 7b268b76 --checkpoint checkpoint --out proof.json  # when somebody asks
//! cargo run --bin auditor -- checkpoint proof.json log.key.pub
//! ```
//!
//! It has three files: the checkpoint, which the auditor got before there was anything to hide, the proof, and
//! the public keys of those who must have signed the checkpoint. The log is not needed, and its keeper is not trusted.
//! The status is 0 if all holds, and 1 if not.

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::process::ExitCode;

use annals::projections::{Entry, history_entry};
use annals::proof::{Checkpoint, EventProof, InclusionProof, Proof, PublicKey};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let audited = match arguments.as_slice() {
        [checkpoint, proof, keys] => audit(checkpoint, proof, keys),
        _ => Err("usage: auditor CHECKPOINT PROOF PUBLIC-KEYS".into()),
    };
    match audited {
        Ok(report) => {
            let _ = write!(io::stdout(), "{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            let _ = writeln!(io::stderr(), "auditor: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Checks the proof, and says what it proves. It says nothing where anything does not hold.
fn audit(checkpoint: &str, proof: &str, keys: &str) -> Result<String, Box<dyn Error>> {
    let keys = PublicKey::read_all(&read_text(keys)?)?;
    let checkpoint = Checkpoint::read(&read(checkpoint)?)?;
    // Each of these keys must have signed; there is one at least.
    checkpoint.verify(&keys)?;
    let proof = Proof::read(&read(proof)?)?;
    proof.check(checkpoint.head())?;

    let head = checkpoint.head();
    let mut report = format!(
        "the log {} of {} records, signed by",
        head.origin, head.size
    );
    for key in &keys {
        report.push_str(&format!(" {}+{:08x}", key.name(), key.id()));
    }
    match &proof {
        Proof::Inclusion(proof) => report.push_str(&events(proof)?),
        Proof::Consistency(proof) => {
            report.push_str(&format!(
                "\nbegins with its first {} records",
                proof.old.size
            ));
        }
    }
    report.push('\n');
    Ok(report)
}

/// The events that were proven, a line each.
fn events(proof: &InclusionProof) -> Result<String, Box<dyn Error>> {
    let mut lines = match proof.object {
        Some(object) => format!("\nhas these events of {object}:"),
        None => "\nhas this event:".to_owned(),
    };
    for event in &proof.events {
        let header = event.header()?;
        let actor = header.actor();
        // In the quotes of Rust: texts are what agents wrote, and a terminal obeys what it is given.
        lines.push_str(&format!(
            "\n{:>6}  {}  {:?}  {}",
            event.position,
            header.recorded_at().to_rfc3339(),
            actor.id,
            header.event_type(),
        ));
        if let Some(summary) = summary(event) {
            lines.push_str(&format!("  {summary:?}"));
        }
    }
    Ok(lines)
}

/// What an event says, where the proof has its record. Contents that are kept beside the log are not in it.
fn summary(event: &EventProof) -> Option<String> {
    let entry = Entry::new(event.record.as_ref()?, &HashMap::new()).ok()?;
    Some(history_entry(&entry).summary)
}

fn read(path: &str) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{path}: {error}"))
}

fn read_text(path: &str) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))
}
