//! A simple command as words, settings and files, from its syntax.

use std::collections::BTreeSet;

use brush_parser::ast;

use crate::part::Kind;
use crate::shell::word::{self, Variables, Word};

/// A simple command.
#[derive(Debug, Clone, Default)]
pub(crate) struct Simple {
    /// The program and its arguments.
    pub(crate) words: Vec<Word>,
    /// The variables that are set, and to what.
    pub(crate) sets: Vec<(String, Word)>,
    /// The files that it reads from and writes to.
    pub(crate) files: Vec<(Kind, Word)>,
    /// Its input.
    pub(crate) input: Input,
}

/// What a command reads, if the command says it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Input {
    /// What is around it says it.
    #[default]
    Inherited,
    /// A text of the command's own.
    Text(Word),
    /// A file, or the output of another command.
    File,
}

/// Variables that decide what programs run, what they run, or where.
const DECIDING: [&str; 52] = [
    "BASH_ALIASES",
    "BASH_CMDS",
    "BASH_ENV",
    "BASH_FUNC",
    "BASH_LOADABLES_PATH",
    "BROWSER",
    "CDPATH",
    "DYLD_",
    "EDITOR",
    "ENV",
    "FPATH",
    "GCONV_PATH",
    "GIT_",
    "GOFLAGS",
    "HOME",
    "IFS",
    "JAVA_TOOL_OPTIONS",
    "LD_",
    "LESSCLOSE",
    "LESSOPEN",
    "MAKEFLAGS",
    "MANPAGER",
    "NODE_OPTIONS",
    "NODE_PATH",
    "OPENSSL_CONF",
    "PAGER",
    "PATH",
    "PERL5DB",
    "PERL5LIB",
    "PERL5OPT",
    "PROMPT_COMMAND",
    "PS4",
    "PWD",
    "PYTHONBREAKPOINT",
    "PYTHONHOME",
    "PYTHONPATH",
    "PYTHONSTARTUP",
    "RIPGREP_CONFIG_PATH",
    "RSYNC_RSH",
    "RUBYLIB",
    "RUBYOPT",
    "RUSTC",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "TAR_OPTIONS",
    "VISUAL",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
    "_JAVA_OPTIONS",
];

/// Settings of git that run nothing.
const HARMLESS: [&str; 7] = [
    "GIT_AUTHOR_DATE",
    "GIT_AUTHOR_EMAIL",
    "GIT_AUTHOR_NAME",
    "GIT_COMMITTER_DATE",
    "GIT_COMMITTER_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_TERMINAL_PROMPT",
];

/// Whether a variable, or the array of this element, decides what programs run, or what they run.
pub(crate) fn decides(name: &str) -> bool {
    let name = name.split('[').next().unwrap_or_default();
    let is_one = |it: &&str| match it.ends_with('_') {
        true => name.starts_with(*it),
        false => name == *it,
    };
    let is_shell = name.starts_with("BASH_FUNC_");
    (is_shell || DECIDING.iter().any(is_one)) && !HARMLESS.contains(&name)
}

/// A word by its syntax.
pub(crate) fn word(of: &ast::Word, variables: Variables<'_>) -> Word {
    word::read(&of.value, variables)
}

/// A simple command by its syntax.
pub(crate) fn of(command: &ast::SimpleCommand, variables: Variables<'_>) -> Simple {
    let mut simple = Simple::default();
    let prefix = command.prefix.iter().flat_map(|it| &it.0);
    for item in prefix {
        match item {
            // Only before the program it sets a variable.
            ast::CommandPrefixOrSuffixItem::AssignmentWord(assignment, _) => {
                simple.assigned(assignment, variables);
            }
            item => simple.item(item, variables),
        }
    }
    let program = command.word_or_name.iter();
    simple.words.extend(program.map(|it| word(it, variables)));
    for item in command.suffix.iter().flat_map(|it| &it.0) {
        simple.item(item, variables);
    }
    simple
}

/// What a compound command is redirected to.
pub(crate) fn of_redirects(redirects: &ast::RedirectList, variables: Variables<'_>) -> Simple {
    let mut simple = Simple::default();
    redirects
        .0
        .iter()
        .for_each(|it| simple.redirect(it, variables));
    simple
}

/// The commands of `<(...)` and `>(...)` among a command's words.
pub(crate) fn substituted(command: &ast::SimpleCommand) -> Vec<&ast::CompoundList> {
    let prefix = command.prefix.iter().flat_map(|it| &it.0);
    let suffix = command.suffix.iter().flat_map(|it| &it.0);
    prefix.chain(suffix).filter_map(in_item).collect()
}

fn in_item(item: &ast::CommandPrefixOrSuffixItem) -> Option<&ast::CompoundList> {
    match item {
        ast::CommandPrefixOrSuffixItem::ProcessSubstitution(_, shell) => Some(&shell.list),
        ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => substituted_in(redirect),
        _ => None,
    }
}

/// The same, of redirections.
pub(crate) fn substituted_by(redirects: &ast::RedirectList) -> Vec<&ast::CompoundList> {
    redirects.0.iter().filter_map(substituted_in).collect()
}

fn substituted_in(redirect: &ast::IoRedirect) -> Option<&ast::CompoundList> {
    match redirect {
        ast::IoRedirect::File(_, _, ast::IoFileRedirectTarget::ProcessSubstitution(_, shell)) => {
            Some(&shell.list)
        }
        _ => None,
    }
}

/// The words of `[[ ... ]]`, and whether they are evaluated as expressions.
pub(crate) fn tested(test: &ast::ExtendedTestExpr) -> Vec<(&ast::Word, bool)> {
    let mut words = Vec::new();
    let mut rest = vec![test];
    while let Some(test) = rest.pop() {
        match test {
            ast::ExtendedTestExpr::And(a, b) | ast::ExtendedTestExpr::Or(a, b) => {
                rest.extend([a.as_ref(), b.as_ref()]);
            }
            ast::ExtendedTestExpr::Not(a) | ast::ExtendedTestExpr::Parenthesized(a) => rest.push(a),
            ast::ExtendedTestExpr::UnaryTest(how, word) => {
                let is_variable = matches!(
                    how,
                    ast::UnaryPredicate::ShellVariableIsSetAndAssigned
                        | ast::UnaryPredicate::ShellVariableIsSetAndNameRef
                );
                words.push((word, is_variable && !is_name(&word.value)));
            }
            ast::ExtendedTestExpr::BinaryTest(how, a, b) => {
                let is_arithmetic = matches!(
                    how,
                    ast::BinaryPredicate::ArithmeticEqualTo
                        | ast::BinaryPredicate::ArithmeticNotEqualTo
                        | ast::BinaryPredicate::ArithmeticLessThan
                        | ast::BinaryPredicate::ArithmeticLessThanOrEqualTo
                        | ast::BinaryPredicate::ArithmeticGreaterThan
                        | ast::BinaryPredicate::ArithmeticGreaterThanOrEqualTo
                );
                words.extend([(a, is_arithmetic), (b, is_arithmetic)]);
            }
        }
    }
    words
}

/// Whether a text is the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let is_of_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
    text.chars().all(is_of_name)
        && !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
}

impl Simple {
    fn item(&mut self, item: &ast::CommandPrefixOrSuffixItem, variables: Variables<'_>) {
        match item {
            ast::CommandPrefixOrSuffixItem::IoRedirect(redirect) => {
                self.redirect(redirect, variables)
            }
            ast::CommandPrefixOrSuffixItem::Word(it) => self.words.push(word(it, variables)),
            // Behind the program it is an argument.
            ast::CommandPrefixOrSuffixItem::AssignmentWord(_, it) => {
                self.words.push(word(it, variables))
            }
            ast::CommandPrefixOrSuffixItem::ProcessSubstitution(..) => {
                self.words.push(Word::unknown("<(...)"));
            }
        }
    }

    fn assigned(&mut self, assignment: &ast::Assignment, variables: Variables<'_>) {
        let name = match &assignment.name {
            ast::AssignmentName::VariableName(name) => name.clone(),
            ast::AssignmentName::ArrayElementName(name, index) => {
                // An index is evaluated, commands in it too.
                let index = word::read(&format!("$(({index}))"), variables);
                self.sets.push((name.clone(), index));
                name.clone()
            }
        };
        match &assignment.value {
            ast::AssignmentValue::Scalar(value) => self.sets.push((name, word(value, variables))),
            ast::AssignmentValue::Array(values) => {
                for (index, value) in values {
                    let index = index
                        .iter()
                        .map(|it| word::read(&format!("$(({}))", it.value), variables));
                    let words = index.chain([word(value, variables)]);
                    self.sets.extend(words.map(|word| (name.clone(), word)));
                }
                if values.is_empty() {
                    self.sets.push((name, Word::known("")));
                }
            }
        }
    }

    fn redirect(&mut self, redirect: &ast::IoRedirect, variables: Variables<'_>) {
        use ast::IoFileRedirectKind as Way;
        use ast::IoFileRedirectTarget as Target;
        match redirect {
            ast::IoRedirect::File(fd, way, target) => {
                let reads = matches!(way, Way::Read | Way::ReadAndWrite | Way::DuplicateInput);
                if reads && fd.is_none_or(|fd| fd == 0) {
                    self.input = Input::File;
                }
                let target = match target {
                    Target::Filename(it) => word(it, variables),
                    // `>&2`, or a file.
                    Target::Duplicate(it) if !is_number(&it.value) => word(it, variables),
                    Target::Duplicate(_) | Target::Fd(_) | Target::ProcessSubstitution(..) => {
                        return;
                    }
                };
                match way {
                    Way::Read | Way::DuplicateInput => self.files.push((Kind::Read, target)),
                    Way::ReadAndWrite => {
                        self.files.push((Kind::Read, target.clone()));
                        self.files.push((Kind::Edit, target));
                    }
                    Way::Write | Way::Append | Way::Clobber | Way::DuplicateOutput => {
                        self.files.push((Kind::Edit, target));
                    }
                }
            }
            ast::IoRedirect::HereDocument(fd, document) => {
                let text = match document.requires_expansion {
                    true => word::read_document(&document.doc.value, variables),
                    false => Word::known(&document.doc.value),
                };
                self.given(*fd, text);
            }
            ast::IoRedirect::HereString(fd, it) => self.given(*fd, word(it, variables)),
            ast::IoRedirect::OutputAndError(it, _) => {
                self.files.push((Kind::Edit, word(it, variables)));
            }
        }
    }

    fn given(&mut self, fd: Option<i32>, text: Word) {
        match fd {
            None | Some(0) => self.input = Input::Text(text),
            // Commands in it are run anyway.
            Some(_) => self
                .sets
                .extend((text.text.is_none()).then(|| (String::new(), text))),
        }
    }
}

/// `2`, `-` or `2-`.
fn is_number(text: &str) -> bool {
    let text = text.strip_suffix('-').unwrap_or(text);
    text.chars().all(|c| c.is_ascii_digit())
}

/// The options among the words of a command: each letter of a group, too, and those with a value
/// without it.
pub(crate) fn options(args: &[&str]) -> BTreeSet<String> {
    let mut options = BTreeSet::new();
    for text in args.iter().take_while(|text| **text != "--") {
        let Some(rest) = text.strip_prefix('-').filter(|rest| !rest.is_empty()) else {
            continue;
        };
        if let Some(long) = rest.strip_prefix('-') {
            let name = long.split('=').next().unwrap_or_default();
            options.insert(format!("--{name}"));
            continue;
        }
        options.insert((*text).to_owned());
        if rest.len() <= 16 && rest.chars().all(|c| c.is_ascii_alphanumeric()) {
            options.extend(rest.chars().map(|c| format!("-{c}")));
        }
    }
    options
}

/// A word of git that may name a file in a revision, or by a pattern of git's own: `HEAD:.env`,
/// `:(top).env`, `:!.env`.
pub(crate) fn revised(of: &Word) -> Word {
    let Some(text) = of.text.as_deref() else {
        return of.clone();
    };
    let path = match text.split_once(':') {
        Some((_, path)) if !path.is_empty() => path,
        _ => text,
    };
    let path = match path.split_once(')') {
        Some((_, path)) if path.len() < text.len() && text.starts_with(":(") => path,
        _ if text.starts_with(':') => path.trim_start_matches(['/', '!', '^']),
        _ => path,
    };
    match path.contains(['*', '?', '[']) && !path.contains(char::is_whitespace) {
        // git finds the files itself.
        true => Word {
            pattern: Some(path.to_owned()),
            ..Word::unknown(&of.raw)
        },
        false => Word::known(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_told_apart() {
        let found = options(&["-rf", "--force=yes", "x", "--", "-n"]);
        let expected = ["--force", "-f", "-r", "-rf"];
        assert_eq!(
            found.iter().map(String::as_str).collect::<Vec<_>>(),
            expected
        );
    }

    #[test]
    fn variables_that_decide_are_known() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "GIT_SSH_COMMAND",
            "BASH_ENV",
            "BASH_FUNC_ls%%",
            "BASH_CMDS[ls]",
            "PATH[0]",
        ] {
            assert!(decides(name), "{name}");
        }
        for name in ["RUST_LOG", "GIT_AUTHOR_NAME", "MY_PATH", "LDX"] {
            assert!(!decides(name), "{name}");
        }
    }
}
