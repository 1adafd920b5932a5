//! Which branch a push changes and what it pushes, by the text that names it, read as git reads it.
//!
//! `git push REMOTE TEXT` takes a refspec: `+` to force, a source, a colon and a destination. Branches
//! are protected as destinations, and tests count for sources. What this does not understand may be
//! any branch, so that the gate has to treat it as a protected one, and as one without tests.

use std::borrow::Cow;

use crate::folding::skeleton;
use crate::input::{glob, glob_covers, is_invisible, without_look_alikes};

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

/// What a push sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// The branch of this name, in the short or the full form.
    Branch(&'a str),
    /// What is checked out.
    Head,
    /// Nothing: the destination is deleted.
    Nothing,
    /// It cannot be known from the text: a commit, a tag, a pattern, several branches.
    Unknown,
}

/// What a push of this text sends.
pub(super) fn source(text: &str) -> Source<'_> {
    let spec = text.strip_prefix('+').unwrap_or(text);
    let source = match spec.split_once(':') {
        Some(("", destination)) if is_ref_name(destination) => return Source::Nothing,
        Some((source, _)) => source,
        None => spec,
    };
    match source {
        "HEAD" | "@" => Source::Head,
        name if is_branch(name) => Source::Branch(name),
        _ => Source::Unknown,
    }
}

/// Whether a text can name a branch that a repository is on: `HEAD` does not name one, with a hash or
/// a tag the repository is on none, and what is fetched from elsewhere is not a branch of it.
pub(super) fn is_branch(name: &str) -> bool {
    let own = name.strip_prefix("refs/heads/");
    let short = own.unwrap_or(name);
    let is_hash = matches!(short.len(), 40 | 64) && short.bytes().all(|c| c.is_ascii_hexdigit());
    let is_another = || {
        let others = ["refs/", "tags/", "remotes/"];
        others.iter().any(|other| name.starts_with(other))
    };
    is_ref_name(name) && !is_hash && (own.is_some() || !is_another())
}

/// Whether a push of a name sends this branch, which is there. Where `topic` is, git takes `heads/topic`
/// for it.
pub(super) fn is_pushed_as(branch: &str, name: &str) -> bool {
    let short = name.strip_prefix("heads/");
    full(branch) == full(name) || short.is_some_and(|short| full(branch) == full(short))
}

/// The full name of a branch.
fn full(name: &str) -> Cow<'_, str> {
    match name.starts_with("refs/") {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("refs/heads/{name}")),
    }
}

/// Whether a text can name a reference, by the rules of `git check-ref-format`, and is neither an
/// option nor one of the names that git keeps for itself.
pub(super) fn is_ref_name(name: &str) -> bool {
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

/// Whether a pattern of protected branches matches a reference: `*` stands for any characters, `/` included, and `?` for
/// one. A short name may stand for a branch in several ways: git takes `heads/main` for the branch `main` where there is
/// one, and else for `heads/main`. A branch of a remote protects the branch that is pushed to there. A name with letters
/// that look like those of a protected one is protected, too.
pub(super) fn protects(pattern: &str, reference: &str) -> bool {
    let is_ascii = pattern.is_ascii() && reference.is_ascii();
    matches(pattern, reference) || (!is_ascii && matches(&skeleton(pattern), &skeleton(reference)))
}

/// Whether a pattern matches one of the names that a reference may stand for.
fn matches(pattern: &str, reference: &str) -> bool {
    let patterns = readings(pattern);
    let [whole, short, _] = readings(reference);
    [whole, short].iter().flatten().any(|reading| {
        patterns
            .iter()
            .flatten()
            .any(|pattern| glob(pattern, reading))
    })
}

/// Whether a pattern of protected branches protects all that another one does, for sure: each reading of that one is
/// covered by a reading of this one.
pub(super) fn covers(pattern: &str, other: &str) -> bool {
    if pattern == other {
        return true;
    }
    let own = readings(pattern);
    let mut others = readings(other).into_iter().flatten();
    others.all(|other| own.iter().flatten().any(|own| glob_covers(own, &other)))
}

/// The full names that a pattern may stand for.
fn readings(pattern: &str) -> [Option<Cow<'_, str>>; 3] {
    let name = pattern.trim();
    let short = name.strip_prefix("heads/");
    let there = of_a_remote(name).filter(|name| !name.is_empty());
    [Some(full(name)), short.map(full), there.map(full)]
}

/// The name that a branch has at its remote, where a text names one as `git fetch` does.
fn of_a_remote(name: &str) -> Option<&str> {
    let tracked = name.strip_prefix("refs/remotes/");
    if let Some(tracked) = tracked.or_else(|| name.strip_prefix("remotes/")) {
        return Some(tracked.split_once('/').map_or("", |(_, branch)| branch));
    }
    let mut remotes = ["origin/", "upstream/"].iter();
    remotes.find_map(|remote| name.strip_prefix(remote))
}

/// Why a text is no pattern of branches, if so: it would protect nothing.
pub(super) fn pattern_fault(pattern: &str) -> Option<String> {
    let expected = "expected a branch's name, in which * stands for any characters and ? for one";
    let instead = |name: &str| format!("; did you mean {name:?}?");
    if pattern.trim().is_empty() {
        return Some(format!("a blank text protects no branch: {expected}"));
    }
    let trimmed = pattern.trim();
    if trimmed != pattern {
        let hint = instead(trimmed);
        return Some(format!("{pattern:?} has white space around it{hint}"));
    }
    if pattern.starts_with('-') {
        return Some(format!("{pattern:?} is an option of git: {expected}"));
    }
    if let Some(branch) = of_a_remote(pattern) {
        let hint = match branch {
            "" => String::new(),
            branch => instead(branch),
        };
        return Some(format!(
            "{pattern:?} is what a remote's branch is called here, and a push names it as it is called there{hint}"
        ));
    }
    if let Some(meant) = without_look_alikes(pattern) {
        let hint = instead(&meant);
        return Some(format!(
            "{pattern:?} has letters of another script or width that look like others, and names another branch than it shows{hint}"
        ));
    }
    let foreign = |c: char| "[]{}|;,!\"'$()<>".contains(c) || is_invisible(c);
    let filled = pattern.replace(['*', '?'], "x");
    let short = filled.strip_prefix("refs/heads/").unwrap_or(&filled);
    let is_name = match short.starts_with("refs/") {
        true => is_ref_name(short),
        false => is_branch(short),
    };
    if pattern.contains(foreign) || !is_name {
        return Some(format!(
            "{pattern:?} matches no branch that git allows: {expected}"
        ));
    }
    None
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
    fn a_push_sends_its_source() {
        for (text, source_of) in [
            ("main", Source::Branch("main")),
            ("+main", Source::Branch("main")),
            ("x:topic", Source::Branch("x")),
            ("+refs/heads/x:topic", Source::Branch("refs/heads/x")),
            ("HEAD", Source::Head),
            ("@:topic", Source::Head),
            ("+HEAD:topic", Source::Head),
            (":topic", Source::Nothing),
        ] {
            assert_eq!(source(text), source_of, "{text}");
        }
        for text in [
            "",
            ":",
            "--all",
            "HEAD~1:topic",
            "refs/tags/v1:topic",
            "refs/heads/*:refs/heads/*",
            "0123456789012345678901234567890123456789:topic",
        ] {
            assert_eq!(source(text), Source::Unknown, "{text:?}");
        }
    }

    #[test]
    fn a_repository_is_on_a_branch_or_on_none() {
        let sha256 = "ab".repeat(32);
        for name in [
            "main",
            "refs/heads/main",
            "heads/main",
            "feature/tags/1",
            "deadbeef",
        ] {
            assert!(is_branch(name), "{name}");
        }
        for name in [
            "HEAD",
            "@",
            "refs/tags/v1",
            "tags/v1",
            "refs/remotes/origin/main",
            "remotes/origin/main",
            "refs/main",
            "0123456789abcdefABCDEF0123456789abcdef01",
            "refs/heads/0123456789abcdef0123456789abcdef01234567",
            sha256.as_str(),
            "(HEAD detached at 0123456)",
            "",
        ] {
            assert!(!is_branch(name), "{name}");
        }
    }

    #[test]
    fn a_branch_has_several_names() {
        for name in ["main", "heads/main", "refs/heads/main"] {
            for branch in [
                "main",
                "heads/main",
                "refs/heads/main",
                "*",
                "ma?n",
                "m*",
                "main ",
                "origin/main",
            ] {
                assert!(protects(branch, name), "{name} {branch}");
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
            assert!(!protects("main", name), "{name}");
        }
    }

    #[test]
    fn a_pattern_protects_the_branches_that_it_matches() {
        for (pattern, name) in [
            ("release/*", "release/1.2"),
            ("release/*", "refs/heads/release/1/2"),
            ("refs/heads/release/*", "release/1"),
            ("*", "topic"),
            ("*-stable", "2.1-stable"),
            ("refs/tags/*", "refs/tags/v1"),
        ] {
            assert!(protects(pattern, name), "{pattern} {name}");
            assert_eq!(pattern_fault(pattern), None, "{pattern}");
        }
        for (pattern, name) in [
            ("release/*", "release"),
            ("release/*", "prerelease/1"),
            ("*", "refs/tags/v1"),
        ] {
            assert!(!protects(pattern, name), "{pattern} {name}");
        }
    }

    #[test]
    fn a_name_that_looks_like_a_protected_one_is_protected() {
        for (pattern, name) in [
            ("main", "mаin"),
            ("main", "refs/heads/mаіn"),
            ("main", "ｍａｉｎ"),
            ("release/*", "rеlеаsе/1"),
            ("ma?n", "mаin"),
            // One of a session that was created before such patterns were refused.
            ("mаin", "main"),
        ] {
            assert!(protects(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("main", "größe"),
            ("main", "mаins"),
            ("release/l", "release/1"),
        ] {
            assert!(!protects(pattern, name), "{pattern} {name}");
        }
        for pattern in ["größe", "релиз/*", "発行"] {
            assert_eq!(pattern_fault(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn a_text_that_protects_nothing_is_no_pattern() {
        for pattern in [
            "",
            " ",
            "main ",
            " main",
            "\tmain",
            "--all",
            "-f",
            "origin/main",
            "upstream/release/*",
            "refs/remotes/origin/main",
            "remotes/fork/main",
            "remotes/x",
            "main:main",
            "+main",
            "HEAD",
            "@",
            "main..dev",
            "release/",
            "/main",
            "a b",
            "^main",
            "main$",
            "(main|dev)",
            "{main,dev}",
            "release/[0-9]",
            "main,dev",
            "!main",
            "main\u{200b}",
            "mаin",
            "release/mаin*",
            "ｍａｉｎ",
            "main~1",
            "tags/v1",
        ] {
            assert!(pattern_fault(pattern).is_some(), "{pattern:?}");
        }
        let fault = pattern_fault("origin/main").unwrap_or_default();
        assert!(fault.contains("did you mean \"main\"?"), "{fault}");
        let fault = pattern_fault("mаin").unwrap_or_default();
        assert!(fault.contains("did you mean \"main\"?"), "{fault}");
    }

    #[test]
    fn a_pattern_covers_another_one_if_it_matches_all_that_that_one_does() {
        for (pattern, other) in [
            ("main", "main"),
            ("release/*", "release/*"),
            ("*", "release/*"),
            ("release/*", "release/?"),
            ("release/*", "release/v*"),
            ("release/*", "release/*/x"),
            ("r*", "release/*"),
            ("release/??", "release/v?"),
            ("refs/heads/main", "main"),
            ("heads/main", "main"),
            ("a*b*", "a*b"),
        ] {
            assert!(covers(pattern, other), "{pattern} {other}");
        }
        for (pattern, other) in [
            ("release/?", "release/*"),
            ("?", "*"),
            ("?main", "*main"),
            ("a?b?", "a*b*"),
            ("a?b*", "a*b*"),
            ("release/v*", "release/*"),
            ("main", "ma?n"),
            ("main", "heads/main"),
            ("refs/tags/*", "*"),
        ] {
            assert!(!covers(pattern, other), "{pattern} {other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_covered_is_protected(pattern in "[ab*?]{1,5}", other in "[ab*?]{1,5}", name in "[ab]{1,5}") {
            if covers(&pattern, &other) && protects(&other, &name) {
                proptest::prop_assert!(protects(&pattern, &name), "{} {} {}", pattern, other, name);
            }
        }
    }
}
