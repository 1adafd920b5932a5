//! `docs/secrets.md` has the table of the standard set.

use annals_dialects::secrets::Secrets;

#[test]
fn the_table_is_that_of_the_code() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/secrets.md");
    let text = std::fs::read_to_string(path).unwrap();
    let rows: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    let row = |kind: annals_dialects::secrets::SecretKind| {
        format!("| `{}` | {} |", kind.kind, kind.matches)
    };
    let expected: Vec<String> = Secrets::standard().kinds().into_iter().map(row).collect();
    assert_eq!(
        rows.join("\n"),
        expected.join("\n"),
        "docs/secrets.md must have the second table"
    );
}
