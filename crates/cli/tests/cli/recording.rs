//! `annals record on`, `off` and `status`.

use std::fs;

use crate::support::Place;

#[test]
fn agents_that_are_there_are_recorded_until_that_is_turned_off() {
    let place = Place::with_log();
    place
        .run(&["record", "on", "--yes"])
        .fails(1, &["no agent was found", ".claude"]);
    let settings = place.path("home/.claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let before = "{\n  \"model\": \"opus\"\n}\n";
    fs::write(&settings, before).unwrap();
    place.run(&["record", "status"]).ok();
    let dry = place.run(&["record", "on", "--dry-run"]).ok().stdout;
    assert!(dry.contains("hook claude"), "{dry}");
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
    place.run(&["record", "on", "--yes"]).ok();
    let with_hooks = fs::read_to_string(&settings).unwrap();
    let log = place.log_dir().display().to_string();
    assert!(
        with_hooks.contains(&format!("--log {log} hook claude")),
        "{with_hooks}"
    );
    // The old spelling does the same.
    place.run(&["hook", "install", "claude", "--yes"]).ok();
    assert_eq!(fs::read_to_string(&settings).unwrap(), with_hooks);
    let status = place
        .run(&["record", "status", "claude", "--json"])
        .ok()
        .json();
    assert_eq!(status["installed"].as_array().unwrap().len(), 2, "{status}");
    assert_eq!(
        status["installed"][0]["commands"].as_array().unwrap().len(),
        1,
        "{status}"
    );
    place.run(&["record", "off", "--yes"]).ok();
    assert_eq!(fs::read_to_string(&settings).unwrap(), before);
}

#[test]
fn the_users_log_is_made_for_the_hooks() {
    let place = Place::empty();
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        let command = command.env_remove("ANNALS_LOG").env_remove("XDG_DATA_HOME");
        crate::support::Ran::of(command.output().unwrap())
    };
    run(&["record", "on", "claude", "--dry-run"]).ok();
    assert!(!place.path("home/.local").exists());
    run(&["record", "on", "claude", "--yes"]).ok();
    assert!(place.path("home/.local/share/annals").is_dir());
    let settings = fs::read_to_string(place.path("home/.claude/settings.json")).unwrap();
    assert!(
        settings.contains("/home/.local/share/annals hook claude"),
        "{settings}"
    );
}

#[test]
fn a_service_without_systemd_is_an_error_that_names_what_failed() {
    let place = Place::with_log();
    let mut command = place.command(&["record", "on", "claude", "--yes", "--service"]);
    command
        .env("PATH", place.path("nothing"))
        .env("XDG_CONFIG_HOME", place.path("config"));
    let ran = crate::support::Ran::of(command.output().unwrap());
    ran.fails(
        1,
        &["systemctl --user daemon-reload", "serve --record-only"],
    );
    let unit = fs::read_to_string(place.path("config/systemd/user/annals.service")).unwrap();
    assert!(
        unit.contains(&format!(
            "--log \"{}\" service serve",
            place.log_dir().display()
        )),
        "{unit}"
    );
}

#[test]
fn a_service_that_cannot_start_is_not_installed() {
    let place = Place::with_log();
    fs::create_dir(place.path("o'b")).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_annals"), place.path("o'b/annals")).unwrap();
    let unit = place.path("config/systemd/user/annals.service");
    let run = |args: &[&str]| {
        let mut command = place.command(args);
        command
            .env("PATH", place.path("nothing"))
            .env("XDG_CONFIG_HOME", place.path("config"));
        let ran = crate::support::Ran::of(command.output().unwrap());
        assert!(!unit.exists(), "{args:?}");
        ran
    };
    let on = ["record", "on", "claude", "--yes", "--service"];
    let quoted = run(&[&on[..], &["--program", "o'b/annals"]].concat());
    quoted.fails(1, &["path has quotes", "--program"]);
    run(&[&["--log", "nowhere"], &on[..]].concat()).fails(1, &["there is no log at"]);
    run(&["record", "on", "claude", "--service", "--dry-run"]).ok();
}
