//! Who gave a command, where no actor is named.

use crate::support::Place;

/// Who proposed an intent that was submitted with these variables.
fn proposed_by(place: &Place, variables: &[(&str, &str)], args: &[&str]) -> (String, String) {
    let mut all = vec!["submit", "Add a page", "--json"];
    all.extend(args);
    let mut command = place.command(&all);
    for name in ["USER", "LOGNAME", "USERNAME", "GIT_CONFIG_GLOBAL"] {
        command.env_remove(name);
    }
    command
        .env("HOME", place.path("home"))
        .env("XDG_CONFIG_HOME", place.path("home"))
        .envs(variables.iter().copied());
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let row = place
        .run(&["list", "intents", "--limit", "1", "--json"])
        .ok()
        .json();
    assert_eq!(row["created_by"]["kind"], "human");
    let said = String::from_utf8_lossy(&ran.stderr).into_owned();
    (row["created_by"]["id"].as_str().unwrap().to_owned(), said)
}

#[test]
fn the_default_actor_is_the_person_as_git_knows_them() {
    let place = Place::with_log();
    std::fs::create_dir(place.path("home")).unwrap();
    let login = [("USER", "kei")];
    assert_eq!(proposed_by(&place, &login, &[]).0, "kei");
    // Without a login name the system's list of users has one, or else it is said how to set it.
    let (name, said) = proposed_by(&place, &[], &[]);
    match name.as_str() {
        "unknown" => assert!(
            said.contains("ANNALS_ACTOR") && said.contains("--actor"),
            "{said}"
        ),
        _ => assert!(!said.contains("unknown"), "{said}"),
    }
    let config = "[user]\n\tname = Kei Tanaka\n\temail = kei@example.org\n";
    std::fs::write(place.path("home/.gitconfig"), config).unwrap();
    assert_eq!(proposed_by(&place, &login, &[]).0, "Kei Tanaka");
    // A repository's configuration may be written by others: it is not used.
    std::fs::create_dir_all(place.path(".git")).unwrap();
    std::fs::write(place.path(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    std::fs::write(place.path(".git/config"), "[user]\n\tname = Mallory\n").unwrap();
    assert_eq!(proposed_by(&place, &login, &[]).0, "Kei Tanaka");
    let author = [("USER", "kei"), ("GIT_AUTHOR_NAME", "Zoë")];
    assert_eq!(proposed_by(&place, &author, &[]).0, "Zoë");
    let given = [("GIT_AUTHOR_NAME", "Zoë"), ("ANNALS_ACTOR", "bob")];
    assert_eq!(proposed_by(&place, &given, &[]).0, "bob");
    assert_eq!(
        proposed_by(&place, &given, &["--actor", "alice"]).0,
        "alice"
    );
}

#[test]
fn an_actor_of_another_kind_is_no_person() {
    let place = Place::with_log();
    std::fs::create_dir(place.path("home")).unwrap();
    for actor in [
        "bot:ci",
        "claude-code:x",
        "agent\u{200b}:x",
        ":bob",
        "agent",
        "Agent:x",
    ] {
        let refused = place.run(&["submit", "Add a page", "--actor", actor]);
        refused.fails(2, &["invalid --actor"]);
        let mut command = place.command(&["submit", "Add a page"]);
        let ran = command.env("ANNALS_ACTOR", actor).output().unwrap();
        assert!(!ran.status.success(), "{actor}");
    }
    let refused = place.run(&["submit", "Add a page", "--actor", "bot:ci"]);
    refused.fails(2, &["write human:bot:ci"]);
    let named = [("GIT_AUTHOR_NAME", "bot:ci")];
    assert_eq!(proposed_by(&place, &named, &[]).0, "bot:ci");
    let given = ["--actor", "human:bot:ci"];
    assert_eq!(proposed_by(&place, &[], &given).0, "bot:ci");
}
