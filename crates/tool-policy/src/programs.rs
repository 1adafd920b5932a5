//! What well-known programs do with what they are given. What is not here is given what it is given:
//! its paths are mentions.

use crate::part::Kind;
use crate::shell::word::Word;

/// What a program does with its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operands {
    /// They are no files.
    None,
    /// They are read.
    Read,
    /// The first one is a pattern or a program, unless an option gives that; the others are read.
    ReadBehindFirst,
    /// They are written, moved or removed.
    Edit,
    /// The last one is written, the others are read.
    ReadThenEdit,
    /// Not known.
    Mention,
}

/// Commands that change nothing but the shell that runs them: they need no permission.
const SHELL_ONLY: [&str; 31] = [
    ":", "[", "break", "cd", "continue", "declare", "dirs", "exit", "export", "false", "getopts",
    "hash", "jobs", "let", "local", "popd", "pushd", "pwd", "read", "readonly", "return", "set",
    "shift", "shopt", "test", "times", "true", "type", "typeset", "unset", "wait",
];

/// Programs that connect to hosts, whether or not their arguments say to which.
const NETWORK: [&str; 74] = [
    "ansible",
    "apk",
    "apt",
    "apt-get",
    "aria2c",
    "aws",
    "az",
    "brew",
    "bun",
    "bunx",
    "bundle",
    "composer",
    "conda",
    "curl",
    "dig",
    "dnf",
    "docker",
    "docker-compose",
    "doctl",
    "drill",
    "fetch",
    "flyctl",
    "ftp",
    "gcloud",
    "gem",
    "gh",
    "glab",
    "gsutil",
    "helm",
    "heroku",
    "host",
    "http",
    "httpie",
    "https",
    "hub",
    "kubectl",
    "lftp",
    "links",
    "lynx",
    "mosh",
    "mysql",
    "nc",
    "ncat",
    "netcat",
    "netlify",
    "nmap",
    "nslookup",
    "npm",
    "npx",
    "pacman",
    "ping",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "podman",
    "poetry",
    "psql",
    "rclone",
    "redis-cli",
    "rsync",
    "scp",
    "sftp",
    "socat",
    "ssh",
    "telnet",
    "terraform",
    "tsh",
    "uv",
    "uvx",
    "vercel",
    "wget",
    "yarn",
    "yum",
];

/// Subcommands of programs that otherwise stay on this machine.
const NETWORK_SUBCOMMANDS: [(&str, &[&str]); 3] = [
    (
        "cargo",
        &[
            "add", "fetch", "install", "login", "owner", "publish", "search", "update", "yank",
        ],
    ),
    ("go", &["get", "install", "mod"]),
    (
        "git",
        &[
            "archive",
            "clone",
            "fetch",
            "ls-remote",
            "pull",
            "push",
            "remote",
            "send-email",
            "submodule",
        ],
    ),
];

/// Programs that run what they are given as a program.
const INTERPRETERS: [&str; 25] = [
    "awk",
    "bash",
    "bun",
    "dash",
    "deno",
    "expect",
    "fish",
    "gawk",
    "ksh",
    "lua",
    "mawk",
    "nawk",
    "node",
    "osascript",
    "perl",
    "php",
    "pwsh",
    "python",
    "python2",
    "python3",
    "ruby",
    "sed",
    "sh",
    "tclsh",
    "zsh",
];

/// Whether a command changes nothing but the shell that runs it.
pub(crate) fn is_shell_only(program: &str) -> bool {
    SHELL_ONLY.contains(&program)
}

/// Whether a command connects to a host.
pub(crate) fn is_network(program: &str, subcommand: Option<&str>) -> bool {
    let known = NETWORK_SUBCOMMANDS
        .iter()
        .find(|(name, _)| *name == program);
    match (known, subcommand) {
        (None, _) => NETWORK.contains(&program),
        (Some((_, subcommands)), Some(subcommand)) => subcommands.contains(&subcommand),
        (Some(_), None) => true,
    }
}

/// Whether a command has a program among its arguments, or reads it from a pipe.
pub(crate) fn runs_code(program: &str, args: &[Word], has_input: bool) -> bool {
    if matches!(program, "source" | "." | "eval") {
        return true;
    }
    // python3.12
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !INTERPRETERS.contains(&program) && !INTERPRETERS.contains(&name) {
        return false;
    }
    if matches!(program, "awk" | "gawk" | "mawk" | "nawk" | "sed") {
        return true;
    }
    let gives = |word: &Word| {
        let Some(text) = &word.text else { return true };
        let is_short = text.starts_with('-') && !text.starts_with("--");
        is_short && text.contains(['c', 'e', 'E', 'r', 'p'])
            || text == "--eval"
            || text == "-"
            || text == "eval"
    };
    let has_file = args.iter().any(|word| !word.shown().starts_with('-'));
    args.iter().any(gives) || (has_input && !has_file)
}

fn operands(program: &str) -> Operands {
    match program {
        ":" | "[" | "basename" | "break" | "cd" | "continue" | "date" | "dirname" | "echo"
        | "exit" | "export" | "expr" | "false" | "hash" | "hostname" | "id" | "jobs" | "kill"
        | "let" | "local" | "nproc" | "popd" | "printenv" | "printf" | "ps" | "pushd" | "pwd"
        | "return" | "seq" | "set" | "shift" | "shopt" | "sleep" | "test" | "tr" | "true"
        | "type" | "uname" | "unset" | "uptime" | "wait" | "which" | "whoami" | "yes"
        | "command" | "declare" | "readonly" | "typeset" | "nice" => Operands::None,
        "b2sum" | "base32" | "base64" | "bat" | "batcat" | "bzcat" | "cat" | "cksum" | "cmp"
        | "column" | "comm" | "cut" | "diff" | "du" | "eza" | "exa" | "file" | "fmt" | "fold"
        | "head" | "hexdump" | "join" | "less" | "ls" | "md5sum" | "more" | "nl" | "nm"
        | "objdump" | "od" | "paste" | "readelf" | "readlink" | "realpath" | "rev" | "sha1sum"
        | "sha256sum" | "sha512sum" | "size" | "sort" | "stat" | "strings" | "sum" | "tac"
        | "tail" | "tree" | "view" | "wc" | "xxd" | "xzcat" | "zcat" | "zless" | "zstdcat"
        | "source" | "." => Operands::Read,
        "ack" | "ag" | "awk" | "egrep" | "fgrep" | "gawk" | "grep" | "jq" | "mawk" | "rg"
        | "sed" | "yq" | "zgrep" => Operands::ReadBehindFirst,
        "chgrp" | "chmod" | "chown" | "mkdir" | "mkfifo" | "mknod" | "mv" | "rm" | "rmdir"
        | "shred" | "tee" | "touch" | "truncate" | "unlink" | "uniq" | "sponge" | "trash"
        | "gzip" | "gunzip" | "bzip2" | "xz" | "patch" => Operands::Edit,
        "cp" | "install" | "ln" | "rsync" | "scp" => Operands::ReadThenEdit,
        _ => Operands::Mention,
    }
}

/// A file that a command is given, and what the command does with it.
pub(crate) type FileUse = (Kind, Word);

/// The files of a command, by its arguments.
pub(crate) fn files(program: &str, args: &[Word]) -> Vec<FileUse> {
    let how = operands(program);
    let mut found = Vec::new();
    if how == Operands::None {
        return found;
    }
    let in_place = edits_in_place(program, args);
    let (mut names, mut has_pattern) = (Vec::new(), false);
    let mut target = None;
    let (mut only_operands, mut at) = (false, 0);
    while let Some(word) = args.get(at) {
        at += 1;
        let text = word.shown();
        if only_operands || !text.starts_with('-') || text == "-" {
            if text != "-" {
                names.push(word.clone());
            }
            continue;
        }
        if text == "--" {
            only_operands = true;
            continue;
        }
        has_pattern |= gives_pattern(text);
        match written_by(program, text) {
            Some(Given::Here(value)) => target = Some(part_of(word, value)),
            Some(Given::Next) => {
                target = args.get(at).cloned();
                at += 1;
            }
            None => found.extend(value_of(word).map(|value| (Kind::Mention, value))),
        }
    }
    let has_target = target.is_some();
    found.extend(target.map(|word| (Kind::Edit, word)));
    let last = names.len().saturating_sub(1);
    let skipped = usize::from(how == Operands::ReadBehindFirst && !has_pattern);
    for (index, word) in names.into_iter().enumerate().skip(skipped) {
        let kind = match how {
            Operands::None | Operands::Mention => Kind::Mention,
            Operands::Read | Operands::ReadBehindFirst if in_place => Kind::Edit,
            Operands::Read | Operands::ReadBehindFirst => Kind::Read,
            Operands::Edit => Kind::Edit,
            Operands::ReadThenEdit if index == last && !has_target => Kind::Edit,
            Operands::ReadThenEdit => Kind::Read,
        };
        found.push((kind, word));
    }
    found
}

fn edits_in_place(program: &str, args: &[Word]) -> bool {
    let edits = |word: &Word| {
        let text = word.shown();
        let is_short = text.starts_with('-') && !text.starts_with("--");
        is_short && text.contains('i') || text.starts_with("--in-place") || text == "inplace"
    };
    matches!(program, "sed" | "awk" | "gawk" | "yq") && args.iter().any(edits)
}

/// Whether an option gives the pattern, so that all operands are files.
fn gives_pattern(option: &str) -> bool {
    let is_short = !option.starts_with("--");
    is_short && option.contains(['e', 'f'])
        || [
            "--regexp",
            "--file",
            "--expression",
            "--from-file",
            "--files",
        ]
        .iter()
        .any(|it| option.starts_with(it))
}

/// Where the value of an option is.
enum Given<'a> {
    Here(&'a str),
    Next,
}

/// The file that an option has a program write, of those that otherwise read.
fn written_by<'a>(program: &str, option: &'a str) -> Option<Given<'a>> {
    let (short, long): (&str, &[&str]) = match program {
        "sort" | "tree" => ("-o", &["--output"]),
        "cp" | "mv" | "ln" | "install" => ("-t", &["--target-directory"]),
        "curl" => (
            "-o",
            &["--output", "--output-dir", "--dump-header", "--cookie-jar"],
        ),
        "wget" => ("-O", &["--output-document", "--directory-prefix"]),
        _ => return None,
    };
    if let Some(rest) = option.strip_prefix(short) {
        return Some(match rest {
            "" => Given::Next,
            rest => Given::Here(rest),
        });
    }
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    // Programs take the beginning of an option for all of it.
    let is_it = |long: &&str| long.starts_with(name) && name.len() > 3;
    long.iter()
        .any(is_it)
        .then(|| value.map_or(Given::Next, Given::Here))
}

/// The value that an option has in the same word.
fn value_of(word: &Word) -> Option<Word> {
    let text = word.shown();
    let value = match text.strip_prefix("--") {
        Some(long) => long.split_once('=')?.1,
        // `-Idir`, and not `-la`.
        None => text.get(2..).filter(|rest| rest.contains(['/', '.']))?,
    };
    (!value.is_empty()).then(|| part_of(word, value))
}

/// A part of a word, of which as much is known as of the word.
fn part_of(word: &Word, part: &str) -> Word {
    match word.text {
        Some(_) => Word::known(part),
        None => Word::unknown(part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(command: &str) -> Vec<String> {
        let mut words = command.split(' ').map(Word::known);
        let program = words.next().expect("there is a program").raw;
        let args: Vec<Word> = words.collect();
        let shown = |(kind, word): FileUse| format!("{} {}", kind.name(), word.raw);
        files(&program, &args).into_iter().map(shown).collect()
    }

    #[test]
    fn programs_read_and_write_what_they_do() {
        for (command, expected) in [
            ("cat a b", vec!["read a", "read b"]),
            ("rm -rf a", vec!["edit a"]),
            ("rm -- -rf", vec!["edit -rf"]),
            ("cp a b c", vec!["read a", "read b", "edit c"]),
            ("cp -t c a b", vec!["edit c", "read a", "read b"]),
            ("cp --target=c a", vec!["edit c", "read a"]),
            ("mv a b", vec!["edit a", "edit b"]),
            ("grep -rn x src", vec!["read src"]),
            // The value of an option counts as a file, so that none is missed.
            ("grep -e x src", vec!["read x", "read src"]),
            ("sed -i s/a/b/ f", vec!["edit f"]),
            ("sed s/a/b/ f", vec!["read f"]),
            ("sort -o f g", vec!["edit f", "read g"]),
            ("sort -of g", vec!["edit f", "read g"]),
            ("echo a", vec![]),
            ("make -Cdir/x all", vec!["mention dir/x", "mention all"]),
            ("foo --config=.env x", vec!["mention .env", "mention x"]),
            ("curl -o f https://a", vec!["edit f", "mention https://a"]),
        ] {
            assert_eq!(uses(command), expected, "{command}");
        }
    }

    #[test]
    fn code_is_recognized() {
        for (command, input, expected) in [
            ("python3 -c x", false, true),
            ("python3.12 -c x", false, true),
            ("python3 x.py", false, false),
            ("python3", true, true),
            ("python3 -", false, true),
            ("perl -ne x", false, true),
            ("ls -c", false, false),
            ("awk x", false, true),
            (". x", false, true),
        ] {
            let mut words = command.split(' ').map(Word::known);
            let program = words.next().expect("there is a program").raw;
            let args: Vec<Word> = words.collect();
            assert_eq!(runs_code(&program, &args, input), expected, "{command}");
        }
    }
}
