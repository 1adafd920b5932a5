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

/// The service of a log, which is not installed yet.
pub(super) struct Service {
    path: PathBuf,
    unit: String,
}

impl Service {
    /// The service of the log, run by a program; by this one, if none is named.
    pub(super) fn new(program: Option<&Path>, context: &Context) -> Result<Service, CliError> {
        let Ok(LogUrl::Rocks(folder)) = context.log.parse() else {
            let message = "only a log in a folder has an owner";
            return Err(CliError::new(ErrorClass::Usage, "not_served", message)
                .hint("leave --service out: each process writes to the database by itself"));
        };
        let program = match program {
            Some(program) => program.to_owned(),
            None => own_program()?,
        };
        let program = executable(absolute(&program)?)?;
        Ok(Service {
            path: place()?,
            unit: unit(&program, &absolute(&folder)?),
        })
    }

    /// Installs the service and starts it.
    pub(super) fn install(&self, is_dry: bool, context: &mut Context) -> Result<(), CliError> {
        let path = &self.path;
        if is_dry {
            return report(path, "not installed: --dry-run", context);
        }
        // A unit whose log is not there would be started again and again.
        drop(context.reader()?);
        let written = path
            .parent()
            .map_or(Ok(()), annals_files::make_own_folders)
            .and_then(|()| fs::write(path, &self.unit));
        written.map_err(|error| CliError::file(path, error))?;
        systemctl(&["daemon-reload"])?;
        systemctl(&["enable", UNIT])?;
        // It starts the unit, also if one runs with an older text.
        systemctl(&["restart", UNIT])?;
        report(path, "installed and started", context)
    }
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

/// Refuses a path that systemd starts no program from: one with quotes, backslashes or control characters.
fn executable(program: String) -> Result<String, CliError> {
    let is_refused = |c: char| c.is_ascii_control() || "\"'\\".contains(c);
    if !program.contains(is_refused) {
        return Ok(program);
    }
    let message =
        format!("systemd starts no program whose path has quotes or backslashes: {program:?}");
    let error = CliError::new(ErrorClass::Invalid, "path_refused", message);
    Err(error.hint("give a link to it with another path: --program FILE"))
}

/// The unit's text.
fn unit(program: &str, log: &str) -> String {
    format!(
        "\
# Written by `annals record on --service`; `annals record off --service` removes it.
[Unit]
Description=Annals, the log \"{}\"

[Service]
Type=notify
ExecStart=\"{}\" --log {} service serve --record-only
Restart=on-failure
RestartSec=1
# What it has accepted is written within 30 seconds.
TimeoutStopSec=60
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
",
        // The quotes keep a backslash at its end from continuing the line.
        annals_terminal::line(log).replace('%', "%%"),
        // Variables are not replaced in a program's path, so that `$` stands for itself.
        program.replace('%', "%%"),
        word(log),
    )
}

/// A word as systemd reads it in the arguments of a command line.
fn word(word: &str) -> String {
    let mut quoted = String::from("\"");
    for c in word.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '%' => quoted.push_str("%%"),
            '$' => quoted.push_str("$$"),
            c if c.is_ascii_control() => quoted.push_str(&format!("\\x{:02x}", u32::from(c))),
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
            .hint("`systemctl --user status annals` has the reason of a unit; without a systemd of your own, run `annals service serve --record-only` another way")
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
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_unit_names_the_program_and_the_log() {
        let unit = unit("/opt/a b/$5/50%/annals", "/home/a/100%/it's \"$x\"");
        let expected = r#"ExecStart="/opt/a b/$5/50%%/annals" --log "/home/a/100%%/it's \"$$x\"" service serve --record-only"#;
        assert!(unit.lines().any(|line| line == expected), "{unit}");
        assert_eq!(word("a\nb\r"), "\"a\\x0ab\\x0d\"");
    }

    #[test]
    fn no_path_adds_or_continues_a_line() {
        let plain = unit("/opt/annals", "/home/a/.annals").lines().count();
        for log in [
            "/a\n[Service]\nExecStart=/bin/false",
            "/a\rb",
            "/a\\",
            "/a\\\n",
        ] {
            let unit = unit("/opt/annals", log);
            assert_eq!(unit.lines().count(), plain, "{unit}");
            assert!(!unit.contains('\r'), "{unit}");
            assert!(!unit.lines().any(|line| line.ends_with('\\')), "{unit}");
        }
    }

    #[test]
    fn paths_that_systemd_refuses_are_refused() {
        for program in [
            "/o'b/annals",
            "/a\"b/annals",
            "/a\\b/annals",
            "/a\nb/annals",
        ] {
            let error = executable(program.to_owned()).unwrap_err();
            assert_eq!(error.code(), "path_refused", "{program:?}");
        }
        for program in ["/opt/a b/annals", "/opt/$x/50%/annals", "/opt/é=1/annals"] {
            assert_eq!(executable(program.to_owned()).unwrap(), program);
        }
    }
}
