//! Files next to the tests, and how they are updated.

use std::path::{Path, PathBuf};

/// This crate's folder. It is read from the environment when the tests run: checkouts that share
/// a target folder share this program, too.
fn crate_folder() -> PathBuf {
    std::env::var_os("CARGO_MANIFEST_DIR")
        .expect("cargo says where the crate is")
        .into()
}

/// The folder of the golden files.
pub fn golden_folder() -> PathBuf {
    crate_folder().join("tests/golden")
}

/// A file of the workspace's root.
pub fn workspace_file(name: &str) -> PathBuf {
    crate_folder().join("../..").join(name)
}

/// Whether missing goldens and generated pages are to be written. A golden
/// that is there is never written again.
pub fn updating() -> bool {
    std::env::var_os("UPDATE_GOLDENS").is_some_and(|value| value == "1")
}

/// Bytes as hex digits, 32 bytes a line.
pub fn to_hex(bytes: &[u8]) -> String {
    let line = |chunk: &[u8]| {
        chunk
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    bytes.chunks(32).map(|chunk| line(chunk) + "\n").collect()
}

/// The bytes of [`to_hex`].
pub fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| u8::try_from(c.to_digit(16).expect("a hex digit")).expect("below 16"))
        .collect();
    assert!(digits.len().is_multiple_of(2), "half a byte at the end");
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}

/// The contents of a text file.
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Writes a text file.
pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}
