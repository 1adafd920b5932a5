//! What the counts depend on apart from our code: who made the program, the C library that it
//! calls, and the valgrind that says what the processor can do.

use std::fmt;
use std::process::Command;

use serde::{Deserialize, Serialize};

/// The tools that a count was made with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// The compiler and what it compiles for.
    pub rustc: String,
    /// The C library, whose `malloc` and `memcpy` are counted.
    pub libc: String,
    /// valgrind, which has instructions of its own choice run where a library asks the
    /// processor what it can do.
    pub valgrind: String,
}

/// A tool that is not here, or did not say its version.
#[derive(Debug, thiserror::Error)]
#[error("{tool} does not say its version: {reason}")]
pub struct ToolError {
    tool: String,
    reason: String,
}

/// A tool whose version is another one than the baseline's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The baseline's.
    pub baseline: String,
    /// The one that is here.
    pub here: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} here, {} there", self.here, self.baseline)
    }
}

impl Toolchain {
    /// The tools of this machine.
    ///
    /// # Errors
    /// [`ToolError`].
    pub fn here() -> Result<Toolchain, ToolError> {
        let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        Ok(Toolchain {
            rustc: compiler(&said(&rustc, &["--verbose", "--version"])?),
            libc: libc(),
            valgrind: said("valgrind", &["--version"])?,
        })
    }

    /// What differs from the tools that a baseline was made with.
    pub fn differences(&self, baseline: &Toolchain) -> Vec<Difference> {
        let pairs = [
            (&self.rustc, &baseline.rustc),
            (&self.libc, &baseline.libc),
            (&self.valgrind, &baseline.valgrind),
        ];
        let different = pairs.into_iter().filter(|(here, there)| here != there);
        let difference = |(here, there): (&String, &String)| Difference {
            baseline: there.clone(),
            here: here.clone(),
        };
        different.map(difference).collect()
    }
}

/// The first line of what rustc says of itself, and the line with its host.
fn compiler(text: &str) -> String {
    let version = text.lines().next().unwrap_or_default();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    format!("{version} for {}", host.unwrap_or("an unknown host"))
}

/// glibc says its version this way; other libraries are distinguished by the compiler's host.
fn libc() -> String {
    said("getconf", &["GNU_LIBC_VERSION"]).unwrap_or_else(|_| "no glibc".to_owned())
}

fn said(tool: &str, arguments: &[&str]) -> Result<String, ToolError> {
    let failed = |reason: String| ToolError {
        tool: tool.to_owned(),
        reason,
    };
    let output = Command::new(tool).args(arguments).output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(output.status.to_string()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn toolchain(rustc: &str) -> Toolchain {
        Toolchain {
            rustc: format!("rustc {rustc}"),
            libc: "glibc 2.36".to_owned(),
            valgrind: "valgrind-3.19.0".to_owned(),
        }
    }

    #[test]
    fn the_compiler_is_its_version_and_its_host() {
        let text = "rustc 1.95.0 (59807616e 2026-04-14)\nbinary: rustc\nhost: x86_64-unknown-linux-gnu\nrelease: 1.95.0\n";
        assert_eq!(
            compiler(text),
            "rustc 1.95.0 (59807616e 2026-04-14) for x86_64-unknown-linux-gnu"
        );
    }

    #[test]
    fn what_differs_is_named_and_nothing_else() {
        let (here, there) = (toolchain("1.96.0"), toolchain("1.95.0"));
        assert_eq!(here.differences(&here), []);
        let said: Vec<String> = here
            .differences(&there)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(said, ["rustc 1.96.0 here, rustc 1.95.0 there"]);
    }

    #[test]
    fn a_tool_that_is_not_there_is_named() {
        let error = said("annals-no-such-tool", &[]).unwrap_err().to_string();
        assert!(error.starts_with("annals-no-such-tool does not"), "{error}");
    }
}
