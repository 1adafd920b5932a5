//! Programs that run other programs: which words are the command that is run.

use crate::shell::word::Word;

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

const SHELLS: [&str; 7] = ["ash", "bash", "dash", "ksh", "mksh", "sh", "zsh"];

fn shape(program: &str) -> Option<Shape> {
    Some(match program {
        "builtin" | "nohup" | "setsid" | "command" | "busybox" | "toybox" | "unbuffer"
        | "fakeroot" | "noglob" | "nocorrect" => PLAIN,
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
        "chrt" | "taskset" => Shape { before: 1, ..PLAIN },
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
            short: "uC",
            long: &["--unset", "--chdir"],
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
        "strace" | "ltrace" => Shape {
            short: "aeEoOpPsSuXI",
            with_itself: true,
            ..PLAIN
        },
        "sudo" => Shape {
            short: "ugpCrtTUDRh",
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
            ],
            sets: true,
            with_itself: true,
            ..PLAIN
        },
        "doas" => Shape {
            short: "uC",
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
        "eval" => script(args.iter(), false),
        "trap" => match args.first() {
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
        "watch" => {
            let rest = operands(args, "nqeg", &["--interval"]);
            rest.map_or(UNSURE, |rest| script(rest.iter(), true))
        }
        "xargs" => xargs(args),
        "find" | "gfind" => find(args),
        "fd" | "fdfind" => fd(args),
        "su" | "runuser" => su(args),
        "flock" => Runs::Unknown("flock runs another command"),
        "parallel" | "entr" | "unshare" | "firejail" | "bwrap" | "nsenter" | "script"
        | "pkexec" | "systemd-run" | "at" | "batch" | "crontab" | "chpst" | "daemonize"
        | "screen" | "tmux" => Runs::Unknown("it runs other commands, which are not read"),
        shell if SHELLS.contains(&shell) => of_shell(args, input, is_piped),
        "fish" | "csh" | "tcsh" | "pwsh" | "nu" if !args.is_empty() || is_piped => {
            Runs::Unknown("it is a shell with a grammar of its own")
        }
        _ => match shape(program) {
            Some(shape) => within(program, args, &shape),
            None => Runs::Itself,
        },
    }
}

const UNSURE: Runs = Runs::Unknown("its options depend on the run");

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
            Some(_) => long.contains(&text),
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
    // `env -S` splits a text, and `sudo -e` edits.
    let is_split = |text: &str| match program {
        "env" => text.starts_with("-S") || text.starts_with("--split") || text.starts_with("-vS"),
        "sudo" => matches!(text, "-e" | "--edit"),
        _ => false,
    };
    if args.iter().map(Word::shown).any(is_split) {
        return Runs::Unknown("it is given a command as a text of its own form");
    }
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
    match rest.is_empty() {
        true => Runs::Itself,
        false => Runs::Words {
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
    let Some(rest) = operands(args, "IEnPLdsaJR", &long) else {
        return UNSURE;
    };
    if rest.is_empty() {
        return Runs::Itself;
    }
    let mut words = rest.to_vec();
    words.push(Word::unknown("(what xargs reads)"));
    // `-I{}` puts it elsewhere.
    for word in &mut words {
        if word.raw.contains("{}") || word.raw.contains('%') {
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

/// The command of `-exec`; of several, the words of each behind the other, as one script.
fn find(args: &[Word]) -> Runs {
    let runs = |text: &str| matches!(text, "-exec" | "-execdir" | "-ok" | "-okdir");
    let begins: Vec<usize> = (0..args.len())
        .filter(|at| args.get(*at).is_some_and(|word| runs(word.shown())))
        .collect();
    match begins.as_slice() {
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
        return Runs::Itself;
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
    let (mut at, mut is_text, mut is_input) = (0, false, false);
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
            is_text |= text.starts_with('-') && text.contains('c');
            is_input |= text.contains('s');
            at += usize::from(text.ends_with(['o', 'O']));
        }
    }
    let operand = args.get(at);
    match (is_text, operand, input) {
        (true, Some(word), _) if word.text.is_some() => Runs::Script {
            text: word.clone(),
            with_itself: false,
        },
        (true, _, _) => Runs::Unknown("it runs a text that is only known at run time"),
        (false, Some(_), _) if !is_input => Runs::Itself,
        (false, _, Some(word)) if word.text.is_some() => Runs::Script {
            text: word.clone(),
            with_itself: false,
        },
        (false, _, Some(_)) => Runs::Unknown("it runs a text that is only known at run time"),
        (false, _, None) if is_piped => Runs::Input,
        (false, _, None) => Runs::Itself,
    }
}
