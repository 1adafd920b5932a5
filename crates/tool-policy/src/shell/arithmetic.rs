//! Expressions: which variables they read. The shell evaluates the value of a variable as an expression again, commands in
//! it too, so only numbers are safe.

use super::closing;
use super::word::is_name;
use crate::simple;

/// Variables of an expression.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names<'a> {
    /// Those whose values are evaluated.
    pub(crate) read: Vec<&'a str>,
    /// Those that are set to a number, and read nowhere else in the expression.
    pub(crate) set: Vec<&'a str>,
}

/// Returns the variables of an expression; none, if it has more than numbers, operators and variables.
pub(crate) fn names(expression: &str) -> Option<Names<'_>> {
    let mut names = Names::default();
    let mut rest = expression;
    while let Some(c) = rest.chars().next() {
        let behind = rest.get(c.len_utf8()..)?;
        rest = match c {
            '0'..='9' => behind.trim_start_matches(|c| is_name(c) || matches!(c, '#' | '@')),
            _ if is_name(c) => {
                let (name, behind) = split_name(rest)?;
                // What is expanded belongs to the name.
                if behind.starts_with('$') {
                    return None;
                }
                let next = behind.trim_start();
                match next.starts_with('=') && !next.starts_with("==") {
                    true => names.set.push(name),
                    false => names.read.push(name),
                }
                behind
            }
            '$' => expanded(behind, &mut names)?,
            _ if c.is_whitespace() || "+-*/%<>=!&|^~?:,()[]".contains(c) => behind,
            _ => return None,
        };
    }
    // Otherwise the value may be one from before.
    let is_set_only = |name: &&str| {
        let times = names.set.iter().filter(|it| *it == name).count();
        times == 1 && !names.read.contains(name)
    };
    let (set, others): (Vec<&str>, Vec<&str>) = names.set.iter().copied().partition(is_set_only);
    names.set = set;
    names.read.extend(others);
    Some(names)
}

/// Reads an expansion, and returns the text behind it.
fn expanded<'a>(behind: &'a str, names: &mut Names<'a>) -> Option<&'a str> {
    if behind.starts_with("((") {
        return Some(behind);
    }
    if let Some(rest) = behind.strip_prefix(['?', '#', '$', '!']) {
        return Some(rest);
    }
    let (name, rest) = match behind.strip_prefix('{') {
        Some(inside) if is_length(inside.split('}').next()?) => {
            return Some(inside.split_once('}')?.1);
        }
        Some(inside) => inside.split_once('}')?,
        None => split_name(behind)?,
    };
    simple::is_name(name).then(|| names.read.push(name))?;
    Some(rest)
}

/// Returns `true` for `#NAME` and `#NAME[@]`, whose value is a number.
fn is_length(inside: &str) -> bool {
    let name = inside.strip_prefix('#').unwrap_or_default();
    let name = name.strip_suffix("[@]").unwrap_or(name);
    !name.is_empty() && name.chars().all(is_name)
}

/// Returns `true` if a word, as it stands in the command, is a number whatever its value is.
pub(crate) fn is_number(raw: &str) -> bool {
    let raw = raw.trim_matches('"');
    let inside = raw.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let is_range = inside.is_some_and(|it| {
        let digits = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_digit());
        it.contains("..") && it.split("..").all(digits)
    });
    let length = raw.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
    is_range || length.is_some_and(is_length) || matches!(raw, "$?" | "$#" | "$$" | "$!")
}

/// Returns the expressions that the shell evaluates for `${...}`, whose text this is; none, if it expands the value of a
/// variable again, or runs a command in a way that is not read.
pub(super) fn of_parameter(inside: &str) -> Option<Vec<&str>> {
    let runs = ["@P", "<(", ">(", "=("];
    if inside.starts_with('(') || runs.iter().any(|it| inside.contains(it)) {
        return None;
    }
    if let Some(names) = inside.strip_prefix('!') {
        let lists = ["[@]", "[*]", "@", "*"];
        let name = lists.iter().find_map(|it| names.strip_suffix(it))?;
        return simple::is_name(name).then(Vec::new);
    }
    let inside = inside.strip_prefix('#').unwrap_or(inside);
    let mut rest = inside.trim_start_matches(is_name);
    if rest.len() == inside.len() {
        rest = rest.strip_prefix(['@', '*']).unwrap_or(rest);
    }
    let mut found = Vec::new();
    if let Some(index) = rest.strip_prefix('[') {
        let (index, behind) = index.split_at_checked(closing::bracket(index)?)?;
        found.extend((!matches!(index, "@" | "*")).then_some(index));
        rest = behind.strip_prefix(']')?;
    }
    let part = rest.strip_prefix(':');
    found.extend(part.filter(|it| !it.starts_with(['-', '=', '?', '+'])));
    Some(found)
}

fn split_name(text: &str) -> Option<(&str, &str)> {
    text.split_at_checked(text.find(|c| !is_name(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_expressions_are_found() {
        for (expression, read, set) in [
            ("1 + 2 * (3 << 4) ? 5 : ~6, !7", vec![], vec![]),
            ("0x1F + 16#ff + 10#$x", vec!["x"], vec![]),
            ("i++", vec!["i"], vec![]),
            ("i = 0", vec![], vec!["i"]),
            ("i=i+1", vec!["i", "i"], vec![]),
            ("i=0,i=j", vec!["j", "i", "i"], vec![]),
            ("i == 0", vec!["i"], vec![]),
            ("a[$i] + ${b}", vec!["a", "i", "b"], vec![]),
            ("${#a} + ${#a[@]} + $# + $?", vec![], vec![]),
            ("$((x)) + 1", vec!["x"], vec![]),
        ] {
            let found = names(expression).expect(expression);
            assert_eq!((found.read, found.set), (read, set), "{expression}");
        }
        for expression in [
            "$(x)", "`x`", "'x'", "\"x\"", "a\\[1", "$1", "${1}", "$_", "$@", "${x:-1}", "a$x",
            "${", "$", "\u{e9}", "${!x}", "${x@P}", "$*", "$-",
        ] {
            let found = names(expression);
            assert!(
                found.as_ref().is_none_or(|it| it.read == ["_"]),
                "{expression}: {found:?}"
            );
        }
    }

    #[test]
    fn expressions_of_parameters_are_found() {
        for (inside, expected) in [
            ("x:-y", Some(vec![])),
            ("x", Some(vec![])),
            ("#x[i]", Some(vec!["i"])),
            ("a[@]:1", Some(vec!["1"])),
            ("a[b[c]]", Some(vec!["b[c]"])),
            ("@:2", Some(vec!["2"])),
            ("x: -1:y", Some(vec![" -1:y"])),
            ("x//a/b", Some(vec![])),
            ("!a[@]", Some(vec![])),
            ("!a*", Some(vec![])),
            ("!a", None),
            ("!1", None),
            ("!a[0]", None),
            ("x@P", None),
            ("x@Q", Some(vec![])),
            ("(e)x", None),
            ("x:-<(y)", None),
            ("x:- >(y)", None),
            ("a[", None),
        ] {
            assert_eq!(of_parameter(inside), expected, "{inside}");
        }
    }

    #[test]
    fn numbers_are_recognized() {
        for raw in ["$?", "\"$#\"", "${#a[@]}", "{1..5}", "{0..10..2}"] {
            assert!(is_number(raw), "{raw}");
        }
        for raw in [
            "$x", "${x}", "{a..b}", "{1,2}", "$1", "$(x)", "{..}", "${#}",
        ] {
            assert!(!is_number(raw), "{raw}");
        }
    }
}
