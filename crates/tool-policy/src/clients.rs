//! Clients of databases, which are given commands in languages of their own: those by which they run programs, write
//! files or load code.

use crate::shell::word::Word;

/// What a client is given.
struct Client {
    names: &'static [&'static str],
    /// Options whose value is a command: their letters and names.
    letters: &'static str,
    options: &'static [&'static str],
    /// Letters that may stand before such a letter in a group.
    flags: &'static str,
    /// `true` if its operands behind the first one are commands.
    has_operands: bool,
    /// Words by which it runs programs, writes files or loads code. Of several words all must be there.
    words: &'static [&'static str],
    /// Returns `true` if a text has another command that does.
    is_odd: fn(&str) -> bool,
}

const CLIENTS: [Client; 6] = [
    Client {
        names: &["cqlsh"],
        letters: "e",
        options: &["--execute"],
        flags: "",
        has_operands: false,
        words: &["capture", "copy", "source"],
        is_odd: |_| false,
    },
    Client {
        names: &["duckdb"],
        letters: "",
        options: &["-c", "-s"],
        flags: "",
        has_operands: true,
        words: &["attach", "copy to", "export", "install", "load"],
        is_odd: has_dot_command,
    },
    Client {
        names: &["mariadb", "mysql"],
        letters: "e",
        options: &["--execute"],
        flags: "AbBCEfGHiLnNqrstTvVwWX",
        has_operands: false,
        words: &[
            "dumpfile", "edit", "outfile", "pager", "source", "system", "tee",
        ],
        is_odd: |text| {
            let mut odd = ["\\!", "\\.", "\\P", "\\T", "\\e"].into_iter();
            odd.any(|it| text.contains(it))
        },
    },
    Client {
        names: &["psql"],
        letters: "c",
        options: &["--command"],
        flags: "aAbeEHlnqsStwWxXz01",
        has_operands: false,
        words: &["copy to", "lo_export", "program"],
        is_odd: has_backslash_command,
    },
    Client {
        names: &["sqlcmd"],
        letters: "qQ",
        options: &[],
        flags: "",
        has_operands: false,
        words: &["xp_cmdshell"],
        is_odd: |text| {
            let mut lines = text.lines().map(str::trim_start);
            lines.any(|line| line.starts_with([':', '!']))
        },
    },
    Client {
        names: &["sqlite3"],
        letters: "",
        options: &[],
        flags: "",
        has_operands: true,
        words: &[
            "attach",
            "edit",
            "load_extension",
            "vacuum into",
            "writefile",
        ],
        is_odd: has_dot_command,
    },
];

/// Returns why it is not known what a client does, if a program is one and that is so.
pub(crate) fn doubt(
    program: &str,
    args: &[Word],
    input: Option<&Word>,
    is_piped: bool,
) -> Option<&'static str> {
    let client = CLIENTS.iter().find(|it| it.names.contains(&program))?;
    let is_command = client.commands(args);
    let commands = args.iter().zip(&is_command);
    let commands = commands.filter_map(|(word, is)| is.then_some(word));
    let commands: Vec<&Word> = commands.chain(input).collect();
    // A name alone may be that of a file or a database.
    let is_sentence = |text: &&str| text.contains([' ', '\t', '\n', '(', '\'', '*']);
    let texts = args.iter().map(Word::shown);
    let mut sentences = texts.clone().filter(is_sentence);
    let mut given = commands.iter().map(|word| word.shown());
    if texts.chain(input.map(Word::shown)).any(client.is_odd)
        || sentences.any(|text| client.has_word(text))
        || given.any(|text| client.has_word(text))
    {
        return Some("a command of it runs a program, writes a file or loads code");
    }
    if commands.into_iter().any(is_open) {
        return Some("its commands are only known at run time");
    }
    let reads = is_piped && input.is_none() && client.reads(args);
    reads.then_some("it runs the commands that it reads")
}

impl Client {
    /// Returns `true` if a text has one of its words, whatever is between them.
    fn has_word(&self, text: &str) -> bool {
        let is_other = |c: char| c != '_' && !c.is_ascii_alphanumeric();
        let has = |word: &str| {
            let mut found = text.split(is_other);
            found.any(|it| it.eq_ignore_ascii_case(word))
        };
        self.words.iter().any(|words| words.split(' ').all(has))
    }

    /// Returns `true` if the value of an option is a command.
    fn takes(&self, option: &str) -> bool {
        let name = option.split('=').next().unwrap_or_default();
        let group = option.strip_prefix('-').unwrap_or_default();
        let group = group.trim_start_matches(|c: char| self.flags.contains(c));
        let mut options = self.options.iter();
        options.any(|it| *it == name || (name.len() > 3 && it.starts_with(name)))
            || group.starts_with(|c: char| self.letters.contains(c))
    }

    /// Returns which of its words may be commands, and options that have one in the same word.
    fn commands(&self, args: &[Word]) -> Vec<bool> {
        let (mut operands, mut is_next) = (0, false);
        let is_command = |word: &Word| {
            let is_option = word.shown().starts_with('-');
            let is_value = std::mem::replace(&mut is_next, self.takes(word.shown()));
            operands += usize::from(!is_option);
            is_value || is_next || (self.has_operands && operands > 1 && !is_option)
        };
        args.iter().map(is_command).collect()
    }

    /// Returns `true` if it may read its commands from its input.
    fn reads(&self, args: &[Word]) -> bool {
        let texts = args.iter().map(Word::shown);
        let is_input =
            |text: &str| text.ends_with('-') || text.contains("/dev/") || text.contains("/proc/");
        let options = texts.clone().filter(|it| it.starts_with('-')).count();
        // Each option may have a value.
        let has_command = texts.clone().any(|it| self.takes(it))
            || (self.has_operands && args.len() - options > options + 1);
        !has_command || texts.clone().any(is_input)
    }
}

/// Returns `true` if a command is expanded as a whole at run time.
fn is_open(word: &Word) -> bool {
    let raw = word.raw.trim_start_matches('"');
    word.text.is_none() && raw.starts_with(['$', '`', '-'])
}

/// Returns `true` if a line is a command of the client itself, as of SQLite and DuckDB, other than those that only show
/// something.
fn has_dot_command(text: &str) -> bool {
    const SHOW: [&str; 8] = [
        ".databases",
        ".dump",
        ".headers",
        ".indexes",
        ".mode",
        ".schema",
        ".tables",
        ".width",
    ];
    let mut commands = text
        .lines()
        .map(|line| line.split_whitespace().next().unwrap_or_default());
    commands.any(|command| {
        let rest = command.strip_prefix('.').unwrap_or_default();
        rest.starts_with(|c: char| c.is_ascii_alphabetic()) && !SHOW.contains(&command)
    })
}

/// Returns `true` if a text has a command of psql other than those that only show something, or one whose arguments are
/// the output of a program.
fn has_backslash_command(text: &str) -> bool {
    const SHOW: [&str; 20] = [
        "", "?", "a", "conninfo", "echo", "encoding", "f", "h", "H", "help", "l", "p", "pset", "q",
        "sf", "sv", "t", "timing", "x", "z",
    ];
    let shows = |command: &str| {
        let command = command
            .split(char::is_whitespace)
            .next()
            .unwrap_or_default();
        let command = command.trim_end_matches(['+', ';']);
        command.starts_with('d') || SHOW.contains(&command)
    };
    let mut commands = text.split('\\').skip(1).peekable();
    let pipes = commands.peek().is_some() && text.contains(['|', '`']);
    pipes || !commands.all(shows)
}
