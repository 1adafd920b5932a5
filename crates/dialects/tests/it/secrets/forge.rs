//! A `.forge/` folder with secrets in every field.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use annals::Annals;
use annals::event_log::memory::MemoryLog;
use annals_dialects::forge::{DraftOptions, DraftWatch, Drafted, ForgeOptions, import, take_draft};
use annals_dialects::secrets::{Redactions, Secrets};
use annals_domain::ActorRef;
use futures::executor::block_on;

use super::{check, key_line, places, planted, private_key, token};

/// A secret access key, which has no form of its own.
fn aws_secret() -> String {
    "aB3xQ9z/R7tK1mW5vL8p".repeat(2)
}

fn put(folder: &Path, path: &str, text: &str) {
    let file = folder.join(".forge").join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

fn fill(folder: &Path) {
    let (head, tail) = (&token(4)[..20], &token(4)[20..]);
    let escaped: String = token(5)
        .chars()
        .map(|c| format!("\\x{:02x}", c as u32))
        .collect();
    let intent = format!(
        "title: {{1}}\nbody: |\n  See {{2}}\n{}source: human\nlabels: [a, {{3}}]\n\
         notes: \"{head}\\\n  {tail}\"\nmore: {{{{ \"{escaped}\": 1 }}}}\n\
         secret_access_key: {}\n\
         lines:\n{}\
         env:\n  - name: AWS_SECRET_ACCESS_KEY\n    value: {}\n\
         clarifications:\n  - question: Is it {{6}}?\n    answer: It is {{7}}\n",
        private_key(8)
            .lines()
            .map(|line| format!("  {line}\n"))
            .collect::<String>(),
        aws_secret(),
        private_key(20)
            .lines()
            .map(|line| format!("  - \"{line}\"\n"))
            .chain(
                private_key(21)
                    .lines()
                    .map(|line| format!("  - text: \"{line}\"\n"))
            )
            .collect::<String>(),
        aws_secret().replace('/', "+"),
    );
    let intent = intent.replace("{{", "{").replace("}}", "}");
    put(folder, "intents/first.yaml", &planted(&intent, 1..8));
    put(
        folder,
        &format!("intents/of-{}.yaml", token(9)),
        "title: Second\nbody: b\nsource: human\n",
    );
    let tasks = "- id: t1\n  title: Do {10}\n  plan: Plan {11}\n  relevant_files: [\"{12}\"]\n  odd: {13}\n";
    put(folder, "tasks/first.yaml", &planted(tasks, 10..14));
    let review = "{\"verdict\": \"rejected\", \"issues\": [\"{14}\"], \"suggestions\": [\"{15}\"]}";
    put(folder, "reviews/t1.yaml", &planted(review, 14..16));
    let draft = "---\nlabels: [\"{16}\"]\n---\nWant {17}\n\nBecause\nof {18}\n";
    put(folder, "intent-drafts/idea.md", &planted(draft, 16..19));
}

fn options(secrets: &Secrets) -> ForgeOptions {
    ForgeOptions::new(ActorRef::human("kei")).with_secrets(secrets.clone())
}

#[test]
fn nothing_of_a_folders_secrets_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path());
    let mut needles: Vec<String> = (1..19).filter(|n| *n != 8).map(token).collect();
    needles.extend((0..3).map(|line| key_line(8, line)));
    needles.push(aws_secret());
    needles.extend((0..6).map(|line| key_line(20 + line / 3, line % 3)));
    needles.push(aws_secret().replace('/', "+"));
    let report = check(&needles, |annals, secrets| {
        let options = options(secrets);
        let report = block_on(import(annals, folder.path(), &options, &mut |_| {})).unwrap();
        assert_eq!(report.broken, [], "{report}");
        report
    });
    let tokens = places(&report, "github-token");
    for place in [
        "first.yaml:1 (title)",
        "first.yaml:10 (labels[1])",
        "first.yaml:3 (body)",
        "t1.yaml:1 (issues[0])",
        "idea.md:2 (labels[0])",
        "idea.md:4",
        "idea.md:7",
    ] {
        assert!(
            tokens.iter().any(|it| it == place),
            "{place} is not in {tokens:?}"
        );
    }
}

#[test]
fn a_draft_with_a_secret_is_proposed_without_it_and_its_file_stays() {
    let folder = tempfile::tempdir().unwrap();
    put(
        folder.path(),
        "intent-drafts/idea.md",
        &planted("Want it\n\nwith {1}\n", 1..2),
    );
    let file = folder.path().join(".forge/intent-drafts/idea.md");
    let annals = Annals::over(std::sync::Arc::new(MemoryLog::new(uuid::Uuid::from_u128(
        1,
    ))));
    let options = DraftOptions::new(ActorRef::human("kei")).with_secrets(Secrets::standard());
    let take = || {
        let mut watch = DraftWatch::start(folder.path()).unwrap();
        let now = Instant::now();
        watch.ready(now).unwrap();
        let ready = watch.ready(now + Duration::from_secs(60)).unwrap();
        let mut redacted = Redactions::default();
        let taken = take_draft(&annals, &ready.drafts[0], &options, &mut redacted);
        let taken = block_on(taken).unwrap();
        // It is given once.
        let later = watch.ready(now + Duration::from_secs(90)).unwrap();
        assert_eq!(later.drafts, []);
        (taken, redacted.count())
    };
    let (taken, count) = take();
    assert!(
        matches!(
            taken,
            Drafted::Redacted {
                events: 1..,
                secrets: 1,
                ..
            }
        ),
        "{taken:?}"
    );
    assert_eq!(count, 1);
    assert!(
        file.exists() && taken.to_string().contains("delete it"),
        "{taken}"
    );
    let (again, _) = take();
    assert!(
        matches!(again, Drafted::Redacted { events: 0, .. }),
        "{again:?}"
    );
    assert!(file.exists());
}
