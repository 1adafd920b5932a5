//! What well-known programs do with what they are given. What is not here is given what it is given:
//! its paths are mentions.

use crate::part::Kind;
use crate::shell::word::Word;
use crate::wrap;
use crate::{filter, globs};

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
    /// The first one is read, and the second one is written.
    ReadFirstEditSecond,
    /// Not known.
    Mention,
}

impl Operands {
    /// What is done with the operand of this number; `is_target` says that it is the last one, and no option names
    /// where to write.
    fn kind(self, index: usize, is_target: bool) -> Kind {
        match self {
            Operands::None | Operands::Mention => Kind::Mention,
            Operands::Edit => Kind::Edit,
            Operands::ReadThenEdit if is_target => Kind::Edit,
            Operands::ReadFirstEditSecond if index > 0 => Kind::Edit,
            Operands::Read
            | Operands::ReadBehindFirst
            | Operands::ReadThenEdit
            | Operands::ReadFirstEditSecond => Kind::Read,
        }
    }
}

/// Commands that change nothing but the shell that runs them: they need no permission. What some of them run or change by
/// options is read by `wrap` and `shell_options`, and which variables they set by `interpret`.
const SHELL_ONLY: [&str; 31] = [
    ":", "[", "break", "cd", "continue", "declare", "dirs", "exit", "export", "false", "getopts",
    "hash", "jobs", "let", "local", "popd", "pushd", "pwd", "read", "readonly", "return", "set",
    "shift", "shopt", "test", "times", "true", "type", "typeset", "unset", "wait",
];

/// Programs that connect to hosts, whether or not their arguments say to which.
const NETWORK: [&str; 162] = [
    "ansible",
    "ansible-galaxy",
    "ansible-playbook",
    "apk",
    "apt",
    "apt-get",
    "aria2c",
    "autossh",
    "aws",
    "axel",
    "az",
    "brew",
    "bun",
    "bundle",
    "bunx",
    "bzr",
    "cargo-binstall",
    "carthage",
    "cloudflared",
    "composer",
    "conda",
    "consul",
    "cpan",
    "cpanm",
    "cqlsh",
    "curl",
    "curlie",
    "cvs",
    "dig",
    "dnf",
    "docker",
    "docker-compose",
    "doctl",
    "drill",
    "easy_install",
    "elinks",
    "emerge",
    "etcdctl",
    "fetch",
    "firebase",
    "flatpak",
    "fly",
    "flyctl",
    "fping",
    "ftp",
    "ftplib",
    "gcloud",
    "gem",
    "gh",
    "glab",
    "grpcurl",
    "gsutil",
    "guix",
    "helm",
    "heroku",
    "hg",
    "host",
    "hping3",
    "http",
    "http.server",
    "httpie",
    "https",
    "httpx",
    "hub",
    "imaplib",
    "iperf",
    "iperf3",
    "kcat",
    "kubectl",
    "ldapsearch",
    "lftp",
    "links",
    "lynx",
    "mail",
    "mailx",
    "mamba",
    "micromamba",
    "mongo",
    "mongosh",
    "mosh",
    "mosquitto_pub",
    "mosquitto_sub",
    "mtr",
    "mutt",
    "mvn",
    "mysql",
    "nc",
    "nc.openbsd",
    "nc.traditional",
    "ncat",
    "netcat",
    "netlify",
    "ngrok",
    "nix-channel",
    "nix-env",
    "nix-shell",
    "nmap",
    "npm",
    "npx",
    "nslookup",
    "nuget",
    "pacman",
    "pdm",
    "ping",
    "ping6",
    "pip",
    "pip3",
    "pipx",
    "pnpm",
    "pod",
    "podman",
    "poetry",
    "poplib",
    "psql",
    "pulumi",
    "railway",
    "rclone",
    "redis-cli",
    "restic",
    "rlogin",
    "rsh",
    "rsync",
    "rustup",
    "s3cmd",
    "scp",
    "sendmail",
    "serverless",
    "sftp",
    "smbclient",
    "smtplib",
    "snap",
    "socat",
    "sqlcmd",
    "ssh",
    "ssh-copy-id",
    "ssh-keyscan",
    "sshfs",
    "svn",
    "swaks",
    "tailscale",
    "telnet",
    "telnetlib",
    "terraform",
    "tracepath",
    "traceroute",
    "tsh",
    "uv",
    "uvx",
    "vagrant",
    "vercel",
    "w3m",
    "websocat",
    "wget",
    "whois",
    "wrangler",
    "wscat",
    "xh",
    "yarn",
    "youtube-dl",
    "yt-dlp",
    "yum",
    "zypper",
];

/// Subcommands of programs that otherwise stay on this machine.
const NETWORK_SUBCOMMANDS: [(&str, &[&str]); 6] = [
    (
        "cargo",
        &[
            "add", "fetch", "install", "login", "owner", "publish", "search", "update", "yank",
        ],
    ),
    ("deno", &["add", "cache", "install", "publish", "upgrade"]),
    (
        "dotnet",
        &["add", "nuget", "publish", "restore", "tool", "workload"],
    ),
    ("go", &["get", "install", "mod"]),
    ("openssl", &["", "ocsp", "s_client", "s_server", "s_time"]),
    (
        "git",
        &[
            "archive",
            "clone",
            "daemon",
            "fetch",
            "fetch-pack",
            "http-fetch",
            "http-push",
            "ls-remote",
            "maintenance",
            "pull",
            "push",
            "remote",
            "request-pull",
            "send-email",
            "send-pack",
            "submodule",
        ],
    ),
];

/// Programs that run what they are given as a program.
const INTERPRETERS: [&str; 72] = [
    "awk",
    "bash",
    "bun",
    "clojure",
    "crystal",
    "dash",
    "dc",
    "deno",
    "ed",
    "elixir",
    "emacs",
    "emacsclient",
    "erl",
    "ex",
    "expect",
    "fish",
    "gawk",
    "ghc",
    "gmake",
    "gnuplot",
    "groovy",
    "gsed",
    "guile",
    "gvim",
    "ipython",
    "jshell",
    "julia",
    "ksh",
    "lua",
    "luajit",
    "m4",
    "make",
    "mawk",
    "mongo",
    "mongosh",
    "nawk",
    "node",
    "nodejs",
    "nvim",
    "octave",
    "original-awk",
    "osascript",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "pypy",
    "pypy3",
    "python",
    "python2",
    "python3",
    "qjs",
    "r",
    "racket",
    "rscript",
    "ruby",
    "runghc",
    "rvim",
    "sbcl",
    "scala",
    "sed",
    "sh",
    "swift",
    "tclsh",
    "ts-node",
    "tsx",
    "vi",
    "view",
    "vim",
    "vimdiff",
    "wish",
    "zsh",
];

/// Whether a command changes nothing but the shell that runs it.
pub(crate) fn is_shell_only(program: &str) -> bool {
    SHELL_ONLY.contains(&program)
}

/// Options before the subcommand whose value is the next word.
const WITH_VALUE: [(&str, &[&str]); 6] = [
    (
        "cargo",
        &[
            "--color",
            "--config",
            "-Z",
            "-C",
            "--manifest-path",
            "--target-dir",
        ],
    ),
    (
        "docker",
        &[
            "-H",
            "--host",
            "-c",
            "--context",
            "--config",
            "-l",
            "--log-level",
        ],
    ),
    ("gh", &["-R", "--repo"]),
    ("go", &["-C"]),
    (
        "kubectl",
        &[
            "-n",
            "--namespace",
            "--context",
            "--kubeconfig",
            "--cluster",
            "--user",
        ],
    ),
    ("npm", &["--prefix", "-w", "--workspace", "--loglevel"]),
];

/// The first word that is no option, nor the value of one; none, if it is not known.
pub(crate) fn subcommand(program: &str, args: &[Word]) -> Option<String> {
    let with_value = WITH_VALUE.iter().find(|(name, _)| *name == program);
    let takes_next = |text: &str| with_value.is_some_and(|(_, options)| options.contains(&text));
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_deref()?;
        if !text.starts_with(['-', '+']) {
            return Some(text.to_owned());
        }
        if takes_next(text) {
            words.next();
        }
    }
    Some(String::new())
}

/// Whether a command connects to a host.
pub(crate) fn is_network(program: &str, subcommand: Option<&str>, args: &[Word]) -> bool {
    let has = |begins: &[&str]| {
        let mut texts = args.iter().map(Word::shown);
        texts.any(|text| begins.iter().any(|it| text.starts_with(it)))
    };
    match program {
        "go" if subcommand == Some("run") => {
            return args.iter().any(|it| it.shown().contains('@'));
        }
        "gpg" | "gpg2" => {
            return has(&[
                "--rec",
                "--searc",
                "--ref",
                "--send",
                "--fet",
                "--loc",
                "--keyserver",
                "--auto-key-l",
            ]);
        }
        _ => {}
    }
    let known = NETWORK_SUBCOMMANDS
        .iter()
        .find(|(name, _)| *name == program);
    match (known, subcommand) {
        (None, _) => NETWORK.contains(&program),
        (Some((_, subcommands)), Some(subcommand)) => subcommands.contains(&subcommand),
        (Some(_), None) => true,
    }
}

/// Whether the first operand of a program is a file that it runs.
pub(crate) fn runs_scripts(program: &str) -> bool {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_shell = matches!(
        program,
        "source" | "." | "ash" | "ksh" | "mksh" | "fish" | "csh" | "tcsh"
    );
    is_shell || INTERPRETERS.contains(&program) || INTERPRETERS.contains(&name)
}

/// The options of vi and its relatives that have code.
const OF_VI: &[&str] = &["-c", "+", "-S", "--cmd", "-s", "-es"];

/// Programs whose options have code, by what these options begin with.
const CODE_OPTIONS: [(&str, &[&str]); 19] = [
    ("dc", &["-e", "--expression"]),
    (
        "emacs",
        &[
            "--eval",
            "--execute",
            "-e",
            "-f",
            "--funcall",
            "-l",
            "--load",
            "--script",
            "-s",
            "-x",
        ],
    ),
    ("emacsclient", &["-e", "--e"]),
    ("ex", OF_VI),
    ("gmake", &["--ev", "-E", "SHELL=", ".SHELL"]),
    ("gnuplot", &["-e"]),
    ("gvim", OF_VI),
    ("julia", &["-e", "-E", "-L", "--ev", "--pr", "--lo"]),
    ("make", &["--ev", "-E", "SHELL=", ".SHELL"]),
    ("mongo", &["--ev"]),
    ("mongosh", &["--ev"]),
    ("nvim", &["-c", "+", "-S", "--cmd", "-l", "-s", "-es"]),
    ("r", &["-e"]),
    ("rscript", &["-e"]),
    ("rvim", OF_VI),
    ("vi", OF_VI),
    ("view", OF_VI),
    ("vim", OF_VI),
    ("vimdiff", OF_VI),
];

/// Whether a command has a program among its arguments, or reads it from a pipe, that can do anything.
pub(crate) fn runs_code(program: &str, args: &[Word], has_input: bool) -> bool {
    if matches!(program, "source" | "." | "eval") {
        return true;
    }
    // python3.12
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    if !INTERPRETERS.contains(&program) && !INTERPRETERS.contains(&name) {
        return false;
    }
    match program {
        "gsed" | "sed" => return filter::sed_runs_code(args),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => return filter::awk_runs_code(args),
        _ => {}
    }
    let begins = CODE_OPTIONS.iter().find(|(name, _)| *name == program);
    let gives = |word: &Word| {
        let Some(text) = &word.text else { return true };
        if let Some((_, begins)) = begins {
            return begins.iter().any(|it| text.starts_with(it));
        }
        let is_short = text.starts_with('-') && !text.starts_with("--");
        is_short && text.contains(['c', 'e', 'E', 'r', 'p'])
            || text.starts_with("--e")
            || text.starts_with("--p")
            || text == "-"
            || text == "eval"
    };
    let is_input = |word: &Word| word.text.as_deref().is_some_and(wrap::is_input);
    let reads_input = |word: &Word| is_input(word) || matches!(word.shown(), "-" | "-f-");
    let has_file = args.iter().any(|word| !word.shown().starts_with('-'));
    args.iter().any(gives)
        || (has_input && (!has_file || args.iter().any(reads_input)))
        || (has_input
            && matches!(
                program,
                "dc" | "ed" | "ex" | "gdb" | "m4" | "mongo" | "mongosh"
            ))
}

fn operands(program: &str) -> Operands {
    match program {
        ":" | "[" | "basename" | "break" | "cd" | "continue" | "dirname" | "echo" | "exit"
        | "export" | "expr" | "false" | "hash" | "id" | "jobs" | "kill" | "let" | "local"
        | "nproc" | "popd" | "printenv" | "printf" | "ps" | "pushd" | "pwd" | "return" | "seq"
        | "set" | "shift" | "shopt" | "sleep" | "test" | "tr" | "true" | "type" | "uname"
        | "unset" | "uptime" | "wait" | "which" | "whoami" | "yes" | "command" | "declare"
        | "readonly" | "typeset" | "nice" => Operands::None,
        "b2sum" | "base32" | "base64" | "bat" | "batcat" | "bzcat" | "cat" | "cksum" | "cmp"
        | "column" | "comm" | "cut" | "diff" | "du" | "eza" | "exa" | "file" | "fmt" | "fold"
        | "head" | "hexdump" | "join" | "less" | "ls" | "md5sum" | "more" | "nl" | "nm"
        | "objdump" | "od" | "paste" | "readelf" | "readlink" | "realpath" | "rev" | "sha1sum"
        | "sha256sum" | "sha512sum" | "size" | "sort" | "stat" | "strings" | "sum" | "tac"
        | "tail" | "tree" | "view" | "wc" | "xzcat" | "zcat" | "zless" | "zstdcat" | "source"
        | "." => Operands::Read,
        "ack" | "ag" | "awk" | "egrep" | "fgrep" | "gawk" | "grep" | "gsed" | "jq" | "mawk"
        | "rg" | "sed" | "ug" | "ugrep" | "yq" | "zgrep" => Operands::ReadBehindFirst,
        "chgrp" | "chmod" | "chown" | "mkdir" | "mkfifo" | "mknod" | "mv" | "rm" | "rmdir"
        | "shred" | "tee" | "touch" | "truncate" | "unlink" | "uniq" | "sponge" | "trash"
        | "gzip" | "gunzip" | "bzip2" | "xz" | "split" | "csplit" => Operands::Edit,
        "cp" | "install" | "ln" | "rsync" | "scp" => Operands::ReadThenEdit,
        "xxd" => Operands::ReadFirstEditSecond,
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
        if let Some(given) = chosen_by(program, text) {
            let value = match given {
                Given::Here(value) => Some(part_of(word, value)),
                Given::Next => args.get(at).cloned(),
            };
            at += usize::from(given == Given::Next);
            let chosen = |word: &Word| match program {
                "ag" => vec![Word::unknown(&word.raw)],
                _ => globs::of_word(word),
            };
            found.extend(value.iter().flat_map(chosen).map(|it| (Kind::Read, it)));
            continue;
        }
        has_pattern |= gives_pattern(text);
        let mut written = None;
        match written_by(program, text) {
            Some(Given::Here(value)) => written = Some(part_of(word, value)),
            Some(Given::Next) => {
                written = args.get(at).cloned();
                at += 1;
            }
            None => found.extend(values_of(word).map(|value| (Kind::Mention, value))),
        }
        found.extend(written.iter().map(|word| (Kind::Edit, word.clone())));
        target = target.or(written);
    }
    if how == Operands::ReadFirstEditSecond {
        // What its options take are numbers.
        names.retain(|word| !is_number(word.shown()));
    }
    let has_target = target.is_some();
    let last = names.len().saturating_sub(1);
    let skipped = usize::from(how == Operands::ReadBehindFirst && !has_pattern);
    for (index, word) in names.into_iter().enumerate().skip(skipped) {
        let is_target = index == last && !has_target;
        let kind = match how.kind(index, is_target) {
            Kind::Read if in_place => Kind::Edit,
            kind => kind,
        };
        found.push((kind, word));
    }
    found.extend(assigned(program, args));
    found.extend(unpacked(program, args).map(|word| (Kind::Edit, word)));
    found.extend(listed(program, args));
    with_pieces(found)
}

/// The same with the pieces of words that are only mentioned.
fn with_pieces(mut found: Vec<FileUse>) -> Vec<FileUse> {
    let pieces: Vec<FileUse> = found
        .iter()
        .filter(|(kind, _)| *kind == Kind::Mention)
        .flat_map(|(_, word)| pieces(word))
        .map(|word| (Kind::Mention, word))
        .collect();
    found.extend(pieces);
    found
}

/// The files of `dd if=FILE of=FILE`, and those that find writes.
fn assigned(program: &str, args: &[Word]) -> Vec<FileUse> {
    match program {
        "dd" => {
            let value = |word: &Word| {
                let (name, value) = word.shown().split_once('=')?;
                let kind = match name {
                    "if" => Kind::Read,
                    "of" => Kind::Edit,
                    _ => return None,
                };
                Some((kind, part_of(word, value)))
            };
            args.iter().filter_map(value).collect()
        }
        "find" | "gfind" => {
            let writes = |text: &str| text.starts_with("-fprint") || text == "-fls";
            let pairs = args.windows(2).filter_map(|pair| match pair {
                [option, file] if writes(option.shown()) => Some((Kind::Edit, file.clone())),
                _ => None,
            });
            pairs.collect()
        }
        _ => Vec::new(),
    }
}

/// Where a program writes files whose names its arguments do not say.
fn unpacked(program: &str, args: &[Word]) -> Option<Word> {
    let has = |is: &dyn Fn(&str) -> bool| args.iter().any(|word| is(word.shown()));
    let first = args.first().map_or("", Word::shown);
    let is_short = |text: &str| text.starts_with('-') && !text.starts_with("--");
    let writes = match program {
        "tar" | "bsdtar" | "gtar" => {
            has(&|it| is_short(it) && it.contains('x'))
                || has(&|it| {
                    it.len() > 3 && ("--extract".starts_with(it) || "--get".starts_with(it))
                })
                || (!first.starts_with('-') && first.contains('x'))
        }
        "unzip" => !has(&|it| is_short(it) && it.contains(['l', 'p', 't', 'Z', 'v', 'z'])),
        "7z" | "7za" | "7zr" | "unrar" => matches!(first, "x" | "e"),
        "cpio" => has(&|it| it.starts_with("-i") || it.starts_with("--e") || it.starts_with("-p")),
        "patch" => !has(&|it| it == "--dry-run"),
        // The address, or the server, says what the file is called.
        "curl" => {
            has(&|it| it.starts_with("--remote-n") || (is_short(it) && it.contains(['O', 'J'])))
        }
        "wget" => !has(&|it| {
            (is_short(it) && it.contains('O')) || it.starts_with("--output-d") || it == "--spider"
        }),
        "ar" => first.trim_start_matches('-').starts_with('x'),
        _ => false,
    };
    writes.then(|| Word::unknown(&format!("(what {program} writes)")))
}

/// Files whose names a program reads from a list or its input, and those that curl makes of patterns.
fn listed(program: &str, args: &[Word]) -> Option<FileUse> {
    let has = |letters: &[char], long: &str, others: &[&str]| {
        args.iter().map(Word::shown).any(|text| {
            let is_group = text.starts_with('-') && !text.starts_with("--");
            let name = text.split('=').next().unwrap_or_default();
            (is_group && text.contains(letters))
                || (name.len() > 3 && name != "--file" && long.starts_with(name))
                || (!text.contains("://") && others.iter().any(|it| text.contains(it)))
        })
    };
    let first = args.first().map_or("", Word::shown);
    let reads = match program {
        "tar" | "bsdtar" | "gtar" => {
            has(&['T'], "--files-from", &[]) || (!first.starts_with('-') && first.contains('T'))
        }
        "cpio" | "pax" => true,
        "rsync" => has(&[], "--files-from", &[]),
        "zip" => has(&['@'], "", &[]),
        "7z" | "7za" | "7zr" => args.iter().any(|it| it.shown().starts_with('@')),
        "du" | "sort" | "wc" => has(&[], "--files0-from", &[]),
        "curl" => has(&['K'], "--config", &[]),
        _ => false,
    };
    let writes = program == "curl" && has(&[], "", &["%output{", "#1", "#2", "#3"]);
    match (reads, writes) {
        (_, true) => Some((Kind::Edit, Word::unknown("(what curl writes)"))),
        (true, _) => Some((Kind::Read, Word::unknown("(what a list names)"))),
        _ => None,
    }
}

/// Words in a word that may each be a file: `@FILE`, `name=FILE`, `FILE:/mnt`.
pub(crate) fn pieces(word: &Word) -> Vec<Word> {
    const MOST: usize = 8;
    let text = word.shown();
    let is_between = |c: char| matches!(c, '=' | ':' | ',' | '@' | '<');
    if text.contains(char::is_whitespace) || text.contains("://") || !text.contains(is_between) {
        return Vec::new();
    }
    let pieces = text.split(is_between).filter(|it| !it.is_empty());
    pieces.take(MOST).map(|it| part_of(word, it)).collect()
}

fn edits_in_place(program: &str, args: &[Word]) -> bool {
    let edits = |word: &Word| {
        let text = word.shown();
        let name = text.split('=').next().unwrap_or_default();
        let is_short = text.starts_with('-') && !text.starts_with("--");
        // A part of a name is enough.
        is_short && text.contains('i')
            || (name.len() > 2 && ("--in-place".starts_with(name) || "--inplace".starts_with(name)))
            || text == "inplace"
    };
    matches!(program, "awk" | "gawk" | "gsed" | "sed" | "yq") && args.iter().any(edits)
}

/// Whether a word is a number, as xxd takes it.
fn is_number(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.starts_with(|c: char| c.is_ascii_digit())
        && digits.chars().all(|c| c.is_ascii_hexdigit() || c == 'x')
}

/// Where the pattern of file names is that an option gives a search.
fn chosen_by<'a>(program: &str, option: &'a str) -> Option<Given<'a>> {
    match program {
        "rg" => value_of(option, &['g'], &["glob", "iglob", "type-add"]),
        "egrep" | "fgrep" | "grep" | "zgrep" => value_of(option, &[], &["include"]),
        "ug" | "ugrep" => value_of(option, &['g'], &["glob", "iglob", "include"]),
        // A regular expression.
        "ag" => value_of(option, &['G'], &["file-search-regex"]),
        _ => None,
    }
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Given<'a> {
    /// In the same word.
    Here(&'a str),
    /// In the next word.
    Next,
}

/// The options of programs by which they write a file: letters, and names.
fn writing(program: &str) -> Option<(&'static [char], &'static [&'static str])> {
    Some(match program {
        "sort" | "tree" => (&['o'], &["output"]),
        "cp" | "mv" | "ln" | "install" => (&['t'], &["target-directory"]),
        "curl" => (
            &['o', 'D', 'c'],
            &[
                "output",
                "output-dir",
                "dump-header",
                "cookie-jar",
                "trace",
                "trace-ascii",
                "stderr",
                "etag-save",
                "hsts",
                "alt-svc",
                "libcurl",
            ],
        ),
        "wget" => (
            &['O', 'P', 'o', 'a'],
            &[
                "output-document",
                "directory-prefix",
                "output-file",
                "append-output",
                "save-cookies",
                "warc-file",
                "rejected-log",
            ],
        ),
        "unzip" => (&['d'], &[]),
        "ssh-keygen" => (&['f'], &[]),
        "age" | "base64" | "dot" | "gpg" | "gpg2" | "iconv" | "pandoc" | "sdiff" | "shuf" => {
            (&['o'], &["output"])
        }
        "history" => (&['a', 'w'], &[]),
        "less" => (&['o', 'O'], &["log-file", "LOG-FILE"]),
        "mariadb" | "mysql" => (&[], &["tee"]),
        "psql" => (&['o', 'L'], &["output", "log-file"]),
        "csplit" => (&['f'], &["prefix"]),
        _ => return None,
    })
}

/// The file that an option has a program write, of those that otherwise read.
fn written_by<'a>(program: &str, option: &'a str) -> Option<Given<'a>> {
    if program == "openssl" {
        return matches!(option, "-out" | "-keyout").then_some(Given::Next);
    }
    let (letters, names) = writing(program)?;
    value_of(option, letters, names)
}

/// Where the value of an option is, if it is one of these: letters, also in a group, and names, also shortened.
pub(crate) fn value_of<'a>(option: &'a str, letters: &[char], names: &[&str]) -> Option<Given<'a>> {
    let Some(long) = option.strip_prefix("--") else {
        // The rest of a group of letters, or the next word.
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let group = option.find(|c| !is_letter(c)).unwrap_or(option.len());
        let at = option.get(..group)?.find(letters)?;
        return Some(match option.get(at + 1..) {
            None | Some("") => Given::Next,
            Some(rest) => Given::Here(rest.strip_prefix('=').unwrap_or(rest)),
        });
    };
    let (name, value) = match long.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (long, None),
    };
    // Programs take the beginning of an option for all of it.
    let is_it = |long: &&str| long.starts_with(name) && !name.is_empty();
    names
        .iter()
        .any(is_it)
        .then(|| value.map_or(Given::Next, Given::Here))
}

/// The values that an option may have in the same word.
pub(crate) fn values_of(word: &Word) -> impl Iterator<Item = Word> {
    let text = word.shown();
    let values = match text.strip_prefix("--") {
        Some(long) => [long.split_once('=').map(|(_, value)| value), None],
        // `-Idir`, and not `-la`; behind one letter, or a group of them.
        None => {
            let may_name = |rest: &&str| rest.contains(['/', '.', '_']) || rest.len() > 6;
            let behind = |at: usize| text.get(at..).filter(may_name);
            let group = text.find(['@', '.']).filter(|at| *at > 2);
            let group = group.and_then(behind);
            let is_plain = !text.contains(['/', '.']);
            [behind(2), group.or_else(|| behind(3).filter(|_| is_plain))]
        }
    };
    let values = values
        .into_iter()
        .flatten()
        .filter(|value| !value.is_empty());
    values
        .map(|value| part_of(word, value))
        .collect::<Vec<_>>()
        .into_iter()
}

/// A part of a word, of which as much is known as of the word.
pub(crate) fn part_of(word: &Word, part: &str) -> Word {
    match word.text {
        Some(_) => Word::known(part),
        None => Word {
            pattern: word.pattern.as_ref().map(|_| part.to_owned()),
            ..Word::unknown(part)
        },
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
            ("xxd f", vec!["read f"]),
            ("xxd -l 0x10 f", vec!["read f"]),
            ("xxd -r f g", vec!["read f", "edit g"]),
            ("rg -g .env x src", vec!["read .env", "read src"]),
            ("rg --glob=*.rs x", vec!["read *.rs", "read .rs"]),
            ("rg -ig!x.rs x src", vec!["read src"]),
            ("grep -r x --include=id_* .", vec!["read id_*", "read ."]),
            (
                "curl -Tid_rsa a.b",
                vec!["mention id_rsa", "mention d_rsa", "mention a.b"],
            ),
            ("date --file=.env", vec!["mention .env"]),
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
            ("awk x", false, false),
            ("awk system(x)", false, true),
            (". x", false, true),
        ] {
            let mut words = command.split(' ').map(Word::known);
            let program = words.next().expect("there is a program").raw;
            let args: Vec<Word> = words.collect();
            assert_eq!(runs_code(&program, &args, input), expected, "{command}");
        }
    }
}
