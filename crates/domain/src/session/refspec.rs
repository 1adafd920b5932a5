//! Which branch a push changes, by the text that names it, read as git reads it.
//!
//! `git push REMOTE TEXT` takes a refspec: `+` to force, a source, a colon and a destination. Rules
//! are about the destination. What this does not understand may be any branch, so that whoever
//! judges it has to take it for a protected one.

/// What a push changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Target<'a> {
    /// The reference of this name, in the short or the full form.
    Ref(&'a str),
    /// The branch that the repository is on.
    Head,
    /// It cannot be known from the text: a pattern, an option, several branches, or no name.
    Unknown,
}

/// What a push of this text changes.
pub(super) fn target(text: &str) -> Target<'_> {
    let spec = text.strip_prefix('+').unwrap_or(text);
    let destination = match spec.split_once(':') {
        // Without a source it is deleted.
        Some((_, destination)) => destination,
        None if matches!(spec, "HEAD" | "@") => return Target::Head,
        None => spec,
    };
    match is_ref_name(destination) {
        true => Target::Ref(destination),
        false => Target::Unknown,
    }
}

/// Whether a text can name a reference, by the rules of `git check-ref-format`, and is neither an
/// option nor one of the names that git keeps for itself.
fn is_ref_name(name: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && !part.ends_with('.')
            && !part.ends_with(".lock")
    };
    let is_bad = |c: char| c.is_control() || c.is_whitespace() || "~^:?*[\\".contains(c);
    let is_own = matches!(
        name,
        "HEAD" | "@" | "FETCH_HEAD" | "ORIG_HEAD" | "MERGE_HEAD"
    );
    !is_own
        && !name.starts_with(['-', '+'])
        && !name.contains(is_bad)
        && !name.contains("..")
        && !name.contains("@{")
        && name.split('/').all(is_part)
}

/// Whether a reference may be a branch. A short name may stand for it in several ways: git takes
/// `heads/main` for the branch `main` where there is one, and else for `heads/main`.
pub(super) fn may_be(reference: &str, branch: &str) -> bool {
    let full = |name: &str| match name.starts_with("refs/") {
        true => name.to_owned(),
        false => format!("refs/heads/{name}"),
    };
    let short = |name: &str| {
        name.strip_prefix("heads/")
            .map(|name| format!("refs/heads/{name}"))
    };
    let readings = |name: &str| [Some(full(name)), short(name)];
    let branches = readings(branch);
    readings(reference)
        .iter()
        .flatten()
        .any(|reading| branches.iter().flatten().any(|branch| branch == reading))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_push_changes_its_destination() {
        for (text, destination) in [
            ("main", "main"),
            ("+main", "main"),
            ("HEAD:main", "main"),
            ("main:main", "main"),
            ("+topic:refs/heads/main", "refs/heads/main"),
            (":main", "main"),
            ("main~3:topic/one", "topic/one"),
            ("HEAD:refs/for/main", "refs/for/main"),
        ] {
            assert_eq!(target(text), Target::Ref(destination), "{text}");
        }
        for text in ["HEAD", "@", "+HEAD"] {
            assert_eq!(target(text), Target::Head, "{text}");
        }
    }

    #[test]
    fn what_is_not_understood_is_not_taken_for_a_name() {
        for text in [
            "",
            "+",
            ":",
            "+:",
            "main:",
            "--all",
            "--mirror",
            "-f",
            "--delete",
            "main topic",
            "a:b:c",
            "refs/heads/*:refs/heads/*",
            "refs/heads/*",
            "^main",
            "main~1",
            "main^{}",
            "main@{u}",
            "tag v1",
            "a..b",
            "/main",
            "main/",
            "a//b",
            ".main",
            "main.lock",
            "main\n",
            "ma\\in",
            "topic:HEAD",
            "topic:@",
            "++main",
            "topic:+main",
            "topic:-d",
            "\u{a0}main",
        ] {
            assert_eq!(target(text), Target::Unknown, "{text:?}");
        }
    }

    #[test]
    fn a_branch_has_several_names() {
        for name in ["main", "heads/main", "refs/heads/main"] {
            for branch in ["main", "heads/main", "refs/heads/main"] {
                assert!(may_be(name, branch), "{name} {branch}");
            }
        }
        for name in [
            "refs/tags/main",
            "tags/main",
            "refs/for/main",
            "mains",
            "origin/main",
            "refs/main",
        ] {
            assert!(!may_be(name, "main"), "{name}");
        }
    }
}
