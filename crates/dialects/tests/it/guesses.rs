//! What was removed cannot be found out by trying: 100,000 texts are tried against all that is left
//! of a log, its files and its secret among it.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use annals::domain::alias::{self, ReserveAlias};
use annals::domain::intent::CreateIntent;
use annals::domain::metadata::Seal;
use annals::domain::{ActorRef, Command, GitOid, IntegrityHash};
use annals::event_log::{Digest, IdSecret};
use annals::{Annals, RedactRequest, Request, Target};
use annals_dialects::claude::{self, ClaudeOptions};
use annals_dialects::contracts;
use annals_dialects::forge::{ForgeOptions, import};
use annals_dialects::secrets::Secrets;
use chrono::DateTime;
use futures::executor::block_on;
use regex::bytes::Regex;
use serde_json::json;
use uuid::Uuid;

use crate::secrets::{files, through_port};

/// What is to be found out: five digits.
const PIN: u32 = 83_411;
const SESSION: &str = "7c9e6679-7425-40de-944b-e07fc1f90ae7";

/// The texts that a log of a PIN was made of, each of which an id follows from.
struct Texts {
    alias: String,
    intent: String,
    draft: String,
    line: String,
    object: String,
}

/// An intent that is sealed, and when.
const SEALED: Uuid = Uuid::from_u128(0x0198_c0de_0000_7000_8000_0000_0000_0001);
const SEALED_AT: &str = "2026-01-02T03:04:05Z";

/// The checksum of the sealed intent: all of it but the PIN is known.
fn checksum(pin: u32) -> IntegrityHash {
    IntegrityHash::seal(&json!({
        "object_id": SEALED, "object_type": "intent", "header_version": 1, "schema_version": 1,
        "created_at": SEALED_AT, "updated_at": SEALED_AT,
        "created_by": { "kind": "human", "id": "ada", "display_name": null, "auth_context": null },
        "visibility": "private", "tags": {}, "external_ids": {}, "checksum": null,
        "prompt": format!("its pin is {pin:05}"),
        "statuses": [{ "status": "draft", "changed_at": SEALED_AT }],
    }))
}

/// Makes the sealed intent.
fn seal(annals: &Annals) {
    let at = |command: Command| {
        let request = Request::new(ActorRef::human("ada"), command);
        let at = DateTime::parse_from_rfc3339(SEALED_AT).unwrap().to_utc();
        request.at(at.into())
    };
    let intent = CreateIntent::new(format!("its pin is {PIN:05}")).with_id(Some(SEALED.into()));
    block_on(annals.execute(at(intent.into()))).unwrap();
    let seal = Seal::new(SEALED);
    block_on(annals.proofs().seal(SEALED, at(seal.into()))).unwrap();
}

/// Keeps what a tool printed as a report, an output, a diff and the content of a snapshot's item.
fn keep(annals: &Annals) {
    let content = Texts::printed(PIN);
    let did = |name: &str, fields: serde_json::Value| {
        let command = Command::from_json(name, &fields.to_string()).unwrap();
        let request = Request::new(ActorRef::human("ada"), command);
        block_on(annals.execute(request)).unwrap().id
    };
    let part = json!([{ "name": "stdout", "content": content }]);
    let task = did("create_task", json!({ "title": "keep" }));
    let run = did("create_run", json!({ "task": task }));
    did("start_patching", json!({ "run": run }));
    let output = json!({ "run": run, "tool_name": "sh", "status": "ok", "output": part });
    did("record_tool_invocation", output);
    let report = json!({ "run": run, "kind": "test", "tool": "sh", "report": part });
    did("record_evidence", report);
    let diff = json!({ "run": run, "format": "unified_diff", "diff": content });
    did("propose_patch_set", diff);
    let item = json!([{ "kind": "command", "path": "sh", "content": content }]);
    let snapshot = json!({ "selection_strategy": "explicit", "items": item });
    did("open_snapshot", snapshot);
}

/// The PINs that what the log kept is found out by.
fn kept(left: &HashSet<Uuid>) -> Vec<u32> {
    let fits = |pin: &u32| Texts::of_content(*pin).iter().any(|id| left.contains(id));
    (0..100_000).filter(fits).collect()
}

/// The PINs that a seal in what is left confirms.
fn confirmed(left: &HashSet<Uuid>) -> Vec<u32> {
    let fits = |pin: &u32| {
        let IntegrityHash(hash) = checksum(*pin);
        left.contains(&half(&hash))
    };
    (0..100_000).filter(fits).collect()
}

/// A digest is looked for by its first half.
fn half(digest: &[u8; 32]) -> Uuid {
    Uuid::from_bytes(digest[..16].try_into().unwrap())
}

impl Texts {
    fn of(pin: u32) -> Texts {
        let message = json!({ "role": "user", "content": format!("the pin is {pin:05}") });
        let line = json!({
            "type": "user", "sessionId": "s", "timestamp": "2026-01-02T03:04:05Z", "message": message,
        });
        let object = json!({
            "kind": "NothingKnown", "correlation": { "sessionId": SESSION }, "pin": format!("{pin:05}"),
        });
        Texts {
            alias: format!("pin-{pin:05}"),
            intent: format!("of-{pin:05}"),
            draft: format!("the pin is {pin:05}"),
            line: line.to_string(),
            object: object.to_string(),
        }
    }

    /// What a tool printed, in which the PIN is all that is not known.
    fn printed(pin: u32) -> String {
        format!("pin {pin:05} accepted\n")
    }

    /// Every id and digest that follows from the texts, as older logs made them or with a secret.
    fn follows(&self, secret: Option<&IdSecret>) -> Vec<Uuid> {
        let v5 = |within: Uuid, text: &[u8]| Uuid::new_v5(&within, text);
        let dns = |name: &[u8]| v5(Uuid::NAMESPACE_DNS, name);
        let claude = |name: &str| v5(dns(b"claude.annals"), name.as_bytes());
        let forge = dns(b"forge.annals");
        let forge_id = |text: &str| match secret {
            Some(secret) => secret.id("forge", &[forge.as_bytes(), text.as_bytes()].concat()),
            None => v5(forge, text.as_bytes()),
        };
        let line = match secret {
            Some(secret) => secret.id("claude line", self.line.as_bytes()),
            None => v5(claude("line"), self.line.as_bytes()),
        };
        let session: Uuid = SESSION.parse().unwrap();
        let place = v5(session, &0_u64.to_be_bytes());
        // What an object is written as has its fields in an order of its own; it is that of the text.
        let object = v5(place, self.object.as_bytes());
        let alias = match secret {
            Some(secret) => secret.id("alias", self.alias.as_bytes()),
            None => alias::stream_of(&self.alias).id,
        };
        let mut ids = vec![
            alias,
            line,
            claude(&format!("intent\u{1f}{line}")),
            claude(&format!("prompt\u{1f}{line}")),
            claude(&format!("frame\u{1f}{line}\u{1f}0")),
            forge_id(&format!("intent {}", self.intent)),
            secret.map_or(object, |secret| secret.id("contracts", object.as_bytes())),
        ];
        let texts = [
            &self.draft,
            &self.line,
            &self.object,
            &self.alias,
            &self.intent,
        ];
        ids.extend(texts.map(|text| {
            let Digest(digest) = Digest::of(text.as_bytes());
            half(&digest)
        }));
        ids
    }

    /// What follows from content that the log keeps: its hash, and the git blob of it.
    fn of_content(pin: u32) -> [Uuid; 2] {
        let content = Texts::printed(pin);
        let Digest(digest) = Digest::of(content.as_bytes());
        let blob = GitOid::sha1_of_blob(content.as_bytes()).expect("no attack");
        [
            half(&digest),
            Uuid::from_slice(&blob.as_bytes()[..16]).unwrap(),
        ]
    }
}

/// A log in a folder that has the PIN in everything that ids follow from.
fn fill(home: &Path) -> Annals {
    let texts = Texts::of(PIN);
    let annals = block_on(Annals::open(home.join("log").to_str().unwrap())).unwrap();
    let by = ActorRef::human("ada");
    let intent = CreateIntent::new(texts.draft.clone());
    let made = block_on(annals.execute(Request::new(by.clone(), intent))).unwrap();
    let reserve = ReserveAlias::new(made.id.unwrap(), texts.alias.clone());
    block_on(annals.execute(Request::new(by, Command::from(reserve)))).unwrap();
    seal(&annals);
    keep(&annals);

    let forge = home.join("project/.forge");
    for part in ["intents", "intent-drafts"] {
        fs::create_dir_all(forge.join(part)).unwrap();
    }
    let named = forge.join("intents").join(format!("{}.yaml", texts.intent));
    fs::write(
        named,
        "title: one\nstatus: proposed\nsource: human\nbody: two\n",
    )
    .unwrap();
    fs::write(
        forge.join("intent-drafts/plan.md"),
        format!("# Plan\n\n{}\n", texts.draft),
    )
    .unwrap();
    let project = home.join("project");
    let options = ForgeOptions::new(ActorRef::human("ada")).with_secrets(Secrets::none());
    let report = block_on(import(&annals, &project, &options, &mut |_| {})).unwrap();
    assert_eq!(report.broken_count, 0, "{report}");

    let recording = home.join("session.jsonl");
    fs::write(&recording, format!("{}\n", texts.line)).unwrap();
    let options = ClaudeOptions::default();
    block_on(claude::import(&annals, &recording, &options, &mut |_| {})).unwrap();
    let objects = home.join("objects.json");
    fs::write(&objects, &texts.object).unwrap();
    block_on(contracts::import(
        &annals,
        &objects,
        &Secrets::none(),
        &mut |_| {},
    ))
    .unwrap();
    annals
}

/// All that can be read of a log, record by record and file by file.
fn left(annals: &Annals, folder: &Path) -> Vec<u8> {
    [through_port(annals), files(folder)].concat()
}

/// Every id in bytes, as bytes or as text, and the first half of every digest or git id in hex.
fn ids_in(bytes: &[u8]) -> HashSet<Uuid> {
    let raw = bytes.windows(16).filter_map(|it| Uuid::from_slice(it).ok());
    let written = bytes
        .windows(36)
        .filter(|it| it[8] == b'-' && it[13] == b'-');
    let written = written.filter_map(|it| Uuid::try_parse_ascii(it).ok());
    let hex = bytes
        .windows(40)
        .filter(|it| it.iter().all(u8::is_ascii_hexdigit));
    let hex = hex.filter_map(|it| Uuid::try_parse_ascii(&it[..32]).ok());
    raw.chain(written).chain(hex).collect()
}

/// The PINs of which something is in what is left.
fn guessed(left: &HashSet<Uuid>, secret: Option<&IdSecret>) -> Vec<u32> {
    let fits = |pin: &u32| {
        let texts = Texts::of(*pin);
        let mut ids = texts.follows(None);
        ids.extend(
            secret
                .into_iter()
                .flat_map(|secret| texts.follows(Some(secret))),
        );
        ids.iter().any(|id| left.contains(id))
    };
    (0..100_000).filter(fits).collect()
}

#[test]
fn a_text_that_was_removed_is_in_nothing_that_is_left_and_follows_from_none() {
    let home = tempfile::tempdir().unwrap();
    let annals = fill(home.path());
    let log = home.path().join("log");
    let before = block_on(annals.log().id_secret())
        .unwrap()
        .expect("a new log has one");
    // The search finds it where it is: with the secret, all ids follow from the texts.
    let known = ids_in(&left(&annals, &log));
    let texts = Texts::of(PIN);
    let found = texts.follows(Some(&before));
    let missing: Vec<usize> = (0..7).filter(|n| !known.contains(&found[*n])).collect();
    assert_eq!(missing, [0_usize; 0]);
    assert_eq!(guessed(&known, Some(&before)), [PIN]);
    // And without it none of them do.
    assert_eq!(guessed(&known, None), [0_u32; 0]);
    assert!(block_on(annals.resolve(&texts.alias)).is_ok());
    assert_eq!(confirmed(&known), [PIN], "by the seal");
    assert_eq!(kept(&known), [PIN], "by hashes of content");
    assert!(Texts::of_content(PIN).iter().all(|id| known.contains(id)));

    let request = RedactRequest::new(
        vec![Target::Pattern(Regex::new(&PIN.to_string()).unwrap())],
        ActorRef::human("ada"),
        "it leaked",
    );
    let report = block_on(annals.contents().redact(&request, &mut |_| {})).unwrap();
    assert_eq!(report.found.stays_count, 0, "{:?}", report.found.stays);
    assert_eq!(report.found.seals.len(), 1);
    annals.rocks().unwrap().purge().unwrap();
    assert!(
        block_on(annals.resolve(&texts.alias)).is_err(),
        "it no longer resolves"
    );
    block_on(annals.close());

    // When it is opened again, RocksDB begins a new list of tables.
    let annals = block_on(Annals::open(log.to_str().unwrap())).unwrap();
    let after = block_on(annals.log().id_secret())
        .unwrap()
        .expect("it has one");
    assert_ne!(before, after);
    let bytes = left(&annals, &log);
    let has = |needle: &[u8]| bytes.windows(needle.len()).any(|part| part == needle);
    assert!(!has(PIN.to_string().as_bytes()), "the text itself");
    assert!(
        !has(before.as_bytes()),
        "the secret that its ids followed from"
    );
    let known = ids_in(&bytes);
    assert_eq!(guessed(&known, Some(&after)), [0_u32; 0]);
    assert_eq!(confirmed(&known), [0_u32; 0], "the seal confirms nothing");
    assert_eq!(kept(&known), [0_u32; 0], "no hash of content is left");
    // Another object can have the name, and the log is whole.
    let verified = annals.rocks().unwrap().verify(&mut |_| {}).unwrap();
    assert!(verified.findings.is_empty(), "{:?}", verified.findings);
}
