//! Content over 4 KiB: printed by its digest, and stored once.

use std::fs;

use annals::event_log::Digest;
use serde_json::json;

use crate::support::{agent, grown};

#[test]
fn content_is_printed_by_its_digest_or_its_object() {
    let (place, story) = grown();
    let diff = place.run(&["show", &story.patch_set, "--diff"]).ok().stdout;
    let shown = place.run(&["show", &story.patch_set, "--json"]).ok().json();
    let artifact = &shown["artifact"];
    let (hash, key) = (
        artifact["hash"].as_str().unwrap(),
        artifact["key"].as_str().unwrap(),
    );
    assert_eq!((artifact["store"].as_str(), hash), (Some("annals"), key));
    let digest = Digest::of(diff.as_bytes()).to_string();
    assert_eq!(hash, digest);
    let forms = [
        digest.clone(),
        digest.to_uppercase(),
        format!("sha256:{digest}"),
        format!("sha256:{}", &digest[..8]),
        digest[..8].to_owned(),
        digest[..20].to_owned(),
        story.patch_set.clone(),
        story.patch_set[story.patch_set.len() - 8..].to_owned(),
    ];
    for form in &forms {
        assert_eq!(place.run(&["cat", form]).ok().stdout, diff, "{form}");
    }
    place.run(&["cat", &digest, "--out", "diff.txt"]).ok();
    assert_eq!(fs::read_to_string(place.path("diff.txt")).unwrap(), diff);
    let described = place.run(&["cat", &digest, "--json"]).ok().json();
    assert_eq!(described["size"], diff.len());
    assert_eq!(described["text"], diff);

    let none = Digest::of(b"nothing of the log").to_string();
    for (what, says) in [
        (none.as_str(), "no content has this digest"),
        (&none[..12], "neither a digest"),
        (
            &format!("sha256:{}", &none[..12]),
            "begins with these digits",
        ),
        ("sha256:12", "64 hex digits"),
        ("1234567", "neither a digest"),
        ("no such thing", "neither a digest"),
        (&story.task, "none over 4 KiB"),
    ] {
        place.run(&["cat", what]).fails(1, &[says]);
    }
    // The pipeline's two frames share one content.
    assert_eq!(
        place.run(&["cat", &story.pipeline]).ok().stdout,
        "x".repeat(5_000)
    );
    let push =
        json!({ "pipeline": story.pipeline, "kind": "checkpoint", "summary": "z".repeat(6_000) });
    place.accept(&[agent("push_frame", push)]);
    let other = Digest::of("z".repeat(6_000).as_bytes()).to_string();
    place
        .run(&["cat", &story.pipeline])
        .fails(1, &["2 contents", &other]);
}

#[test]
fn stats_say_what_is_saved() {
    let (place, _) = grown();
    let stats = place.run(&["stats", "--content", "--json"]).ok().json();
    let stored = stats["blob_bytes"].as_u64().unwrap();
    assert_eq!(stats["blobs"], 2);
    // The diff once, and the frame's text twice.
    assert_eq!(
        stats["content"],
        json!({ "pieces": 3, "bytes": stored + 5_000 })
    );
    assert!(stats.get("types").is_none());
    let saved = 5_000 * 100 / (stored + 5_000);
    let text = place.run(&["stats", "--content"]).ok().stdout;
    assert!(text.contains("referred to 3 times"), "{text}");
    assert!(text.contains(&format!("{saved} % saved")), "{text}");
    let plain = place.run(&["stats", "--json"]).ok().json();
    assert!(plain.get("content").is_none());
}
