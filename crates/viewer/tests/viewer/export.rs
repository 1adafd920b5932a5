//! An object as one file, which needs nothing else and proves itself.

use annals::blocking::Wait;
use annals::event_log::Position;
use annals::proof::{Checkpoint, Detail, Proof};
use annals_viewer::{HtmlOptions, export_html};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::support::{INTENT, PATCH_SET, Place, RUN, TASK, story, uuid};

/// The bytes of a file that can be saved from an export.
fn saved(html: &str, name: &str) -> Vec<u8> {
    let (_, rest) = html.split_once(&format!("download=\"{name}\"")).unwrap();
    let (_, rest) = rest.split_once("base64,").unwrap();
    let (text, _) = rest.split_once('"').unwrap();
    STANDARD.decode(text).unwrap()
}

#[test]
fn a_file_needs_nothing_else_and_proves_itself() {
    let place = Place::new();
    story(&place);
    for (object, says) in [
        (INTENT, "Tree"),
        (TASK, "Tree"),
        (RUN, "Timeline"),
        (PATCH_SET, "Diff"),
    ] {
        let object = uuid(object);
        let export = export_html(&place.annals, &object, HtmlOptions::default());
        let export = export.wait().unwrap();
        let html = &export.html;
        assert!(html.contains(says), "{object}");
        for foreign in [
            "<script",
            "<img",
            "<link",
            " href=\"/",
            " src=\"",
            "http://",
            "url(",
        ] {
            let at = html.find(foreign);
            assert_eq!(at, None, "{foreign}: {}", &html[at.unwrap_or(0)..][..80]);
        }
        let checkpoint = Checkpoint::read(&saved(html, "checkpoint")).unwrap();
        assert_eq!(checkpoint.head(), &export.head);
        place
            .annals
            .proofs()
            .check(checkpoint.head())
            .wait()
            .unwrap();
        let proof = Proof::read(&saved(html, "proof.json")).unwrap();
        proof.check(checkpoint.head()).unwrap();
        let Proof::Inclusion(proof) = proof else {
            panic!("an inclusion proof")
        };
        assert_eq!(proof.object, Some(export.object));
        assert!(proof.events.iter().all(|event| event.record.is_some()));
    }
}

#[test]
fn a_file_is_of_the_moment_that_was_asked_for() {
    let place = Place::new();
    story(&place);
    let run: uuid::Uuid = uuid(RUN).parse().unwrap();
    let third = place.annals.history(run).wait().unwrap()[2].position;
    let mut options = HtmlOptions::default();
    options.at = Some(third);
    options.detail = Detail::Headers;
    let export = export_html(&place.annals, &uuid(RUN), options)
        .wait()
        .unwrap();
    assert_eq!(export.head.size, third.0);
    assert!(
        !export.html.contains("The parser is slow"),
        "what came later"
    );
    let Proof::Inclusion(proof) = Proof::read(&saved(&export.html, "proof.json")).unwrap() else {
        panic!("an inclusion proof")
    };
    assert!(proof.events.iter().all(|event| event.record.is_none()));
    options.at = Some(Position(1));
    let none = export_html(&place.annals, &uuid(RUN), options).wait();
    assert!(none.unwrap_err().to_string().contains("did not exist yet"));
}
