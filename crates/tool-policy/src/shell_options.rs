//! Options of the shell's own commands: those by which a command changes nothing but the shell, and how the shell reads
//! commands stays as it was.
//!
//! These are lists of what is plain. Of an option that is not in them a person is asked.

use crate::shell::word::Word;

/// Letters of `set`. Not among them are `-k`, which makes variables of arguments, and `-H`, which replaces `!`.
const LETTERS: &str = "abefhmnoptuvxBCEPT";

/// Names of `set -o`. Not among them are `keyword`, `histexpand` and `history`, for the same reasons.
const NAMES: [&str; 20] = [
    "allexport",
    "braceexpand",
    "errexit",
    "errtrace",
    "functrace",
    "hashall",
    "ignoreeof",
    "interactive-comments",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "notify",
    "nounset",
    "onecmd",
    "physical",
    "pipefail",
    "privileged",
    "verbose",
    "xtrace",
];

/// Names of `shopt`. Not among them are `extglob`, which makes patterns of subshells, and `expand_aliases`.
const SHOPT: [&str; 10] = [
    "checkwinsize",
    "dotglob",
    "failglob",
    "globstar",
    "inherit_errexit",
    "lastpipe",
    "nocaseglob",
    "nocasematch",
    "nullglob",
    "xpg_echo",
];

/// Returns `true` if all words are options of these letters, and known.
pub(crate) fn have_only(options: &[Word], letters: &str) -> bool {
    options.iter().all(|word| {
        let text = word.text.as_deref().unwrap_or_default();
        text == "--" || is_group(text, letters)
    })
}

fn is_group(text: &str, letters: &str) -> bool {
    let group = text.strip_prefix(['-', '+']).unwrap_or_default();
    !group.is_empty() && group.chars().all(|c| letters.contains(c))
}

/// Returns `true` if `hash`, `set` or `shopt` only does with these words what changes nothing but the shell.
pub(crate) fn are_plain(program: &str, args: &[Word]) -> bool {
    match program {
        "hash" => hash(args),
        "set" => set(args),
        _ => shopt(args),
    }
}

/// `hash -p FILE NAME` says which program a name is, and so does zsh's `hash NAME=FILE`.
fn hash(args: &[Word]) -> bool {
    args.iter().all(|word| match word.text.as_deref() {
        Some(text) if text.starts_with('-') => is_group(text, "lrdt"),
        Some(text) => !text.contains('='),
        None => false,
    })
}

fn set(args: &[Word]) -> bool {
    let mut words = args.iter();
    while let Some(word) = words.next() {
        match word.text.as_deref() {
            None => return false,
            // The others are parameters.
            Some("--" | "-" | "") => return true,
            Some(text) if !text.starts_with(['-', '+']) => return true,
            Some(text) if !is_group(text, LETTERS) => return false,
            Some(text) => {
                let mut names = words.by_ref().take(text.matches('o').count());
                if !names.all(|name| is_named(name, &NAMES)) {
                    return false;
                }
            }
        }
    }
    true
}

fn shopt(args: &[Word]) -> bool {
    let is_option = |word: &&Word| word.text.as_deref().is_none_or(|it| it.starts_with('-'));
    let (options, names): (Vec<&Word>, Vec<&Word>) = args.iter().partition(is_option);
    let are_options = options
        .iter()
        .all(|word| is_group(word.text.as_deref().unwrap_or_default(), "pqsuo"));
    let changes = options.iter().any(|word| word.shown().contains(['s', 'u']));
    let is_known = |name: &&Word| is_named(name, &SHOPT) || is_named(name, &NAMES);
    are_options && (!changes || names.iter().all(is_known))
}

fn is_named(word: &Word, names: &[&str]) -> bool {
    word.text.as_deref().is_some_and(|it| names.contains(&it))
}

/// Returns `true` if a shell reads commands in the usual way that is started with a group of options, whose names these
/// words are.
pub(crate) fn are_read(group: &str, names: &[Word]) -> bool {
    let is_known = |name: &Word| is_named(name, &NAMES) || is_named(name, &SHOPT);
    !group.contains(['k', 'H']) && names.iter().all(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_options_change_nothing_but_the_shell() {
        for (command, expected) in [
            ("set", true),
            ("set -euo pipefail", true),
            ("set -e +x", true),
            ("set -o errexit -o nounset", true),
            ("set -o", true),
            ("set -- -k x", true),
            ("set a -k", true),
            ("set -k", false),
            ("set -ek", false),
            ("set -H", false),
            ("set -o keyword", false),
            ("set -eo history", false),
            ("set -A x", false),
            ("shopt", true),
            ("shopt extglob", true),
            ("shopt -s nullglob globstar", true),
            ("shopt -so pipefail", true),
            ("shopt -s extglob", false),
            ("shopt -so keyword", false),
            ("shopt -s cdable_vars", false),
            ("shopt -s expand_aliases", false),
            ("hash", true),
            ("hash -r", true),
            ("hash ls", true),
            ("hash -p x ls", false),
            ("hash -lp x ls", false),
            ("hash ls=x", false),
        ] {
            let mut words = command.split(' ').map(Word::known);
            let program = words.next().expect("there is a program").raw;
            let args: Vec<Word> = words.collect();
            assert_eq!(are_plain(&program, &args), expected, "{command}");
        }
    }

    #[test]
    fn what_is_only_known_at_run_time_may_be_any_option() {
        let unknown = [Word::unknown("$X")];
        for program in ["hash", "set", "shopt"] {
            assert!(!are_plain(program, &unknown), "{program}");
        }
        assert!(!have_only(&unknown, "a"));
        assert!(have_only(&[Word::known("-ab"), Word::known("--")], "ab"));
    }
}
