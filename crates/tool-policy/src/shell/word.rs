//! A word of a command: what it is after expansion, where that is known before the command runs.

use super::{arithmetic, closing};

/// What is known of the shell's variables.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Variables<'a> {
    /// `$HOME`, and `~`.
    pub(crate) home: Option<&'a str>,
    /// `$PWD`.
    pub(crate) pwd: Option<&'a str>,
}

/// A word.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Word {
    /// As it stands in the command.
    pub(crate) raw: String,
    /// What it is, if that is known.
    pub(crate) text: Option<String>,
    /// The pattern of file names that it is, where only the files are not known.
    pub(crate) pattern: Option<String>,
    /// The commands that are run for it.
    pub(crate) commands: Vec<String>,
    /// The expressions that are evaluated for it.
    pub(crate) expressions: Vec<String>,
    /// Whether it could not be understood.
    pub(crate) is_odd: bool,
}

impl Word {
    /// A word that is known.
    pub(crate) fn known(text: &str) -> Word {
        Word {
            raw: text.to_owned(),
            text: Some(text.to_owned()),
            ..Word::default()
        }
    }

    /// One that is not.
    pub(crate) fn unknown(raw: &str) -> Word {
        Word {
            raw: raw.to_owned(),
            ..Word::default()
        }
    }

    /// What it is, or how it stands there.
    pub(crate) fn shown(&self) -> &str {
        self.text.as_deref().unwrap_or(&self.raw)
    }
}

/// Reads a word of a command.
pub(crate) fn read(raw: &str, variables: Variables<'_>) -> Word {
    Scan::new(raw, variables, Mode::Plain).word(raw)
}

/// Reads the text of a here-document in which variables and commands are expanded.
pub(crate) fn read_document(raw: &str, variables: Variables<'_>) -> Word {
    Scan::new(raw, variables, Mode::Document).word(raw)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Plain,
    Quoted,
    Document,
}

struct Scan<'a> {
    rest: &'a str,
    mode: Mode,
    variables: Variables<'a>,
    text: String,
    is_known: bool,
    is_pattern: bool,
    has_quoted_pattern: bool,
    is_odd: bool,
    commands: Vec<String>,
    expressions: Vec<String>,
}

impl<'a> Scan<'a> {
    fn new(rest: &'a str, variables: Variables<'a>, mode: Mode) -> Scan<'a> {
        Scan {
            rest,
            mode,
            variables,
            text: String::new(),
            is_known: true,
            is_pattern: false,
            has_quoted_pattern: false,
            is_odd: false,
            commands: Vec::new(),
            expressions: Vec::new(),
        }
    }

    fn word(mut self, raw: &str) -> Word {
        self.tilde();
        while let Some(c) = self.take() {
            self.step(c);
        }
        let is_whole = self.is_known && !self.is_odd && self.mode != Mode::Quoted;
        let has_pattern = is_whole && self.is_pattern && !self.has_quoted_pattern;
        Word {
            raw: raw.to_owned(),
            pattern: has_pattern.then(|| self.text.clone()),
            text: (is_whole && !self.is_pattern).then_some(self.text),
            commands: self.commands,
            expressions: self.expressions,
            is_odd: self.is_odd || self.mode == Mode::Quoted,
        }
    }

    fn take(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.skip(c.len_utf8());
        Some(c)
    }

    fn skip(&mut self, bytes: usize) {
        self.rest = self.rest.get(bytes..).unwrap_or_default();
    }

    /// Takes what is before a place, and the one character that is there.
    fn take_to(&mut self, end: Option<usize>) -> &'a str {
        let rest = self.rest;
        let Some(taken) = end.and_then(|end| rest.get(..end)) else {
            self.is_odd = true;
            return std::mem::take(&mut self.rest);
        };
        self.skip(taken.len() + 1);
        taken
    }

    fn tilde(&mut self) {
        if self.mode != Mode::Plain || !self.rest.starts_with('~') {
            return;
        }
        self.skip(1);
        match self.variables.home {
            Some(home) if self.rest.is_empty() || self.rest.starts_with('/') => {
                self.text.push_str(home);
            }
            _ => self.is_known = false,
        }
    }

    fn step(&mut self, c: char) {
        match (self.mode, c) {
            (Mode::Plain, '\\') => match self.take() {
                Some('\n') => {}
                Some(c) => self.literal(c),
                None => self.is_odd = true,
            },
            (_, '\\') => match self.rest.chars().next() {
                Some('\n') => self.skip(1),
                Some(c @ ('$' | '`' | '\\')) => {
                    self.skip(1);
                    self.literal(c);
                }
                Some('"') if self.mode == Mode::Quoted => {
                    self.skip(1);
                    self.literal('"');
                }
                _ => self.literal('\\'),
            },
            (_, '$') => self.dollar(),
            (_, '`') => {
                let inside = self.take_to(closing::backquote(self.rest));
                self.command(&unescaped(inside));
            }
            (Mode::Plain, '\'') => {
                let inside = self.take_to(self.rest.find('\''));
                inside.chars().for_each(|c| self.literal(c));
            }
            (Mode::Plain, '"') => self.mode = Mode::Quoted,
            (Mode::Quoted, '"') => self.mode = Mode::Plain,
            (Mode::Plain, '*' | '?' | '[') => {
                self.is_pattern = true;
                self.text.push(c);
            }
            (Mode::Plain, '{') => {
                let inside = self.rest.find('}').and_then(|end| self.rest.get(..end));
                // Several words.
                if inside.is_some_and(|it| it.contains(',') || it.contains("..")) {
                    self.is_known = false;
                }
                self.text.push(c);
            }
            // A file that stands for a command.
            (Mode::Plain, '<' | '>') if self.rest.starts_with('(') => {
                self.is_odd = true;
                self.text.push(c);
            }
            // Bash expands `NAME=~` also in arguments.
            (Mode::Plain, '~') if self.text.ends_with(['=', ':']) && is_setting(&self.text) => {
                self.is_known = false;
                self.text.push(c);
            }
            (Mode::Plain, '(' | ')' | '<' | '>' | '|' | '&' | ';' | '\n' | ' ' | '\t') => {
                // A list of an array, a pattern of ksh, or what no word has.
                self.is_known = false;
                self.text.push(c);
            }
            (_, c) => self.text.push(c),
        }
    }

    /// A character that is quoted.
    fn literal(&mut self, c: char) {
        self.has_quoted_pattern |= matches!(c, '*' | '?' | '[');
        self.text.push(c);
    }

    fn dollar(&mut self) {
        let next = self.rest.chars().next();
        match next {
            Some('(') => {
                self.skip(1);
                let inside = self.take_to(closing::paren(self.rest));
                match arithmetic(inside) {
                    Some(expression) => self.evaluated(expression),
                    None => {
                        // The shell may take it for an expression.
                        self.is_odd |= inside.starts_with('(');
                        self.command(inside);
                    }
                }
            }
            Some('{') => {
                self.skip(1);
                let inside = self.take_to(closing::brace(self.rest));
                match inside.chars().all(is_name) {
                    true => self.variable(inside),
                    false => {
                        match arithmetic::of_parameter(inside) {
                            Some(found) => {
                                let found = found.into_iter().map(str::to_owned);
                                self.expressions.extend(found);
                            }
                            None => self.is_odd = true,
                        }
                        self.within(inside);
                    }
                }
            }
            Some('[') => {
                self.skip(1);
                let inside = self.take_to(closing::bracket(self.rest));
                self.evaluated(inside);
            }
            Some('\'') if self.mode == Mode::Plain => {
                self.skip(1);
                let inside = self.take_to(closing::ansi_quote(self.rest));
                match decoded(inside) {
                    Some(text) => text.chars().for_each(|c| self.literal(c)),
                    None => self.is_known = false,
                }
            }
            // A text that may be translated; what it says is the same.
            Some('"') if self.mode == Mode::Plain => {}
            Some(c) if is_name(c) && !c.is_ascii_digit() => {
                let end = self.rest.find(|c| !is_name(c)).unwrap_or(self.rest.len());
                let name = self.rest.get(..end).unwrap_or_default();
                self.skip(end);
                self.variable(name);
            }
            Some(c) if c.is_ascii_digit() || "@*#?$!-".contains(c) => {
                self.skip(1);
                self.is_known = false;
            }
            _ => self.literal('$'),
        }
    }

    fn variable(&mut self, name: &str) {
        let value = match name {
            "HOME" => self.variables.home,
            "PWD" => self.variables.pwd,
            _ => None,
        };
        // Outside of quotes it would be several words.
        let splits = |it: &str| it.contains(|c: char| c.is_whitespace() || "*?[".contains(c));
        match value {
            Some(value) if self.mode != Mode::Plain || !splits(value) => self.text.push_str(value),
            _ => self.is_known = false,
        }
    }

    /// A command whose output stands here.
    fn command(&mut self, command: &str) {
        if let Some(text) = printed(command) {
            text.chars().for_each(|c| self.literal(c));
            // Outside of quotes it would be several words.
            self.is_known &= self.mode != Mode::Plain;
            return;
        }
        self.is_known = false;
        self.commands.push(command.to_owned());
    }

    /// An expression, whose value is not known.
    fn evaluated(&mut self, expression: &str) {
        self.expressions.push(expression.to_owned());
        self.within(expression);
    }

    /// A text that is expanded, in which there may be commands.
    fn within(&mut self, expression: &str) {
        self.is_known = false;
        let inner = Scan::new(expression, self.variables, Mode::Document).word(expression);
        self.is_odd |= inner.is_odd;
        self.commands.extend(inner.commands);
        self.expressions.extend(inner.expressions);
    }
}

/// Returns `true` if a text begins as a setting of a variable does.
fn is_setting(text: &str) -> bool {
    let name = text.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty() && name.chars().all(is_name)
}

/// Returns `true` for a character of a variable's name.
pub(super) fn is_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// The expression of `$((...))`, whose text between `$(` and `)` this is. What looks like one and
/// may be a command in parentheses is none.
fn arithmetic(inside: &str) -> Option<&str> {
    let expression = inside.strip_prefix('(')?.strip_suffix(')')?;
    let mut depth = 0_i32;
    for c in expression.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return None,
            ')' => depth -= 1,
            ';' | '\'' | '"' | '`' | '\\' | '\n' | '#' => return None,
            _ => {}
        }
    }
    (depth == 0).then_some(expression)
}

/// The text of `cat <<'END' ...`, which agents write long texts by.
fn printed(command: &str) -> Option<String> {
    let (first, rest) = command.trim_start().split_once('\n')?;
    let tag = first.strip_prefix("cat")?.trim_start_matches(' ');
    let tag = tag.strip_prefix("<<")?.trim_matches(' ');
    let bare = tag.strip_prefix('\'').and_then(|it| it.strip_suffix('\''));
    let bare = bare.or_else(|| tag.strip_prefix('"').and_then(|it| it.strip_suffix('"')));
    let is_quoted = bare.is_some();
    let bare = bare.unwrap_or(tag);
    if bare.is_empty() || !bare.chars().all(is_name) {
        return None;
    }
    let mut text = String::new();
    let mut lines = rest.split('\n');
    while let Some(line) = lines.next() {
        if line == bare {
            // Nothing else is run.
            let ends = lines.all(|line| line.trim().is_empty());
            let is_plain = is_quoted || !text.contains(['$', '`', '\\']);
            text.truncate(text.trim_end_matches('\n').len());
            return (ends && is_plain).then_some(text);
        }
        text.push_str(line);
        text.push('\n');
    }
    None
}

/// A command between backquotes, without their escapes.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('`' | '\\' | '$')) => plain.extend(chars.next()),
            (c, _) => plain.push(c),
        }
    }
    plain
}

/// A character by its number, of which there are at most so many digits.
fn number(radix: u32, most: usize, rest: &mut &str) -> Option<char> {
    let digits = rest
        .chars()
        .take(most)
        .take_while(|c| c.is_digit(radix))
        .count();
    let value = u32::from_str_radix(rest.get(..digits)?, radix).ok()?;
    *rest = rest.get(digits..)?;
    // A byte above is a part of a character, or ends the text.
    char::from_u32(value).filter(|c| *c != '\0' && (most > 3 || c.is_ascii()))
}

/// The text of `$'...'`; none where it has what is not understood.
fn decoded(text: &str) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        plain.push_str(rest.get(..at)?);
        rest = rest.get(at + 1..)?;
        let c = rest.chars().next()?;
        rest = rest.get(c.len_utf8()..)?;
        plain.push(match c {
            'a' => '\x07',
            'b' => '\x08',
            'e' | 'E' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            '\\' | '\'' | '"' | '?' => c,
            'x' => number(16, 2, &mut rest)?,
            'u' => number(16, 4, &mut rest)?,
            'U' => number(16, 8, &mut rest)?,
            '0'..='7' => {
                let mut digits: &str = text.get(text.len() - rest.len() - c.len_utf8()..)?;
                let value = number(8, 3, &mut digits)?;
                rest = digits;
                value
            }
            _ => return None,
        });
    }
    plain.push_str(rest);
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(raw: &str) -> Word {
        read(
            raw,
            Variables {
                home: Some("/home/ann"),
                pwd: Some("/work"),
            },
        )
    }

    #[test]
    fn quotes_and_escapes_are_taken_away() {
        for (raw, text) in [
            ("rm", "rm"),
            ("\\rm", "rm"),
            ("r\"m\"", "rm"),
            ("'r'm", "rm"),
            ("$'\\x72\\155'", "rm"),
            ("$'\\u0072m'", "rm"),
            ("\"a \\\" \\$b \\n\"", "a \" $b \\n"),
            ("a\\\nb", "ab"),
            ("~/x", "/home/ann/x"),
            ("\"$HOME\"/x", "/home/ann/x"),
            ("${PWD}", "/work"),
            ("a~b", "a~b"),
            ("'*'", "*"),
            ("{}", "{}"),
            ("$", "$"),
            ("\"$(cat <<'E'\nit's (\n\nE\n)\"", "it's ("),
        ] {
            assert_eq!(word(raw).text.as_deref(), Some(text), "{raw}");
        }
    }

    #[test]
    fn what_depends_on_the_run_is_not_known() {
        for raw in [
            "$X", "\"$X\"", "${X}", "${X:-rm}", "$1", "$@", "$(ls)", "`ls`", "$((1+1))", "$[1]",
            "~bob/x", "{a,b}", "{1..3}", "*", "a?", "[ab]", "$'\\xff'", "a(b)", "\"", "'", "$(",
            "${", "\\",
        ] {
            assert_eq!(word(raw).text, None, "{raw}");
        }
        assert_eq!(word("src/*.rs").pattern.as_deref(), Some("src/*.rs"));
        assert_eq!(word("'*'*").pattern, None);
        assert_eq!(word("$X/*").pattern, None);
    }

    #[test]
    fn commands_in_words_are_found() {
        for (raw, commands) in [
            ("$(ls)", vec!["ls"]),
            ("\"a$(ls \"$(b)\")c\"", vec!["ls \"$(b)\""]),
            ("`a \\`b\\``", vec!["a `b`"]),
            ("${X:-$(ls)}", vec!["ls"]),
            ("$(( $(ls) + `b` ))", vec![]),
            ("$(( $(ls) + 1 ))", vec!["ls"]),
            ("$((ls); (b))", vec!["(ls); (b)"]),
            ("$[ $(ls) ]", vec!["ls"]),
            ("'$(ls)'", vec![]),
            ("\\$(ls)", vec![]),
            (
                "\"$(cat <<'E'\nx\nE\nrm y\n)\"",
                vec!["cat <<'E'\nx\nE\nrm y\n"],
            ),
        ] {
            let found = word(raw);
            if commands.is_empty() && raw.starts_with("$((") {
                assert_eq!(found.commands, ["( $(ls) + `b` )"], "{raw}");
                continue;
            }
            assert_eq!(found.commands, commands, "{raw}");
        }
    }

    #[test]
    fn documents_keep_their_quotes() {
        let found = read_document("it's \"$(ls)\" $X", Variables::default());
        assert_eq!(found.commands, ["ls"]);
        assert_eq!(found.text, None);
        let plain = read_document("it's \\$5 (a)", Variables::default());
        assert_eq!(plain.text.as_deref(), Some("it's $5 (a)"));
    }
}
