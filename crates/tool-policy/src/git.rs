//! Commands of git: which subcommand it is, and which branches it changes.

use crate::part::{Kind, Part, Resource, Type};
use crate::programs::{self, FileUse, Given};
use crate::shell::word::Word;
use crate::simple;

/// A command of git.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Git {
    /// The subcommand, if it is known.
    pub(crate) subcommand: Option<String>,
    /// The words behind it.
    pub(crate) rest: Vec<Word>,
    /// The folders that it changes to first.
    pub(crate) dirs: Vec<Word>,
    /// The folders that it takes for the work tree.
    trees: Vec<Word>,
    /// Why it cannot be told what it runs.
    pub(crate) unsure: Option<String>,
    /// Whether it works on a repository that is elsewhere.
    pub(crate) is_elsewhere: bool,
}

/// Settings that only change how things look, and who made them.
const HARMLESS: [&str; 11] = [
    "advice.",
    "color.",
    "column.",
    "user.",
    "core.quotepath",
    "init.defaultbranch",
    "log.",
    "pull.ff",
    "commit.gpgsign",
    "status.",
    "safe.directory",
];

const SUBCOMMANDS: [&str; 116] = [
    "add",
    "am",
    "annotate",
    "apply",
    "archive",
    "bisect",
    "blame",
    "branch",
    "bundle",
    "cat-file",
    "check-attr",
    "check-ignore",
    "check-mailmap",
    "check-ref-format",
    "checkout",
    "checkout-index",
    "cherry",
    "cherry-pick",
    "citool",
    "clean",
    "clone",
    "column",
    "commit",
    "commit-graph",
    "commit-tree",
    "config",
    "count-objects",
    "credential",
    "daemon",
    "describe",
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "difftool",
    "fast-export",
    "fast-import",
    "fetch",
    "fetch-pack",
    "filter-branch",
    "for-each-ref",
    "for-each-repo",
    "format-patch",
    "fsck",
    "gc",
    "get-tar-commit-id",
    "grep",
    "gui",
    "hash-object",
    "help",
    "hook",
    "http-fetch",
    "http-push",
    "index-pack",
    "init",
    "interpret-trailers",
    "log",
    "ls-files",
    "ls-remote",
    "ls-tree",
    "mailinfo",
    "mailsplit",
    "maintenance",
    "merge",
    "merge-base",
    "merge-file",
    "merge-index",
    "merge-tree",
    "mergetool",
    "mktag",
    "mktree",
    "multi-pack-index",
    "mv",
    "name-rev",
    "notes",
    "pack-objects",
    "pack-refs",
    "patch-id",
    "prune",
    "pull",
    "push",
    "range-diff",
    "read-tree",
    "rebase",
    "reflog",
    "remote",
    "repack",
    "replace",
    "request-pull",
    "rerere",
    "reset",
    "restore",
    "rev-list",
    "rev-parse",
    "revert",
    "rm",
    "send-email",
    "send-pack",
    "shortlog",
    "show",
    "show-branch",
    "show-ref",
    "sparse-checkout",
    "stash",
    "status",
    "stripspace",
    "submodule",
    "switch",
    "symbolic-ref",
    "tag",
    "unpack-objects",
    "update-index",
    "update-ref",
    "var",
    "version",
    "worktree",
];

/// Options of subcommands with the name of a program, or of a folder with programs: which subcommands,
/// the names, and the letters.
type Running = (
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);
const RUNNING: [Running; 6] = [
    (
        &["fetch", "pull", "ls-remote", "fetch-pack", "archive"],
        &["upload-pack", "exec"],
        "",
    ),
    (&["clone"], &["upload-pack", "template", "config"], "uc"),
    (&["grep"], &["open-files-in-pager"], "O"),
    (&["init"], &["template"], ""),
    (
        &["push", "send-pack", "http-push"],
        &["receive-pack", "exec"],
        "",
    ),
    (&["rebase"], &["exec"], "x"),
];

/// Options by which a subcommand writes a file, or a folder: which subcommands (none: all of them), the names, and the
/// letters.
const WRITING: [Running; 6] = [
    (&[], &["output", "output-directory"], ""),
    (
        &["archive", "format-patch", "index-pack", "mailsplit"],
        &[],
        "o",
    ),
    (&["checkout-index"], &["prefix"], ""),
    (&["clone", "init"], &["separate-git-dir"], ""),
    (&["fast-export", "fast-import"], &["export-marks"], ""),
    (&["read-tree"], &["index-output"], ""),
];

/// Whether a word is such an option.
fn runs_by(word: &Word, long: &[&str], short: &str) -> bool {
    let text = word.shown();
    match text.strip_prefix("--") {
        Some(option) => {
            let name = option.split('=').next().unwrap_or_default();
            // git takes the beginning of an option for all of it.
            name.len() > 1 && long.iter().any(|long| long.starts_with(name))
        }
        None => text.starts_with('-') && text.contains(|c: char| short.contains(c)),
    }
}

/// Reads the words behind `git`.
pub(crate) fn read(args: &[Word]) -> Git {
    let mut git = Git::default();
    let mut at = 0;
    while let Some(word) = args.get(at) {
        at += 1;
        let Some(text) = word.text.as_deref() else {
            git.doubt("which subcommand of git runs is only known at run time");
            return git;
        };
        if !text.starts_with('-') {
            git.name(text);
            git.rest = args.get(at..).unwrap_or_default().to_vec();
            git.look_at_rest();
            return git;
        }
        let value = args.get(at);
        match text {
            "-C" => {
                git.dirs.extend(value.cloned());
                at += 1;
            }
            "-c" => {
                git.setting(value);
                at += 1;
            }
            "--work-tree" => {
                git.is_elsewhere = true;
                git.trees.extend(value.cloned());
                at += 1;
            }
            "--git-dir" | "--namespace" | "--super-prefix" => {
                git.is_elsewhere = true;
                at += 1;
            }
            "--config-env" | "--exec-path" => {
                git.doubt("an option of git names what it runs");
                at += usize::from(text == "--config-env");
            }
            text if text.starts_with("--git-dir=") || text.starts_with("--work-tree=") => {
                git.is_elsewhere = true;
                let tree = text.strip_prefix("--work-tree=");
                git.trees.extend(tree.map(Word::known));
            }
            text if text.starts_with("--exec-path=") || text.starts_with("--config-env=") => {
                git.doubt("an option of git names what it runs");
            }
            _ => {}
        }
    }
    // Only options: help, or the version.
    git.subcommand = Some(String::new());
    git
}

/// Whether git has a command of this name.
pub(crate) fn is_subcommand(name: &str) -> bool {
    SUBCOMMANDS.contains(&name)
}

impl Git {
    /// The files that it is given, and what it does with them.
    pub(crate) fn files(&self) -> Vec<FileUse> {
        let mentioned = |word: Word| (Kind::Mention, word);
        let mut found: Vec<FileUse> = self.trees.iter().cloned().map(mentioned).collect();
        let (mut at, mut only_operands) = (0, false);
        while let Some(word) = self.rest.get(at) {
            at += 1;
            let text = word.shown();
            let is_option = text.starts_with('-') && text.len() > 1 && !only_operands;
            only_operands |= text == "--";
            let written = self.written_by(text).filter(|_| is_option);
            match written {
                Some(Given::Here(value)) => {
                    found.push((Kind::Edit, programs::part_of(word, value)));
                }
                Some(Given::Next) => {
                    found.extend(self.rest.get(at).map(|next| (Kind::Edit, next.clone())));
                    at += 1;
                }
                None if is_option && word.text.is_some() => {
                    let values: Vec<Word> = programs::values_of(word).collect();
                    let pieces = values.iter().flat_map(programs::pieces);
                    let revised = values.iter().map(simple::revised);
                    found.extend(pieces.chain(revised).map(mentioned));
                }
                None => found.push(mentioned(simple::revised(word))),
            }
        }
        found.extend(self.writes().map(|word| (Kind::Edit, word)));
        let reads_names = |word: &Word| {
            let name = word.shown().split('=').next().unwrap_or_default();
            let long = ["--pathspec-from-file", "--stdin", "--stdin-paths"];
            let is_begun = name.len() > 4 && long.iter().any(|it| it.starts_with(name));
            is_begun || name.starts_with("--batch")
        };
        if self.rest.iter().any(reads_names) {
            found.push((Kind::Mention, Word::unknown("(what a list names)")));
        }
        found
    }

    /// Where the value is of an option that has it write a file.
    fn written_by<'a>(&self, option: &'a str) -> Option<Given<'a>> {
        let name = self.subcommand.as_deref()?;
        WRITING.iter().find_map(|(subcommands, long, short)| {
            let is_of_it = subcommands.is_empty() || subcommands.contains(&name);
            let letters: Vec<char> = short.chars().collect();
            programs::value_of(option, &letters, long).filter(|_| is_of_it)
        })
    }

    /// Files that it writes, whose names its arguments do not say.
    fn writes(&self) -> Option<Word> {
        let name = self.subcommand.as_deref()?;
        let only_looks = |word: &Word| {
            matches!(
                word.shown(),
                "--stat" | "--numstat" | "--summary" | "--check"
            )
        };
        let writes = match name {
            "apply" => !self.rest.iter().any(only_looks),
            "am" => true,
            _ => false,
        };
        writes.then(|| Word::unknown("(what a patch changes)"))
    }

    /// Whether another branch may be checked out behind it.
    pub(crate) fn may_switch(&self) -> bool {
        match self.subcommand.as_deref() {
            Some("bisect" | "checkout" | "switch") => true,
            Some("rebase") => !rebased(&self.rest).is_empty(),
            Some("stash") => self.rest.iter().any(|word| word.shown() == "branch"),
            _ => false,
        }
    }

    fn doubt(&mut self, reason: impl Into<String>) {
        self.unsure.get_or_insert_with(|| reason.into());
    }

    fn name(&mut self, name: &str) {
        if !SUBCOMMANDS.contains(&name) {
            self.doubt(format!(
                "git has no command {name}, and an alias can run anything"
            ));
        }
        self.subcommand = Some(name.to_owned());
    }

    /// What options and operands of a subcommand have it run, or write.
    fn look_at_rest(&mut self) {
        let name = self.subcommand.clone().unwrap_or_default();
        let given = arguments(&self.rest, &[]);
        let first = given.operands.first().map_or("", |word| word.shown());
        let runs = match name.as_str() {
            "submodule" => first == "foreach",
            "bisect" => first == "run",
            "filter-branch" | "for-each-repo" | "mergetool" | "difftool" | "gui" | "citool"
            | "hook" | "instaweb" | "send-email" | "daemon" => true,
            "maintenance" => matches!(first, "start" | "register" | "run"),
            _ => false,
        };
        let found = RUNNING
            .iter()
            .find(|(names, _, _)| names.contains(&name.as_str()));
        let (_, long, short) = found.copied().unwrap_or_default();
        let has_option = self.rest.iter().any(|word| runs_by(word, long, short));
        if runs || has_option {
            self.doubt(format!("git {name} runs other commands here"));
        }
        if name == "config" {
            self.configures();
        }
    }

    /// `git config` that writes: a setting can decide what runs, and what is pushed.
    fn configures(&mut self) {
        let long = [
            "--file",
            "-f",
            "--blob",
            "--type",
            "--default",
            "--comment",
            "--value",
        ];
        let given = arguments(&self.rest, &long);
        let reads = given.has(
            &[
                "get",
                "list",
                "get-all",
                "get-regexp",
                "get-urlmatch",
                "get-color",
                "get-colorbool",
            ],
            "l",
        );
        let mut names = given.operands.iter().map(|word| word.text.as_deref());
        let first = names.next();
        let is_read = match first {
            None => given.has(&["edit"], "e") == Some(false),
            Some(Some("get" | "list")) => true,
            Some(Some(name)) => {
                given.operands.len() == 1
                    && name.contains('.')
                    && given.has(
                        &[
                            "unset",
                            "add",
                            "replace-all",
                            "edit",
                            "remove-section",
                            "unset-all",
                        ],
                        "e",
                    ) == Some(false)
            }
            Some(None) => false,
        };
        if reads == Some(true) || is_read {
            return;
        }
        let key = match first.flatten() {
            Some("set" | "unset") => names.next().flatten(),
            key => key,
        };
        let key = key.map(str::to_ascii_lowercase).unwrap_or_default();
        if !HARMLESS.iter().any(|it| key.starts_with(it)) {
            self.doubt("git config can change what git runs");
        }
    }

    fn setting(&mut self, value: Option<&Word>) {
        let text = value.and_then(|word| word.text.as_deref());
        let key = text.map(str::to_ascii_lowercase).unwrap_or_default();
        if !HARMLESS.iter().any(|it| key.starts_with(it)) {
            let key = key.split('=').next().unwrap_or_default();
            self.doubt(format!("git -c {key} can change what git runs"));
        }
    }

    /// The branches that it changes; `current` is the one that is checked out, if that is known.
    pub(crate) fn branches(&self, current: Option<&str>) -> Vec<Part> {
        let current = current.filter(|_| !self.is_elsewhere && self.dirs.is_empty());
        let name = self.subcommand.as_deref().unwrap_or("push");
        match name {
            "push" | "send-pack" | "http-push" => pushed(&self.rest, current),
            "commit" | "merge" | "rebase" | "reset" | "cherry-pick" | "revert" | "am" | "pull" => {
                let mut change = Change::of(Kind::Commit);
                change.name = current.map(str::to_owned);
                change.force = Some(matches!(name, "reset" | "rebase"));
                change.deletes = Some(false);
                let mut found = vec![change.part()];
                found.extend(match name {
                    "pull" => fetched(&self.rest),
                    "rebase" => rebased(&self.rest),
                    _ => Vec::new(),
                });
                found
            }
            "worktree" | "stash" => made_with(name, &self.rest),
            "fast-import" => vec![Change::of(Kind::Branch).part()],
            "remote" => mirrored(&self.rest),
            "branch" | "checkout" | "switch" => named(name, &self.rest, current),
            "update-ref" | "symbolic-ref" | "filter-branch" | "replace" => plumbing(&self.rest),
            "fetch" => fetched(&self.rest),
            _ => Vec::new(),
        }
    }
}

/// A branch, and what becomes of it.
struct Change {
    kind: Kind,
    name: Option<String>,
    remote: Option<String>,
    force: Option<bool>,
    deletes: Option<bool>,
}

impl Change {
    fn of(kind: Kind) -> Change {
        Change {
            kind,
            name: None,
            remote: (kind != Kind::Push).then(String::new),
            force: None,
            deletes: None,
        }
    }

    fn part(self) -> Part {
        let id = self
            .name
            .as_deref()
            .unwrap_or("(a branch that is not known)");
        let mut branch = Resource::new(Type::Branch, id, self.name.is_some());
        if let Some(name) = &self.name {
            branch = branch.text("name", name.as_str());
        }
        if let Some(remote) = &self.remote {
            branch = branch.text("remote", remote.as_str());
        }
        if let Some(force) = self.force {
            branch = branch.flag("force", force);
        }
        if let Some(deletes) = self.deletes {
            branch = branch.flag("deletes", deletes);
        }
        Part::new(self.kind, branch)
    }
}

/// The name of a branch, if the text is one and nothing else.
fn branch(text: &str) -> Option<&str> {
    let name = text
        .strip_prefix("refs/")
        .filter(|it| it.starts_with("heads/"));
    let name = name.unwrap_or(text);
    let name = name.strip_prefix("heads/").unwrap_or(name);
    let is_odd = |c: char| c.is_whitespace() || c.is_control() || "~^:?*[\\".contains(c);
    let is_hash = name.len() >= 7 && name.chars().all(|c| c.is_ascii_hexdigit());
    let is_head = matches!(name, "" | "@" | "-") || name.contains("HEAD") || name.contains("@{");
    (!is_head && !is_hash && !name.contains(is_odd) && !name.starts_with('-')).then_some(name)
}

/// The operands of a subcommand, and its options; none of the options, if one is not known.
struct Arguments<'a> {
    operands: Vec<&'a Word>,
    options: Option<Vec<&'a str>>,
}

impl Arguments<'_> {
    /// Whether it has one of these options.
    fn has(&self, long: &[&str], short: &str) -> Option<bool> {
        let is_it = |option: &str| match option.strip_prefix("--") {
            Some(name) => {
                let name = name.split('=').next().unwrap_or_default();
                // git takes the beginning of an option for all of it.
                !name.is_empty() && long.iter().any(|long| long.starts_with(name))
            }
            None => option.chars().skip(1).any(|c| short.contains(c)),
        };
        self.options
            .as_ref()
            .map(|options| options.iter().any(|it| is_it(it)))
    }
}

fn arguments<'a>(words: &'a [Word], with_value: &[&str]) -> Arguments<'a> {
    let (mut operands, mut options) = (Vec::new(), Vec::new());
    let (mut is_known, mut only_operands, mut is_value) = (true, false, false);
    for word in words {
        if std::mem::take(&mut is_value) {
            continue;
        }
        match word.text.as_deref() {
            Some("--") if !only_operands => only_operands = true,
            Some(text) if text.starts_with('-') && text.len() > 1 && !only_operands => {
                is_value = with_value.contains(&text);
                options.push(text);
            }
            // Any option.
            None if !only_operands => {
                is_known = false;
                operands.push(word);
            }
            _ => operands.push(word),
        }
    }
    Arguments {
        operands,
        options: is_known.then_some(options),
    }
}

fn pushed(words: &[Word], current: Option<&str>) -> Vec<Part> {
    let given = arguments(
        words,
        &["-o", "--push-option", "--repo", "--receive-pack", "--exec"],
    );
    let has = |long: &[&str], short| given.has(long, short);
    let forced = has(
        &[
            "force",
            "force-with-lease",
            "force-if-includes",
            "mirror",
            "prune",
        ],
        "f",
    );
    let deleted = has(&["delete", "mirror", "prune"], "d");
    let many = has(
        &["all", "branches", "mirror", "stdin", "tags", "follow-tags"],
        "",
    );
    let mut operands = given.operands.iter();
    let remote = operands.next().map(|word| word.text.clone());
    let change = |name: Option<String>, force: Option<bool>, deletes: Option<bool>| Change {
        kind: Kind::Push,
        name,
        remote: remote.clone().unwrap_or(Some(String::new())),
        force,
        deletes,
    };
    let mut found = Vec::new();
    if many != Some(false) {
        found.push(change(None, forced, deleted).part());
    }
    let mut is_tag = false;
    for word in operands {
        let Some(text) = word.text.as_deref() else {
            found.push(change(None, None, None).part());
            continue;
        };
        if std::mem::take(&mut is_tag) {
            found.push(change(Some(format!("refs/tags/{text}")), forced, deleted).part());
            continue;
        }
        is_tag = text == "tag";
        if is_tag {
            continue;
        }
        let plain = text.trim_start_matches('+');
        let forced = forced.map(|forced| forced || plain.len() < text.len());
        let (source, target) = plain.split_once(':').unwrap_or((plain, plain));
        let deletes = deleted.map(|deleted| deleted || (source.is_empty() && plain != target));
        let is_current = matches!(target, "HEAD" | "@") && !plain.contains(':');
        let name = match is_current {
            true => current,
            false => branch(target),
        };
        found.push(change(name.map(str::to_owned), forced, deletes).part());
    }
    if found.is_empty() {
        // What is pushed is in the settings.
        found.push(change(None, forced, deleted).part());
    }
    found
}

fn named(subcommand: &str, words: &[Word], current: Option<&str>) -> Vec<Part> {
    let given = arguments(
        words,
        &[
            "-u",
            "--set-upstream-to",
            "--format",
            "--sort",
            "--conflict",
        ],
    );
    let is_branch = subcommand == "branch";
    if is_branch && given.has(&["move"], "mM") == Some(true) {
        return renamed(&given, current);
    }
    let deletes = match is_branch {
        true => given.has(&["delete", "move"], "dDmM"),
        false => Some(false),
    };
    let force = match subcommand {
        "branch" => given.has(&["force"], "DMCf"),
        "checkout" => given.has(&[], "B"),
        _ => given.has(&["force-create"], "C"),
    };
    let creates = match subcommand {
        "branch" => given
            .has(&["copy"], "cC")
            .map(|copies| copies || deletes == Some(false)),
        "checkout" => given.has(&["orphan"], "bB"),
        _ => given.has(&["create", "force-create", "orphan"], "cC"),
    };
    let lists = is_branch && lists(&given);
    let tracks = !is_branch && given.has(&["track"], "t") != Some(false);
    if creates == Some(false) && tracks {
        return tracked(&given);
    }
    if lists || (creates == Some(false) && deletes == Some(false)) {
        return Vec::new();
    }
    if let Some(name) = made_by_option(subcommand, words) {
        let change = Change {
            name: branch(name).map(str::to_owned),
            force,
            deletes,
            ..Change::of(Kind::Branch)
        };
        return vec![change.part()];
    }
    // Only the first one is new; all of them are deleted, and of a copy either may be it.
    let copies = is_branch && given.has(&["copy"], "cC") != Some(false);
    let most = if deletes == Some(false) && !copies {
        1
    } else {
        usize::MAX
    };
    let part = |word: &&Word| {
        let name = word.text.as_deref().and_then(branch);
        Change {
            name: name.map(str::to_owned),
            force,
            deletes,
            ..Change::of(Kind::Branch)
        }
        .part()
    };
    given.operands.iter().take(most).map(part).collect()
}

/// Whether `git branch` only lists branches.
fn lists(given: &Arguments<'_>) -> bool {
    // With one of these it does not, whatever else it is given.
    let changes = given.has(&["copy", "delete", "force", "move"], "cCdDfmM");
    let listing = [
        "list",
        "show-current",
        "all",
        "remotes",
        "contains",
        "merged",
    ];
    changes == Some(false) && given.has(&listing, "lar") == Some(true)
}

/// `git branch -m OLD NEW`: the one is gone, and the other is new. Without OLD it is the one that is checked out.
fn renamed(given: &Arguments<'_>, current: Option<&str>) -> Vec<Part> {
    let force = given.has(&["force"], "fM");
    let change = |name: Option<&str>, deletes: bool| {
        let change = Change {
            name: name.map(str::to_owned),
            force,
            deletes: Some(deletes),
            ..Change::of(Kind::Branch)
        };
        change.part()
    };
    let name = |word: &Word| word.text.as_deref().and_then(branch).map(str::to_owned);
    let (old, new) = match given.operands.as_slice() {
        [] => (None, None),
        [new] => (current.map(str::to_owned), name(new)),
        [old, new, ..] => (name(old), name(new)),
    };
    vec![change(old.as_deref(), true), change(new.as_deref(), false)]
}

/// `git checkout --track origin/main` makes the branch `main`.
fn tracked(given: &Arguments<'_>) -> Vec<Part> {
    let name = given.operands.first().and_then(|word| {
        let text = word.text.as_deref()?;
        let text = text.strip_prefix("refs/").unwrap_or(text);
        let text = text.strip_prefix("remotes/").unwrap_or(text);
        branch(text.split_once('/')?.1)
    });
    made(name)
}

/// A branch that is made, and none is moved by it.
fn made(name: Option<&str>) -> Vec<Part> {
    let change = Change {
        name: name.map(str::to_owned),
        force: Some(false),
        deletes: Some(false),
        ..Change::of(Kind::Branch)
    };
    vec![change.part()]
}

/// `git remote add --mirror` has each fetch change all branches here.
fn mirrored(words: &[Word]) -> Vec<Part> {
    match arguments(words, &[]).has(&["mirror"], "") {
        Some(false) => Vec::new(),
        _ => vec![Change::of(Kind::Branch).part()],
    }
}

/// The branch that `checkout` or `switch` makes, where its name is in the word of the option.
fn made_by_option<'a>(subcommand: &str, words: &'a [Word]) -> Option<&'a str> {
    match subcommand {
        "checkout" => attached(words, &['b', 'B'], &["orphan"]),
        "switch" => attached(words, &['c', 'C'], &["create", "force-create", "orphan"]),
        _ => None,
    }
}

/// The value that an option has in the same word: `-Bmain`, `--create=main`.
fn attached<'a>(words: &'a [Word], letters: &[char], long: &[&str]) -> Option<&'a str> {
    let value = |word: &'a Word| {
        let text = word.text.as_deref()?;
        if let Some(option) = text.strip_prefix("--") {
            let (name, value) = option.split_once('=')?;
            return long
                .iter()
                .any(|long| long.starts_with(name))
                .then_some(value);
        }
        let group = text.strip_prefix('-')?;
        let at = group.find(letters)?;
        group.get(at + 1..).filter(|rest| !rest.is_empty())
    };
    words.iter().find_map(value)
}

/// `git rebase UPSTREAM BRANCH` changes that branch.
fn rebased(words: &[Word]) -> Vec<Part> {
    let given = arguments(
        words,
        &[
            "--onto",
            "-s",
            "--strategy",
            "-X",
            "--strategy-option",
            "-C",
        ],
    );
    let change = |name: Option<&str>| Change {
        name: name.map(str::to_owned),
        force: Some(true),
        deletes: Some(false),
        ..Change::of(Kind::Branch)
    };
    let mut found = Vec::new();
    if given.has(&["update-refs"], "") != Some(false) {
        found.push(change(None).part());
    }
    let named = given.operands.iter().skip(1);
    found.extend(named.map(|word| change(word.text.as_deref().and_then(branch)).part()));
    found
}

/// `git worktree add -b BRANCH` and `git stash branch BRANCH`.
fn made_with(subcommand: &str, words: &[Word]) -> Vec<Part> {
    let given = arguments(words, &[]);
    let first = given.operands.first().map_or("", |word| word.shown());
    let name = match (subcommand, first) {
        ("stash", "branch") => given.operands.get(1).copied(),
        ("worktree", "add") => {
            let makes = |word: &Word| {
                let text = word.shown();
                text.starts_with('-') && !text.starts_with("--") && text.contains(['b', 'B'])
            };
            match words.iter().position(makes) {
                Some(at) => words.get(at + 1),
                None => return made_for_folder(&given),
            }
        }
        _ => return Vec::new(),
    };
    let name = attached(words, &['b', 'B'], &[])
        .or_else(|| name.and_then(|word| word.text.as_deref()))
        .and_then(branch);
    let change = Change {
        name: name.map(str::to_owned),
        force: given.has(&[], "B"),
        deletes: Some(false),
        ..Change::of(Kind::Branch)
    };
    vec![change.part()]
}

/// `git worktree add ../x` makes the branch `x`, unless it is told what to check out.
fn made_for_folder(given: &Arguments<'_>) -> Vec<Part> {
    let folder = match given.operands.as_slice() {
        [_, folder] => folder.text.as_deref(),
        [_] => None,
        _ => return Vec::new(),
    };
    if given.has(&["detach"], "d") == Some(true) {
        return Vec::new();
    }
    let folder = folder.map(|it| it.trim_end_matches('/'));
    let name = folder.and_then(|it| branch(it.rsplit('/').next()?));
    made(name)
}

fn plumbing(words: &[Word]) -> Vec<Part> {
    let given = arguments(words, &["-m"]);
    let name = match given.operands.as_slice() {
        [first, ..] => first.text.as_deref().and_then(branch),
        [] => None,
    };
    let change = Change {
        name: name.map(str::to_owned),
        force: Some(true),
        deletes: given.has(&["delete"], "d"),
        ..Change::of(Kind::Branch)
    };
    vec![change.part()]
}

/// `git fetch origin main:main` changes a branch here.
fn fetched(words: &[Word]) -> Vec<Part> {
    let given = arguments(
        words,
        &[
            "--depth",
            "--deepen",
            "-o",
            "--upload-pack",
            "-j",
            "--refmap",
        ],
    );
    let part = |word: &&Word| {
        let Some(text) = word.text.as_deref() else {
            return Some(Change::of(Kind::Branch).part());
        };
        let (_, target) = text.split_once(':')?;
        let change = Change {
            name: branch(target).map(str::to_owned),
            force: Some(text.starts_with('+')),
            deletes: Some(false),
            ..Change::of(Kind::Branch)
        };
        Some(change.part())
    };
    let mut found: Vec<Part> = given.operands.iter().skip(1).filter_map(part).collect();
    if given.has(&["refmap", "stdin"], "") == Some(true) {
        found.push(Change::of(Kind::Branch).part());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::Attribute;

    fn changes(command: &str) -> Vec<String> {
        let word = |text: &str| match text.starts_with('$') {
            true => Word::unknown(text),
            false => Word::known(text),
        };
        let words: Vec<Word> = command.split(' ').map(word).collect();
        let shown = |part: Part| {
            let flag = |name: &str, short: &str| match part.resource.attributes.get(name) {
                Some(Attribute::Flag(true)) => short.to_owned(),
                Some(_) => String::new(),
                None => format!("{short}?"),
            };
            let name = part.resource.known_text("name").unwrap_or("?");
            format!(
                "{} {name}{}{}",
                part.kind.name(),
                flag("force", "!"),
                flag("deletes", "-")
            )
        };
        read(&words)
            .branches(Some("topic"))
            .into_iter()
            .map(shown)
            .collect()
    }

    #[test]
    fn pushes_name_the_branches_that_they_change() {
        for (command, expected) in [
            ("push origin main", vec!["push main"]),
            ("push origin +main", vec!["push main!"]),
            ("push -f origin main", vec!["push main!"]),
            ("push origin main --forc", vec!["push main!"]),
            ("push origin HEAD:main", vec!["push main"]),
            ("push origin HEAD:refs/heads/main", vec!["push main"]),
            ("push origin x:heads/main", vec!["push main"]),
            ("push origin :main", vec!["push main-"]),
            ("push -d origin main x", vec!["push main-", "push x-"]),
            ("push origin HEAD", vec!["push topic"]),
            ("push", vec!["push ?"]),
            ("push origin", vec!["push ?"]),
            ("push --all origin", vec!["push ?"]),
            ("push --mirror origin", vec!["push ?!-"]),
            ("push origin $B", vec!["push ?!?-?", "push ?!?-?"]),
            ("push origin refs/heads/*:refs/heads/*", vec!["push ?"]),
            ("push origin tag v1", vec!["push refs/tags/v1"]),
            ("push -o ci.skip origin a", vec!["push a"]),
            ("-C dir push origin HEAD", vec!["push ?"]),
            ("--git-dir=x push origin HEAD", vec!["push ?"]),
            ("--no-pager push origin main", vec!["push main"]),
            ("-c color.ui=false push origin main", vec!["push main"]),
        ] {
            assert_eq!(changes(command), expected, "{command}");
        }
    }

    #[test]
    fn branches_are_changed_here_too() {
        for (command, expected) in [
            ("commit -m x", vec!["commit topic"]),
            ("reset --hard", vec!["commit topic!"]),
            ("branch -D main x", vec!["branch main!-", "branch x!-"]),
            ("branch x main", vec!["branch x"]),
            ("branch", vec![]),
            ("branch --list main", vec![]),
            ("branch -f main x", vec!["branch main!"]),
            ("checkout main", vec![]),
            ("checkout -qBmain", vec!["branch main!"]),
            ("switch --force-create=main", vec!["branch main!"]),
            ("branch -C x main", vec!["branch x!", "branch main!"]),
            ("worktree add -Bmain ../x", vec!["branch main!"]),
            ("branch -m old", vec!["branch topic-", "branch old"]),
            ("branch -M main x", vec!["branch main!-", "branch x!"]),
            ("branch -a --move x y", vec!["branch x-", "branch y"]),
            ("branch -a", vec![]),
            ("-C x branch -m y", vec!["branch ?-", "branch y"]),
            ("worktree add ../x", vec!["branch x"]),
            ("worktree add ../x/", vec!["branch x"]),
            ("worktree add --detach ../x", vec![]),
            ("worktree add ../x main", vec![]),
            ("worktree add $D", vec!["branch ?"]),
            ("checkout -t origin/main", vec!["branch main"]),
            ("switch --track origin/a/b", vec!["branch a/b"]),
            ("remote add --mirror=fetch o u", vec!["branch ?!?-?"]),
            ("remote add o u", vec![]),
            ("stash branch main", vec!["branch main"]),
            ("rebase x main", vec!["commit topic!", "branch main!"]),
            ("pull origin x:main", vec!["commit topic", "branch main"]),
            ("fetch --refmap=x:main origin", vec!["branch ?!?-?"]),
            ("fetch --stdin .", vec!["branch ?!?-?"]),
            ("checkout -b x", vec!["branch x"]),
            ("switch -C main", vec!["branch main!"]),
            ("update-ref refs/heads/main x", vec!["branch main!"]),
            ("fetch origin main:main", vec!["branch main"]),
            ("log", vec![]),
        ] {
            assert_eq!(changes(command), expected, "{command}");
        }
    }

    #[test]
    fn what_runs_other_programs_is_not_sure() {
        for (command, is_sure) in [
            ("status", true),
            ("st", false),
            ("-c alias.x=!sh x", false),
            ("-c core.sshCommand=x fetch", false),
            ("-c user.name=x commit", true),
            ("--exec-path=/tmp status", false),
            ("$X", false),
            ("--version", true),
        ] {
            let word = |text: &str| match text.starts_with('$') {
                true => Word::unknown(text),
                false => Word::known(text),
            };
            let words: Vec<Word> = command.split(' ').map(word).collect();
            assert_eq!(read(&words).unsure.is_none(), is_sure, "{command}");
        }
    }
}
