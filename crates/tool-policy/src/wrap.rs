//! Programs that run other programs: which words are the command that is run.

use crate::shell::word::Word;
use crate::{clients, shell_options};

/// What a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Runs {
    /// Only itself.
    Itself,
    /// Another command, in the words from here on.
    Words {
        /// The command.
        words: Vec<Word>,
        /// The names of variables that it sets for it.
        sets: Vec<String>,
        /// Whether the program is to be judged, too.
        with_itself: bool,
        /// Whether the command runs where relative paths are not known.
        elsewhere: bool,
    },
    /// A text, as a shell would.
    Script {
        /// The text.
        text: Word,
        /// Whether the program is to be judged, too.
        with_itself: bool,
    },
    /// What it reads from its input, as a shell would.
    Input,
    /// What cannot be known.
    Unknown(&'static str),
}

/// How the options of a program are read that runs another one.
struct Shape {
    /// Short options with a value.
    short: &'static str,
    /// Long ones whose value is the next word.
    long: &'static [&'static str],
    /// Operands before the command.
    before: usize,
    /// Whether it takes settings of variables before the command.
    sets: bool,
    with_itself: bool,
    elsewhere: bool,
}

const PLAIN: Shape = Shape {
    short: "",
    long: &[],
    before: 0,
    sets: false,
    with_itself: false,
    elsewhere: false,
};

const SHELLS: [&str; 13] = [
    "ash",
    "bash",
    "bash-static",
    "dash",
    "hush",
    "ksh",
    "mksh",
    "oksh",
    "posh",
    "rbash",
    "sh",
    "yash",
    "zsh",
];

/// Whether a program is a shell whose grammar is read.
pub(crate) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Programs that run what they are given in ways of their own.
const OTHERS: [&str; 131] = [
    "aarch64",
    "abduco",
    "ansible",
    "arm64",
    "armv7l",
    "at",
    "autossh",
    "aws-vault",
    "batch",
    "bind",
    "bpftrace",
    "bunx",
    "bwrap",
    "byobu",
    "capsh",
    "catatonit",
    "catchsegv",
    "cgexec",
    "choom",
    "chpst",
    "chronic",
    "chruby-exec",
    "cmd",
    "cmd.exe",
    "compgen",
    "complete",
    "concurrently",
    "coproc",
    "cpulimit",
    "crontab",
    "daemonize",
    "dbus-run-session",
    "direnv",
    "dotenv",
    "dtach",
    "dumb-init",
    "eatmydata",
    "emulate",
    "entr",
    "envchain",
    "expect",
    "faketime",
    "fc",
    "firejail",
    "flock",
    "fzf",
    "gdb",
    "gnome-terminal",
    "gosu",
    "hyperfine",
    "i386",
    "i486",
    "i586",
    "i686",
    "ifne",
    "konsole",
    "lima",
    "linux32",
    "linux64",
    "lldb",
    "ltrace",
    "lxc-attach",
    "machinectl",
    "mips",
    "mips64",
    "mosh",
    "newgrp",
    "nodemon",
    "nsenter",
    "numactl",
    "op",
    "openvt",
    "parallel",
    "pdsh",
    "pee",
    "perf",
    "pkexec",
    "ppc",
    "ppc64",
    "ppc64le",
    "prlimit",
    "proot",
    "proxychains",
    "proxychains4",
    "pssh",
    "riscv64",
    "rlwrap",
    "rr",
    "run-parts",
    "run0",
    "runcon",
    "s6-applyuidgid",
    "s6-envuidgid",
    "s6-setuidgid",
    "s6-softlimit",
    "s390",
    "s390x",
    "sched",
    "screen",
    "script",
    "sem",
    "setarch",
    "setpriv",
    "setuidgid",
    "sg",
    "softlimit",
    "sparc",
    "sparc64",
    "ssh",
    "sshpass",
    "start-stop-daemon",
    "su-exec",
    "systemd-inhibit",
    "systemd-nspawn",
    "systemd-run",
    "tini",
    "tmux",
    "torify",
    "torsocks",
    "tsp",
    "uname26",
    "unshare",
    "uvx",
    "valgrind",
    "watchexec",
    "wine",
    "wsl",
    "wsl.exe",
    "x86_64",
    "xterm",
    "xvfb-run",
];

/// Tools that run a program in the surroundings that a project says, by a subcommand.
const SURROUNDINGS: [(&str, &[&str]); 58] = [
    ("adb", &["shell"]),
    ("apptainer", &["exec", "run", "shell"]),
    ("asdf", &["exec"]),
    ("buildah", &["run"]),
    ("bun", &["x"]),
    ("bundle", &["exec"]),
    ("chamber", &["exec"]),
    ("conda", &["run"]),
    ("devbox", &["run"]),
    ("distrobox", &["enter"]),
    ("docker", &["exec", "run"]),
    ("docker-compose", &["exec", "run"]),
    ("doppler", &["run"]),
    ("dotenvx", &["run"]),
    ("flatpak", &["run"]),
    ("fly", &["ssh"]),
    ("flyctl", &["ssh"]),
    ("foreman", &["run"]),
    ("gcloud", &["ssh"]),
    ("goenv", &["exec"]),
    ("guix", &["environment", "shell"]),
    ("hatch", &["run"]),
    ("heroku", &["run"]),
    ("ip", &["netns", "vrf"]),
    ("jenv", &["exec"]),
    ("kubectl", &["exec", "run"]),
    ("lxc", &["exec"]),
    ("mamba", &["run"]),
    ("micromamba", &["run"]),
    ("mise", &["exec", "x"]),
    ("multipass", &["exec"]),
    ("nerdctl", &["exec", "run"]),
    ("nix", &["develop", "run", "shell"]),
    ("nodenv", &["exec"]),
    ("npm", &["exec", "x"]),
    ("nvm", &["exec", "run"]),
    ("oc", &["exec", "rsh", "run"]),
    ("pdm", &["run"]),
    ("pipenv", &["run"]),
    ("pipx", &["run"]),
    ("pixi", &["run"]),
    ("pnpm", &["dlx", "exec"]),
    ("podman", &["exec", "run"]),
    ("poetry", &["run"]),
    ("pyenv", &["exec"]),
    ("rbenv", &["exec"]),
    ("rustup", &["run"]),
    ("rvm", &["do", "exec"]),
    ("rye", &["run"]),
    ("singularity", &["exec", "run", "shell"]),
    ("snap", &["run"]),
    ("sops", &["exec-env", "exec-file"]),
    ("toolbox", &["run"]),
    ("tox", &["--", "e", "exec"]),
    ("uv", &["run"]),
    ("vagrant", &["ssh"]),
    ("yarn", &["dlx", "exec"]),
    ("zellij", &["run"]),
];

/// The options of tar by which it runs other programs: their beginnings.
const OF_TAR: &[&str] = &[
    "--to",
    "--check",
    "--use",
    "--rmt",
    "--rsh",
    "--info",
    "--new-vol",
    "-I",
    "-F",
];

/// The options of compilers by which they run other programs, or load code.
const OF_COMPILERS: &[&str] = &["-fplugin", "-specs", "--specs", "-wrapper"];

/// The options of netcat by which it runs a program for a connection.
const OF_NETCAT: &[&str] = &["-e", "-c", "--exec", "--sh-exec", "--lua-exec"];

/// Programs that run others by an option: its beginning.
const BY_OPTION: [(&str, &[&str]); 41] = [
    ("bat", &["--pager"]),
    ("batcat", &["--pager"]),
    ("bsdtar", &["--use", "-I"]),
    ("c++", OF_COMPILERS),
    ("cc", OF_COMPILERS),
    ("clang", OF_COMPILERS),
    ("clang++", OF_COMPILERS),
    ("cpio", &["--rsh"]),
    ("diff3", &["--diff-program"]),
    ("duckdb", &["-cmd", "--cmd", "-init", "--init"]),
    ("g++", OF_COMPILERS),
    ("gcc", OF_COMPILERS),
    ("gmake", &["SHELL", ".SHELL"]),
    (
        "go",
        &[
            "-exec",
            "--exec",
            "-toolexec",
            "--toolexec",
            "-vettool",
            "--vettool",
        ],
    ),
    ("gtar", OF_TAR),
    ("install", &["--strip-p"]),
    ("less", &["+", "-k", "--lesskey"]),
    ("lftp", &["-e", "-c", "-f"]),
    ("make", &["SHELL", ".SHELL"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("mapfile", &["-C"]),
    ("mariadb", &["--pager"]),
    ("mysql", &["--pager"]),
    ("nc", OF_NETCAT),
    ("nc.traditional", OF_NETCAT),
    ("ncat", OF_NETCAT),
    ("netcat", OF_NETCAT),
    ("nix-shell", &["--run", "--command"]),
    ("npx", &["-c", "--call"]),
    ("readarray", &["-C"]),
    ("rsync", &["-e", "--rsh", "--rsync-path"]),
    ("scp", &["-S", "-o"]),
    ("sdiff", &["--diff-program"]),
    ("sftp", &["-S", "-o"]),
    ("sort", &["--c"]),
    ("split", &["--fi"]),
    (
        "sqlite3",
        &["-A", "--A", "-cmd", "--cmd", "-init", "--init"],
    ),
    ("tar", OF_TAR),
    ("tcpdump", &["-z"]),
    ("wget", &["--use-askpass"]),
    ("zip", &["-TT", "--unzip-command"]),
];

/// What the names of programs begin with that load the program that they are given.
const LOADERS: [&str; 6] = ["ld-2.", "ld-linux", "ld-musl", "ld.so", "ld64.so", "qemu-"];

fn shape(program: &str) -> Option<Shape> {
    Some(match program {
        "builtin" | "nohup" | "setsid" | "command" | "busybox" | "toybox" | "unbuffer"
        | "noglob" | "nocorrect" | "-" | "ssh-agent" => PLAIN,
        "fakeroot" => Shape {
            short: "lfsib",
            long: &["--lib", "--faked"],
            ..PLAIN
        },
        // Of zsh.
        "repeat" => Shape { before: 1, ..PLAIN },
        "exec" => Shape {
            short: "a",
            ..PLAIN
        },
        "nice" => Shape {
            short: "n",
            long: &["--adjustment"],
            ..PLAIN
        },
        "ionice" => Shape {
            short: "cnpPu",
            long: &["--class", "--classdata"],
            ..PLAIN
        },
        "chrt" | "taskset" => Shape {
            short: "TPD",
            long: &["--sched-runtime", "--sched-period", "--sched-deadline"],
            before: 1,
            ..PLAIN
        },
        "timeout" | "gtimeout" => Shape {
            short: "ks",
            long: &["--kill-after", "--signal"],
            before: 1,
            ..PLAIN
        },
        "stdbuf" => Shape {
            short: "ioe",
            long: &["--input", "--output", "--error"],
            ..PLAIN
        },
        "time" => Shape {
            short: "of",
            long: &["--output", "--format"],
            ..PLAIN
        },
        "env" => Shape {
            short: "uCa",
            long: &["--unset", "--chdir", "--argv0"],
            sets: true,
            ..PLAIN
        },
        "caffeinate" => Shape {
            short: "tw",
            ..PLAIN
        },
        _ => return privileged(program),
    })
}

/// The same of programs that are judged, too.
fn privileged(program: &str) -> Option<Shape> {
    Some(match program {
        "strace" => Shape {
            short: "abeEoOpPsSuUXI",
            long: &[
                "--attach",
                "--columns",
                "--env",
                "--interruptible",
                "--output",
                "--summary-sort-by",
                "--user",
            ],
            with_itself: true,
            ..PLAIN
        },
        "sudo" => Shape {
            short: "ugpCrtTUDRhac",
            long: &[
                "--user",
                "--group",
                "--prompt",
                "--close-from",
                "--role",
                "--type",
                "--chdir",
                "--chroot",
                "--host",
                "--command-timeout",
                "--other-user",
                "--auth-type",
                "--login-class",
            ],
            sets: true,
            with_itself: true,
            ..PLAIN
        },
        "doas" => Shape {
            short: "uCa",
            sets: true,
            with_itself: true,
            ..PLAIN
        },
        "chroot" => Shape {
            before: 1,
            with_itself: true,
            elsewhere: true,
            ..PLAIN
        },
        _ => return None,
    })
}

/// What a command runs, whose words after its program these are.
pub(crate) fn runs(program: &str, args: &[Word], input: Option<&Word>, is_piped: bool) -> Runs {
    match program {
        "command"
            if args
                .first()
                .is_some_and(|it| matches!(it.shown(), "-v" | "-V")) =>
        {
            Runs::Itself
        }
        "eval" => script(without_dashes(args).iter(), false),
        "trap" => match without_dashes(args).first() {
            Some(word) if !word.shown().starts_with('-') => script([word].into_iter(), true),
            _ => Runs::Itself,
        },
        "alias" => {
            let values = args.iter().filter_map(|word| match &word.text {
                Some(text) => text.split_once('=').map(|(_, value)| Word::known(value)),
                None => Some(word.clone()),
            });
            let values: Vec<Word> = values.collect();
            match values.is_empty() {
                true => Runs::Itself,
                false => lines(values.iter()),
            }
        }
        "." | "source" => sourced(args, input),
        "watch" => {
            let rest = operands(args, "nqs", &["--interval", "--equexit", "--shotsdir"]);
            rest.map_or(UNSURE, |rest| script(rest.iter(), true))
        }
        "xargs" => xargs(args),
        "find" | "gfind" => find(args),
        "fd" | "fdfind" => fd(args),
        "su" | "runuser" => su(args),
        "enable" => Runs::Unknown("it can load code"),
        "ftp" | "mail" | "mailx" if is_piped => {
            Runs::Unknown("a line that it reads can run a command")
        }
        "jobs" => jobs(args),
        "hash" | "set" | "shopt" if !shell_options::are_plain(program, args) => {
            Runs::Unknown("it changes how the shell reads or finds commands")
        }
        loader if LOADERS.iter().any(|it| loader.starts_with(it)) => {
            Runs::Unknown("it loads another program")
        }
        _ if is_by_text(program, args) => Runs::Unknown("a text of it runs a command"),
        "python" | "python3" | "pypy" | "pypy3" => module(args),
        other if OTHERS.contains(&other) => {
            Runs::Unknown("it runs other commands, which are not read")
        }
        other if is_by_option(other, args) => Runs::Unknown("an option of it runs a command"),
        other if is_surrounding(other, args) => {
            Runs::Unknown("it runs other commands, which are not read")
        }
        shell if SHELLS.contains(&shell) => of_shell(args, input, is_piped),
        "fish" | "csh" | "tcsh" | "pwsh" | "powershell" | "nu" | "xonsh" | "elvish" | "osh"
        | "ysh"
            if !args.is_empty() || is_piped =>
        {
            Runs::Unknown("it is a shell with a grammar of its own")
        }
        _ => match shape(program) {
            Some(shape) => within(program, args, &shape),
            None => {
                let doubt = clients::doubt(program, args, input, is_piped);
                doubt.map_or(Runs::Itself, Runs::Unknown)
            }
        },
    }
}

const UNSURE: Runs = Runs::Unknown("its options depend on the run");

/// The words behind `--`, if they begin with it.
fn without_dashes(args: &[Word]) -> &[Word] {
    match args.split_first() {
        Some((first, rest)) if first.shown() == "--" => rest,
        _ => args,
    }
}

/// Whether a program is given an option that runs another one.
fn is_by_option(program: &str, args: &[Word]) -> bool {
    let known = BY_OPTION.iter().find(|(name, _)| *name == program);
    let runs = |word: &Word| {
        let text = word.shown();
        known.is_some_and(|(_, options)| {
            options.iter().any(|option| {
                let name = text.split('=').next().unwrap_or_default();
                // An option may be shortened, and be in a group with others.
                let letter = option.strip_prefix('-').filter(|it| it.len() == 1);
                let is_group = text.starts_with('-') && !text.starts_with("--");
                text.starts_with(option)
                    || letter.is_some_and(|letter| is_group && name.contains(letter))
            })
        })
    };
    known.is_some() && args.iter().any(runs)
}

/// Whether a program is given a text that has it run another one.
fn is_by_text(program: &str, args: &[Word]) -> bool {
    let runs: fn(&str) -> bool = match program {
        "rg" => |text| {
            let name = text.split('=').next().unwrap_or_default();
            matches!(name, "--pre" | "--hostname-bin")
        },
        "socat" => |text| {
            let text = text.to_ascii_lowercase();
            ["exec:", "shell:", "system:"]
                .iter()
                .any(|it| text.contains(it))
        },
        _ => return false,
    };
    args.iter().map(Word::shown).any(runs)
}

/// `jobs -x COMMAND` runs a command. Other options list the shell's jobs.
fn jobs(args: &[Word]) -> Runs {
    let Some(rest) = operands(args, "", &[]) else {
        return UNSURE;
    };
    let options = args.get(..args.len() - rest.len()).unwrap_or_default();
    match (shell_options::have_only(options, "lnprs"), rest) {
        (true, _) => Runs::Itself,
        (false, []) => UNSURE,
        (false, words) => Runs::Words {
            words: words.to_vec(),
            sets: Vec::new(),
            with_itself: true,
            elsewhere: false,
        },
    }
}

/// Whether a program is given a subcommand that runs another one.
fn is_surrounding(program: &str, args: &[Word]) -> bool {
    let known = SURROUNDINGS.iter().find(|(name, _)| *name == program);
    known.is_some_and(|(_, subcommands)| args.iter().any(|it| subcommands.contains(&it.shown())))
}

/// `python -m MODULE` runs a module as a program.
fn module(args: &[Word]) -> Runs {
    let Some(at) = args.iter().position(|it| it.shown().starts_with("-m")) else {
        return Runs::Itself;
    };
    // What stands before decides whether this is an option.
    let is_option = |word: &Word| {
        let text = word.shown();
        text.starts_with('-') && !text.contains('c')
    };
    if !args.iter().take(at).all(is_option) {
        return Runs::Itself;
    }
    let attached = args.get(at).and_then(|it| it.shown().strip_prefix("-m"));
    let first = attached.filter(|it| !it.is_empty()).map(Word::known);
    let rest = args.iter().skip(at + 1).cloned();
    let words: Vec<Word> = first.into_iter().chain(rest).collect();
    match words.is_empty() {
        true => Runs::Itself,
        false => Runs::Words {
            words,
            sets: Vec::new(),
            with_itself: true,
            elsewhere: false,
        },
    }
}

/// `source FILE`, where the file may be what the command itself is given.
fn sourced(args: &[Word], input: Option<&Word>) -> Runs {
    let Some(word) = without_dashes(args).first() else {
        return Runs::Itself;
    };
    match (&word.text, input) {
        (None, _) => Runs::Unknown("which file it runs is only known at run time"),
        (Some(text), Some(input)) if is_input(text) && input.text.is_some() => Runs::Script {
            text: input.clone(),
            with_itself: true,
        },
        (Some(text), _) if is_input(text) => Runs::Input,
        _ => Runs::Itself,
    }
}

/// Whether a file is what a command reads.
pub(crate) fn is_input(path: &str) -> bool {
    let path = path.trim_start_matches("./");
    path == "/dev/stdin"
        || path.starts_with("/dev/fd/")
        || (path.starts_with("/proc/") && path.contains("/fd/"))
}

/// The words behind a program's options.
fn operands<'a>(args: &'a [Word], short: &str, long: &[&str]) -> Option<&'a [Word]> {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let text = word.text.as_deref()?;
        if text == "--" {
            return args.get(at + 1..);
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        let takes_next = match text.strip_prefix("--") {
            // A part of a name is enough.
            Some(_) => !text.contains('=') && long.iter().any(|long| long.starts_with(text)),
            // The last letter of a group takes the next word, if it takes one.
            None => {
                let mut letters = text.chars().skip(1);
                let taking = letters.position(|c| short.contains(c));
                taking.is_some_and(|at| at + 2 == text.chars().count())
            }
        };
        at += if takes_next { 2 } else { 1 };
    }
    Some(args.get(at..).unwrap_or_default())
}

fn within(program: &str, args: &[Word], shape: &Shape) -> Runs {
    // `env -S` splits a text, `sudo -e` edits, and `time -o` writes.
    let in_group = |text: &str, letter: char| {
        text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
    };
    let is_long = |text: &str, long: &str| {
        let name = text.split('=').next().unwrap_or_default();
        name.len() > 2 && long.starts_with(name)
    };
    let is_other = |text: &str| match program {
        "env" => in_group(text, 'S') || is_long(text, "--split-string"),
        "sudo" => in_group(text, 'e') || is_long(text, "--edit"),
        "time" | "strace" => in_group(text, 'o') || is_long(text, "--output"),
        _ => false,
    };
    let moves = |text: &str| match program {
        "env" => text.starts_with("-C") || text.starts_with("--chdir"),
        "sudo" => ["-D", "-R", "-i", "--chdir", "--chroot", "--login"]
            .iter()
            .any(|it| text.starts_with(it)),
        _ => false,
    };
    let Some(rest) = operands(args, shape.short, shape.long) else {
        return UNSURE;
    };
    let given = args.get(..args.len() - rest.len()).unwrap_or_default();
    if given.iter().map(Word::shown).any(is_other) {
        return Runs::Unknown("an option of it runs a text, or writes a file");
    }
    let elsewhere = shape.elsewhere || given.iter().map(Word::shown).any(moves);
    let mut rest = rest.get(shape.before..).unwrap_or_default();
    let mut sets = Vec::new();
    while let Some(word) = rest.first().filter(|_| shape.sets) {
        let Some(text) = &word.text else {
            // It is the program, or sets a variable whose value is not known.
            match word.raw.split_once('=') {
                Some((name, _)) if is_name(name) => sets.push(name.to_owned()),
                _ => break,
            }
            rest = rest.get(1..).unwrap_or_default();
            continue;
        };
        match text.split_once('=') {
            Some((name, _)) if is_name(name) => sets.push(name.to_owned()),
            _ => break,
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    match (rest.is_empty(), program) {
        (true, "sudo" | "doas" | "chroot" | "fakeroot" | "ssh-agent") if !args.is_empty() => {
            Runs::Unknown("it runs a shell")
        }
        (true, _) => Runs::Itself,
        (false, _) => Runs::Words {
            words: rest.to_vec(),
            sets,
            with_itself: shape.with_itself,
            elsewhere,
        },
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Words that a shell takes as one text.
fn script<'a>(words: impl Iterator<Item = &'a Word>, with_itself: bool) -> Runs {
    joined(words, " ").map_or(UNSURE, |text| Runs::Script { text, with_itself })
}

fn lines<'a>(words: impl Iterator<Item = &'a Word>) -> Runs {
    joined(words, "\n").map_or(UNSURE, |text| Runs::Script {
        text,
        with_itself: true,
    })
}

fn joined<'a>(words: impl Iterator<Item = &'a Word>, between: &str) -> Option<Word> {
    let texts: Option<Vec<&str>> = words.map(|word| word.text.as_deref()).collect();
    Some(Word::known(&texts?.join(between)))
}

fn xargs(args: &[Word]) -> Runs {
    let long = [
        "--arg-file",
        "--delimiter",
        "--eof",
        "--replace",
        "--max-lines",
        "--max-args",
        "--max-procs",
        "--max-chars",
        "--process-slot-var",
    ];
    let Some(rest) = operands(args, "IEnPLdsaJRS", &long) else {
        return UNSURE;
    };
    let given = args.get(..args.len() - rest.len()).unwrap_or_default();
    let reads = |word: &&Word| {
        let text = word.shown();
        text.starts_with("-a") || (text.len() > 3 && text.starts_with("--a"))
    };
    if given.iter().any(|word| reads(&word)) {
        return Runs::Unknown("it reads its words from a file");
    }
    if rest.is_empty() {
        return Runs::Itself;
    }
    let mut words = rest.to_vec();
    words.push(Word::unknown("(what xargs reads)"));
    // `-I{}` puts it elsewhere.
    let places = replaced_by_xargs(given);
    for word in &mut words {
        if places.iter().any(|it| word.raw.contains(it.as_str())) {
            *word = Word::unknown(&word.raw);
        }
    }
    Runs::Words {
        words,
        sets: Vec::new(),
        with_itself: false,
        elsewhere: false,
    }
}

/// The texts in whose place xargs puts what it reads.
fn replaced_by_xargs(options: &[Word]) -> Vec<String> {
    let mut places = vec!["{}".to_owned()];
    let mut words = options.iter().map(Word::shown);
    while let Some(text) = words.next() {
        let value = match text.strip_prefix("--") {
            Some(long) if long.starts_with('r') => match long.split_once('=') {
                Some((_, value)) => Some(value),
                None => words.next(),
            },
            Some(_) => None,
            // The rest of a group, or the next word.
            None => match text.find(['I', 'J', 'i']).and_then(|at| text.get(at + 1..)) {
                Some("") => words.next(),
                value => value,
            },
        };
        places.extend(value.filter(|it| !it.is_empty()).map(str::to_owned));
    }
    places
}

/// The command of `-exec`; of several, the words of each behind the other, as one script.
fn find(args: &[Word]) -> Runs {
    let runs = |text: &str| matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir");
    let begins: Vec<usize> = (0..args.len())
        .filter(|at| args.get(*at).is_some_and(|word| runs(word.shown())))
        .collect();
    // What is expanded here may be an option, and several words where it is not quoted.
    let is_open = |word: &Word| word.text.is_none() && word.raw.starts_with(['$', '`']);
    let is_closed = |word: &Word| matches!(word.shown(), ";" | "+");
    let may_run = args.iter().any(is_open)
        || (args
            .iter()
            .any(|it| it.text.is_none() && it.pattern.is_none())
            && args.iter().any(is_closed));
    match begins.as_slice() {
        [] if may_run => Runs::Unknown("its options depend on the run"),
        [] => Runs::Itself,
        [begin] => {
            let rest = args.get(begin + 1..).unwrap_or_default();
            let ends = |word: &Word| matches!(word.shown(), ";" | "+");
            let end = rest.iter().position(ends).unwrap_or(rest.len());
            let words = rest.get(..end).unwrap_or_default().iter();
            Runs::Words {
                words: words.map(replaced).collect(),
                sets: Vec::new(),
                with_itself: true,
                elsewhere: args
                    .get(*begin)
                    .is_some_and(|it| it.shown().ends_with("dir")),
            }
        }
        _ => Runs::Unknown("it runs several commands"),
    }
}

fn fd(args: &[Word]) -> Runs {
    let runs = |word: &Word| matches!(word.shown(), "-x" | "-X" | "--exec" | "--exec-batch");
    let Some(begin) = args.iter().position(runs) else {
        let attached = |it: &Word| {
            ["-x", "-X", "--exec"]
                .iter()
                .any(|x| it.shown().starts_with(x))
        };
        return match args.iter().any(attached) {
            true => Runs::Unknown("an option of it runs a command"),
            false => Runs::Itself,
        };
    };
    let mut words: Vec<Word> = args.iter().skip(begin + 1).map(replaced).collect();
    words.push(Word::unknown("(what fd finds)"));
    Runs::Words {
        words,
        sets: Vec::new(),
        with_itself: true,
        elsewhere: false,
    }
}

/// A word in which the name of a file that is found takes the place of `{}`.
fn replaced(word: &Word) -> Word {
    match word.shown().contains("{}") || word.shown().contains("{/") || word.shown().contains("{.")
    {
        true => Word::unknown(&word.raw),
        false => word.clone(),
    }
}

fn su(args: &[Word]) -> Runs {
    let begin = args
        .iter()
        .position(|word| matches!(word.shown(), "-c" | "--command"));
    match begin.and_then(|begin| args.get(begin + 1)) {
        Some(word) if word.text.is_some() => Runs::Script {
            text: word.clone(),
            with_itself: true,
        },
        _ => Runs::Unknown("it runs a shell"),
    }
}

fn of_shell(args: &[Word], input: Option<&Word>, is_piped: bool) -> Runs {
    let (mut at, mut is_text, mut is_from_input) = (0, false, false);
    while let Some(word) = args.get(at) {
        let Some(text) = word.text.as_deref() else {
            return UNSURE;
        };
        if text == "--" || text == "-" {
            at += 1;
            break;
        }
        if !text.starts_with(['-', '+']) {
            break;
        }
        at += 1;
        if matches!(text, "--rcfile" | "--init-file") {
            return Runs::Unknown("it runs a file before anything else");
        }
        if !text.starts_with("--") {
            let named = args.get(at..at + text.matches(['o', 'O']).count());
            if !shell_options::are_read(text, named.unwrap_or_default()) {
                return Runs::Unknown("an option of it changes how it reads commands");
            }
            is_text |= text.starts_with('-') && text.contains('c');
            is_from_input |= text.contains('s');
            // Each has a word of its own behind the group.
            at += text.matches(['o', 'O']).count();
        }
    }
    let operand = args.get(at);
    let names_input = |it: &&Word| it.text.as_deref().is_some_and(is_input);
    is_from_input |= operand.filter(names_input).is_some();
    let is_piped = is_piped || operand.filter(names_input).is_some();
    match (is_text, operand, input) {
        (true, Some(word), _) if word.text.is_some() => Runs::Script {
            text: word.clone(),
            with_itself: false,
        },
        (true, _, _) => Runs::Unknown("it runs a text that is only known at run time"),
        (false, Some(_), _) if !is_from_input => Runs::Itself,
        (false, _, Some(word)) if word.text.is_some() => Runs::Script {
            text: word.clone(),
            with_itself: false,
        },
        (false, _, Some(_)) => Runs::Unknown("it runs a text that is only known at run time"),
        (false, _, None) if is_piped => Runs::Input,
        (false, _, None) => Runs::Itself,
    }
}
