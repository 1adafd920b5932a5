//! The systemd user service that owns the log, so that hooks take less time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use annals::LogUrl;
use serde_json::json;

use crate::commands::hook::installing::{absolute, own_program};
use crate::context::Context;
use crate::error::{CliError, ErrorClass};

/// The unit.
const UNIT: &str = "annals.service";

/// Installs and starts the service of the log.
pub(super) fn install(
    program: Option<&Path>,
    is_dry: bool,
    context: &mut Context,
) -> Result<(), CliError> {
    let Ok(LogUrl::Rocks(folder)) = context.log.parse() else {
        let message = "only a log in a folder has an owner";
        return Err(CliError::new(ErrorClass::Usage, "not_served", message)
            .hint("leave --service out: each process writes to the database by itself"));
    };
    let program = match program {
        Some(program) => program.to_owned(),
        None => own_program()?,
    };
    let text = unit(&absolute(&program)?, &absolute(&folder)?);
    let path = place()?;
    if is_dry {
        return report(&path, "not installed: --dry-run", context);
    }
    let written = path
        .parent()
        .map_or(Ok(()), annals_files::make_own_folders)
        .and_then(|()| fs::write(&path, text));
    written.map_err(|error| CliError::file(&path, error))?;
    systemctl(&["daemon-reload"])?;
    systemctl(&["enable", "--now", UNIT])?;
    // A unit that was there may run with an older text.
    systemctl(&["restart", UNIT])?;
    report(&path, "installed and started", context)
}

/// Stops and removes the service.
pub(super) fn uninstall(is_dry: bool, context: &mut Context) -> Result<(), CliError> {
    let path = place()?;
    if !path.exists() {
        return report(&path, "not installed", context);
    }
    if is_dry {
        return report(&path, "still installed: --dry-run", context);
    }
    systemctl(&["disable", "--now", UNIT])?;
    fs::remove_file(&path).map_err(|error| CliError::file(&path, error))?;
    systemctl(&["daemon-reload"])?;
    report(&path, "stopped and removed", context)
}

fn report(path: &Path, state: &str, context: &mut Context) -> Result<(), CliError> {
    let path = path.display().to_string();
    match context.output.is_json() {
        true => context
            .output
            .json(&json!({ "service": path, "state": state })),
        false => context.output.line(&format!("service {path}: {state}")),
    }
}

/// Where the unit is.
fn place() -> Result<PathBuf, CliError> {
    let set = |name: &str| {
        std::env::var_os(name)
            .map(PathBuf::from)
            .filter(|it| it.is_absolute())
    };
    let config = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")));
    let config = config.ok_or_else(|| {
        CliError::new(
            ErrorClass::Invalid,
            "no_home",
            "the home folder is not known",
        )
        .hint("set HOME")
    })?;
    Ok(config.join("systemd/user").join(UNIT))
}

/// The unit's text.
fn unit(program: &str, log: &str) -> String {
    format!(
        "\
# Written by `annals record on --service`; `annals record off --service` removes it.
[Unit]
Description=Annals, the log in {}

[Service]
Type=notify
ExecStart={} --log {} serve --record-only
Restart=on-failure
RestartSec=1
# What it has accepted is written within 30 seconds.
TimeoutStopSec=60
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
",
        log.replace('%', "%%"),
        word(program),
        word(log),
    )
}

/// A word as systemd reads it in a command line.
fn word(word: &str) -> String {
    let mut quoted = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' => quoted.push_str("%%"),
            '$' => quoted.push_str("$$"),
            '\n' => quoted.push_str("\\n"),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

fn systemctl(arguments: &[&str]) -> Result<(), CliError> {
    let line = format!("systemctl --user {}", arguments.join(" "));
    let mut command = Command::new("systemctl");
    command.arg("--user").args(arguments).stdin(Stdio::null());
    let failed = |reason: String| {
        let message = format!("`{line}` failed: {reason}");
        CliError::new(ErrorClass::Failed, "service_failed", message)
            .hint("without a systemd of your own, run `annals serve --record-only` another way")
    };
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let first = said.lines().next().unwrap_or("it printed no reason");
            Err(failed(first.to_owned()))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_names_the_program_and_the_log() {
        let unit = unit("/opt/a b/annals", "/home/a/100%/it's \"$x\"");
        let expected =
            r#"ExecStart="/opt/a b/annals" --log "/home/a/100%%/it's \"$$x\"" serve --record-only"#;
        assert!(unit.lines().any(|line| line == expected), "{unit}");
        assert_eq!(
            unit.lines()
                .filter(|line| line.starts_with("ExecStart"))
                .count(),
            1
        );
        assert_eq!(word("a\nb"), "\"a\\nb\"");
    }
}
