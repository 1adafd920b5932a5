//! From a command's text to its syntax, by a grammar of the shell, in bounded time and stack.
//!
//! The grammar goes back and tries again where a construct turns out to be another one, and into
//! itself for what is nested. So what would take it long, or deep, is refused before: by counts that
//! no quoting can lower. Commands of agents are far below them.

use brush_parser::{ParserOptions, Token, ast, parse_tokens, uncached_tokenize_str};

use super::closing;
use crate::simple;

/// Bytes of a command; Linux passes none to a shell that is longer.
const MAX_LENGTH: usize = 128 * 1024;
/// Substitutions and expansions that a command may have.
const MAX_OPENED: usize = 1_000;
/// Words and operators of a command.
const MAX_TOKENS: usize = 20_000;
/// Words and operators that open something.
const MAX_NESTED: usize = 500;
/// Those that are read on the caller's stack.
const SMALL: usize = 48;
/// The stack for others. Only what is used of it takes memory.
const STACK: usize = 256 * 1024 * 1024;
/// Parentheses in what may be an expression, and may not; and `case`s, whose last item is tried
/// twice. Each one doubles the time.
const MAX_TRIED_AGAIN: usize = 10;

/// A here-document that shells may end in different places.
const ODD_DOCUMENT: &str = "has a here-document whose end is not read";

/// Why a command cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unreadable {
    /// It has what no command has that a person could check.
    #[error("the command {0}")]
    TooMuch(&'static str),
    /// The grammar does not know it.
    #[error("the command cannot be parsed: {0}")]
    Syntax(String),
}

/// Reads a command.
pub(crate) fn parse(text: &str) -> Result<ast::Program, Unreadable> {
    if text.len() > MAX_LENGTH {
        return Err(Unreadable::TooMuch("is longer than 128 KiB"));
    }
    if text.contains('\0') {
        return Err(Unreadable::TooMuch("contains a NUL character"));
    }
    if shifts_or_document(text) {
        let reason = "has an expression before <<, which may be a shift or a here-document";
        return Err(Unreadable::TooMuch(reason));
    }
    if has_odd_delimiter(text) {
        return Err(Unreadable::TooMuch(ODD_DOCUMENT));
    }
    let opened = ["$(", "${", "$["].iter().map(|it| text.matches(it).count());
    match opened.sum::<usize>() {
        few if few <= SMALL => guarded(|| tokens_and_syntax(text)),
        some if some <= MAX_OPENED => elsewhere(|| tokens_and_syntax(text)),
        _ => Err(Unreadable::TooMuch("has more than 1,000 substitutions")),
    }
}

/// Whether `<<` follows on what may be arithmetic, where it means something else: the grammar's
/// tokens do not always tell the two.
fn shifts_or_document(text: &str) -> bool {
    let begun = [text.find("(("), text.find("$[")];
    let Some(begun) = begun.into_iter().flatten().min() else {
        return false;
    };
    let rest = text.get(begun..).unwrap_or_default();
    rest.replace("<<<", "").contains("<<")
}

/// Returns `true` if an expansion stands where the delimiter of a here-document may stand. The tokens do not show it.
fn has_odd_delimiter(text: &str) -> bool {
    text.replace("<<<", "").split("<<").skip(1).any(|behind| {
        let word = behind.trim_start_matches(['-', ' ', '\t']);
        let word = word.split(|c: char| c.is_whitespace() || ";&|<>()".contains(c));
        word.take(1).any(|word| word.contains(['$', '`']))
    })
}

fn tokens_and_syntax(text: &str) -> Result<ast::Program, Unreadable> {
    let options = ParserOptions {
        // Shells that run commands of agents have these patterns off, and then it is a subshell.
        enable_extended_globbing: false,
        ..ParserOptions::default()
    };
    let mut tokens = uncached_tokenize_str(text, &options.tokenizer_options())
        .map_err(|error| Unreadable::Syntax(error.to_string()))?;
    number_named_files(text, &mut tokens)?;
    let nested = checked(&tokens)?;
    let parsed =
        || parse_tokens(&tokens, &options).map_err(|error| Unreadable::Syntax(error.to_string()));
    match nested {
        0..=SMALL => parsed(),
        _ => elsewhere(parsed),
    }
}

/// Replaces the `{NAME}` of `{NAME}>FILE` by a number. The shell opens the file under a free number from 10 on, and sets the
/// variable to it; the grammar would take `{NAME}` for a word, and at the beginning of a command for the program.
fn number_named_files(text: &str, tokens: &mut [Token]) -> Result<(), Unreadable> {
    /// A number that is neither standard input nor output.
    const FREE: &str = "10";
    let is_named = |token: &Token| matches!(token, Token::Word(word, _) if word.starts_with('{'));
    if !tokens.iter().any(is_named) {
        return Ok(());
    }
    let characters: Vec<char> = text.chars().collect();
    for at in 1..tokens.len() {
        let Some(
            [
                Token::Word(word, of_word),
                Token::Operator(operator, of_operator),
            ],
        ) = tokens.get_mut(at - 1..=at)
        else {
            continue;
        };
        if !operator.starts_with(['<', '>']) {
            continue;
        }
        let between = characters.get(of_word.end.index..of_operator.start.index);
        match named_file(word, between) {
            NamedFile::Not => {}
            NamedFile::Plain => FREE.clone_into(word),
            NamedFile::Odd => {
                let reason = "has the number of a redirected file set in a way that is not read";
                return Err(Unreadable::TooMuch(reason));
            }
        }
    }
    Ok(())
}

/// A word before a redirection.
enum NamedFile {
    /// It is a word of the command.
    Not,
    /// `{NAME}`.
    Plain,
    /// `{NAME[INDEX]}`, whose index may be a command, or a variable that decides what runs.
    Odd,
}

/// Returns what a word is to the redirection that follows on it, with these characters between them.
fn named_file(word: &str, between: Option<&[char]>) -> NamedFile {
    let inner = word.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let is_apart = matches!(between, Some([' ' | '\t', ..]));
    let Some(inner) = inner.filter(|_| !is_apart) else {
        return NamedFile::Not;
    };
    let name = inner.split('[').next().unwrap_or_default();
    let is_of_name = |c: char| c == '_' || c.is_alphanumeric();
    let begins = |c: char| is_of_name(c) && !c.is_ascii_digit();
    if !name.starts_with(begins) || !name.chars().all(is_of_name) {
        return NamedFile::Not;
    }
    // The grammar knows a number by nothing between it and the operator.
    let is_plain = name == inner && name.is_ascii() && between == Some(&[]);
    match is_plain && !simple::decides(name) {
        true => NamedFile::Plain,
        false => NamedFile::Odd,
    }
}

/// Whether the grammar can take these tokens; the number of those that open something.
fn checked(tokens: &[Token]) -> Result<usize, Unreadable> {
    let opens = |token: &Token| match token {
        Token::Operator(operator, _) => operator == "(",
        Token::Word(word, _) => matches!(
            word.as_str(),
            "{" | "if"
                | "while"
                | "until"
                | "for"
                | "case"
                | "select"
                | "function"
                | "coproc"
                | "[["
                | "!"
                | "then"
                | "else"
                | "elif"
                | "do"
        ),
    };
    let nested = tokens.iter().filter(|token| opens(token)).count();
    if tokens.len() > MAX_TOKENS {
        return Err(Unreadable::TooMuch("has more than 20,000 words"));
    }
    if nested > MAX_NESTED {
        return Err(Unreadable::TooMuch("has more than 500 compound commands"));
    }
    let is_word =
        |token: &&Token, text: &str| matches!(token, Token::Word(word, _) if word == text);
    let cases = tokens.iter().filter(|it| is_word(it, "case")).count();
    if cases > MAX_TRIED_AGAIN || retried(tokens) > MAX_TRIED_AGAIN {
        return Err(Unreadable::TooMuch(
            "is nested in a way that takes long to read",
        ));
    }
    if tokens
        .iter()
        .enumerate()
        .any(|(at, _)| is_odd_document(tokens.get(at..)))
    {
        return Err(Unreadable::TooMuch(ODD_DOCUMENT));
    }
    for pair in tokens.windows(2) {
        // The number of a file; the grammar takes nine digits, and no index that is nested deep.
        if let [Token::Word(word, _), Token::Operator(operator, _)] = pair {
            let is_number = word.chars().all(|c| c.is_ascii_digit());
            let is_fit = (1..=9).contains(&word.len());
            if is_number && !is_fit && operator.starts_with(['<', '>']) {
                return Err(Unreadable::TooMuch(
                    "redirects a file whose number is too large",
                ));
            }
        }
    }
    let is_deep = |token: &Token| match token {
        Token::Word(word, _) => is_index(word) && word.matches(['$', '(', '`', '[']).count() > 8,
        Token::Operator(..) => false,
    };
    match tokens.iter().any(is_deep) {
        true => Err(Unreadable::TooMuch(
            "has an array's index that is nested deep",
        )),
        false => Ok(nested),
    }
}

/// Whether tokens begin with a here-document that shells may end in different places.
fn is_odd_document(tokens: Option<&[Token]>) -> bool {
    match tokens {
        Some([Token::Operator(operator, _), rest @ ..])
            if matches!(operator.as_str(), "<<" | "<<-") =>
        {
            let [Token::Word(word, _), Token::Word(text, _), ..] = rest else {
                return true;
            };
            let delimiter = closing::delimiter(word.trim_start());
            delimiter.is_none_or(|(_, is_expanded)| is_expanded && closing::has_joined_lines(text))
        }
        _ => false,
    }
}

/// Whether a word begins as an element of an array does.
fn is_index(word: &str) -> bool {
    let name = word.split('[').next().unwrap_or_default();
    name.len() < word.len() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The most parentheses that follow on a `((` before it can turn out to be none, or on a `=~`.
fn retried(tokens: &[Token]) -> usize {
    let operator = |at: usize| match tokens.get(at) {
        Some(Token::Operator(operator, _)) => operator.as_str(),
        _ => "",
    };
    let is_match = |at: usize| matches!(tokens.get(at), Some(Token::Word(word, _)) if word == "=~");
    let mut most = 0;
    for begin in 0..tokens.len() {
        let is_double = operator(begin) == "(" && operator(begin + 1) == "(";
        // Only the first of several in a row.
        let is_first = begin == 0 || operator(begin - 1) != "(";
        if !(is_double && is_first || is_match(begin)) {
            continue;
        }
        let (mut depth, mut seen) = (0_usize, 0);
        for at in begin..tokens.len() {
            match operator(at) {
                "(" => {
                    depth += 1;
                    seen += 1;
                    if seen > MAX_TRIED_AGAIN {
                        break;
                    }
                }
                ")" => depth = depth.saturating_sub(1),
                ";" => break,
                _ => {}
            }
            if seen > 0 && depth == 0 {
                // It is whole, and read once.
                seen = 0;
                break;
            }
        }
        most = most.max(seen);
    }
    most
}

/// Does it on a stack of its own that has room for what is nested.
fn elsewhere<T: Send>(
    work: impl FnOnce() -> Result<T, Unreadable> + Send,
) -> Result<T, Unreadable> {
    let lost = || Unreadable::TooMuch("could not be read for lack of memory");
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(STACK);
        let thread = builder.spawn_scoped(scope, || guarded(work));
        thread.map_err(|_| lost())?.join().map_err(|_| lost())?
    })
}

/// A parser that panics has not read anything.
fn guarded<T>(work: impl FnOnce() -> Result<T, Unreadable>) -> Result<T, Unreadable> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Unreadable::Syntax("the parser failed".to_owned())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_parsed() {
        for text in [
            "ls",
            "a && b || c; d & e | f",
            "(cd x; rm y)",
            "for i in a b; do echo $i; done",
            "if a; then b; else c; fi",
            "case x in a) b;; esac",
            "cat <<E\nx\nE",
            "a > b 2>&1 < c >> d",
            "! a",
            "f() { a; }",
            "[[ -f x && y =~ ^(a|b)$ ]]",
            "((i++)); for ((i=0;i<3;i++)); do a; done",
            "",
        ] {
            parse(text).expect(text);
        }
    }

    #[test]
    fn a_file_whose_number_is_in_a_variable_is_a_redirection() {
        for (text, same) in [
            ("{fd}>x a b", "10>x a b"),
            ("a {fd}>>x b", "a 10>>x b"),
            ("{_f1}<x a", "10<x a"),
            ("{fd}>&2 a", "10>&2 a"),
            ("{fd}<&- a", "10<&- a"),
            ("{fd}<>x a", "10<>x a"),
            ("{fd}>|x a", "10>|x a"),
            ("{fd}<<<x a", "10<<<x a"),
            ("{fd}<<E a\nx\nE", "10<<E a\nx\nE"),
            ("X=1 {fd}>x a", "X=1 10>x a"),
            ("! {fd}>x a", "! 10>x a"),
            ("{ a; } {fd}>x", "{ a; } 10>x"),
            ("exec {fd}>x", "exec 10>x"),
            ("{f\\\nd}>x a", "10>x a"),
            ("{fd}\\\n>x a", "10>x a"),
        ] {
            let shown = |text: &str| parse(text).expect(text).to_string();
            assert_eq!(shown(text), shown(same), "{text}");
        }
        for text in [
            "{a[0]}>x b",
            "{a[$(b)]}>x c",
            "{PATH}>x a",
            "{GIT_DIR}>x git log",
            "{f\u{e9}}>x a",
        ] {
            assert!(matches!(parse(text), Err(Unreadable::TooMuch(_))), "{text}");
        }
        for text in [
            "{fd} >x",
            "a {b,c}>x",
            "a {1..3}>x",
            "a '{b}'>x",
            "a {}>x",
            "a {b}.c>x",
        ] {
            let found = parse(text).expect(text).to_string();
            assert!(found.contains('{'), "{text}: {found}");
        }
    }

    #[test]
    fn what_would_take_long_or_deep_is_refused() {
        let nested = |open: &str, n: usize| format!("{}ls", open.repeat(n));
        for text in [
            nested("(", 60),
            nested("( ( ", 30),
            format!("{}a;b{}", "(".repeat(40), ")".repeat(40)),
            nested("case a in a) ", 40),
            nested("$(", 900),
            nested("\"$(", 900),
            nested("$((", 400),
            nested("${a:-", 900),
            nested("{ ", 499),
            nested("{ ", 100_000 / 2),
            nested("if ", 400),
            nested("f() {\n", 400),
            nested("[[ ( ", 300),
            nested("[[ a =~ (", 60),
            nested("a[$((", 40),
            nested("a[a", 200),
            nested("<(", 400),
            nested("coproc a ( ", 200),
            nested("function f () ( ", 200),
            "999999999999> x".to_owned(),
            "a".repeat(MAX_LENGTH + 1),
            "a\0b".to_owned(),
            "echo $(( $((1)) << 2 ))\nrm x\n2\n".to_owned(),
            "echo 'a".to_owned(),
            "if a".to_owned(),
            "cat <<$'E'\nx\nE".to_owned(),
            "cat <<\"E\\F\"\nx\nE\\F".to_owned(),
            "cat <<${E}\nx\n${E}\nrm x\nE\n".to_owned(),
            "cat <<- `E`\nx\n".to_owned(),
            "cat <<E${F}\nx\nE${F}\n".to_owned(),
            "cat <<E\nx\\\n\nE".to_owned(),
        ] {
            let begun = std::time::Instant::now();
            let found = parse(&text);
            let took = begun.elapsed();
            let shown: String = text.chars().take(30).collect();
            assert!(found.is_err(), "{shown}");
            // What is not refused early takes longer than anybody waits. `make timings` has the exact figure.
            let most = if std::env::var_os("ANNALS_TIMINGS").is_some() {
                2
            } else {
                300
            };
            assert!(
                took < std::time::Duration::from_secs(most),
                "{shown}: {took:?}"
            );
        }
    }

    #[test]
    fn deep_and_whole_is_read() {
        let deep = format!("{}ls{}", "$(".repeat(200), ")".repeat(200));
        parse(&deep).expect("it is read");
        let groups = format!("{}ls{}", "{ ".repeat(150), "; }".repeat(150));
        parse(&groups).expect("it is read");
    }
}
