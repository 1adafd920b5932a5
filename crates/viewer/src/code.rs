//! Colours of code, as classes of a few kinds: keyword, string, number, function, type, comment.

use std::sync::LazyLock;

use maud::{Markup, html};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::foreign;

/// Bytes of code that one answer colours. The rest is drawn without colours. The bound is a size and not a time, so that
/// the same page has the same colours.
const BYTES: usize = 96 * 1024;
/// Bytes of code that a file colours.
const FILE_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of a line that is coloured. Longer lines are generated, and slow to parse.
const LINE: usize = 800;

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// Scopes and their classes; the first that fits counts. Without a class the search ends: the text is plain.
static CLASSES: LazyLock<Vec<(Scope, Option<&'static str>)>> = LazyLock::new(|| {
    let classes = [
        ("comment", Some("c")),
        ("meta.interpolation", None),
        ("string", Some("s")),
        ("constant.character", Some("s")),
        ("constant.numeric", Some("n")),
        ("constant.language", Some("n")),
        ("constant.other", Some("n")),
        ("keyword.operator", None),
        ("keyword", Some("k")),
        ("storage", Some("k")),
        ("entity.name.function", Some("f")),
        ("support.function", Some("f")),
        ("variable.function", Some("f")),
        ("entity.name.tag", Some("k")),
        ("entity.name", Some("t")),
        ("entity.other.inherited-class", Some("t")),
        ("entity.other.attribute-name", Some("f")),
        ("support.type", Some("t")),
        ("support.class", Some("t")),
        ("markup.heading", Some("k")),
        ("markup.raw", Some("s")),
    ];
    let parsed = classes
        .into_iter()
        .filter_map(|(scope, class)| Some((Scope::new(scope).ok()?, class)));
    parsed.collect()
});

/// Loads the syntaxes, which takes a moment.
pub(crate) fn warm_up() {
    LazyLock::force(&SYNTAXES);
    LazyLock::force(&CLASSES);
}

/// A language whose code is coloured.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Language(&'static SyntaxReference);

impl Language {
    /// The language that a fence names, such as `rust` or `ts`.
    pub(crate) fn named(token: &str) -> Option<Language> {
        let token = token.split([',', ' ', '{']).next().unwrap_or_default();
        let found = SYNTAXES.find_syntax_by_token(token);
        found
            .filter(|_| !token.is_empty() && token.len() <= 30)
            .map(Language)
    }

    /// The language of a file, by its name.
    pub(crate) fn of_path(path: &str) -> Option<Language> {
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let by_name = SYNTAXES.find_syntax_by_extension(name);
        let by_extension = extension.and_then(|it| SYNTAXES.find_syntax_by_extension(it));
        by_name.or(by_extension).map(Language)
    }
}

/// What an answer may still spend on colours.
#[derive(Debug)]
pub(crate) struct Colours {
    left: usize,
}

impl Colours {
    pub(crate) fn new() -> Colours {
        Colours { left: BYTES }
    }

    /// For a file that is written once.
    pub(crate) fn unlimited() -> Colours {
        Colours { left: FILE_BYTES }
    }

    fn take(&mut self, bytes: usize) -> bool {
        if bytes > self.left || bytes > LINE {
            return false;
        }
        self.left -= bytes;
        true
    }
}

/// A part of a line: where it ends, in bytes, and its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) end: usize,
    pub(crate) class: Option<&'static str>,
}

/// Colours lines that follow each other.
#[derive(Clone)]
pub(crate) struct Painter {
    state: Option<(ParseState, ScopeStack)>,
}

impl Painter {
    pub(crate) fn new(language: Option<Language>) -> Painter {
        let state = language.map(|it| (ParseState::new(it.0), ScopeStack::new()));
        Painter { state }
    }

    /// The spans of a line, which together are the whole line. If it cannot be coloured, it is one span.
    pub(crate) fn line(&mut self, line: &str, colours: &mut Colours) -> Vec<Span> {
        let plain = vec![Span {
            end: line.len(),
            class: None,
        }];
        let Some((state, stack)) = &mut self.state else {
            return plain;
        };
        if !colours.take(line.len() + 1) {
            return plain;
        }
        let Ok(ops) = state.parse_line(&format!("{line}\n"), &SYNTAXES) else {
            self.state = None;
            return plain;
        };
        let mut spans: Vec<Span> = Vec::new();
        let mut push = |end: usize, class| {
            let end = end.min(line.len());
            let from = spans.last().map_or(0, |span| span.end);
            match spans.last_mut() {
                _ if end <= from => {}
                Some(last) if last.class == class => last.end = end,
                _ => spans.push(Span { end, class }),
            }
        };
        for (at, op) in ops {
            if line.is_char_boundary(at.min(line.len())) {
                push(at, class(stack));
            }
            if stack.apply(&op).is_err() {
                break;
            }
        }
        push(line.len(), class(stack));
        spans
    }
}

/// The class of the innermost scope that has one.
fn class(stack: &ScopeStack) -> Option<&'static str> {
    for scope in stack.as_slice().iter().rev() {
        let found = CLASSES.iter().find(|(known, _)| known.is_prefix_of(*scope));
        if let Some((_, class)) = found {
            return *class;
        }
    }
    None
}

/// Draws a part of a line with its colours.
pub(crate) fn draw(line: &str, spans: &[Span]) -> Markup {
    let mut from = 0;
    html! { @for span in spans {
        @let text = line.get(from..span.end).unwrap_or("");
        @match span.class {
            Some(class) => { span class=(class) { (foreign::text(text)) } }
            None => { (foreign::text(text)) }
        }
        @let () = from = span.end;
    } }
}

/// Draws a block of code.
pub(crate) fn block(text: &str, language: Option<Language>, colours: &mut Colours) -> Markup {
    let mut painter = Painter::new(language);
    let lines: Vec<(&str, Vec<Span>)> = text
        .split('\n')
        .map(|line| (line, painter.line(line, colours)))
        .collect();
    let last = lines.len().saturating_sub(1);
    html! { @for (index, (line, spans)) in lines.iter().enumerate() { (draw(line, spans)) @if index < last { "\n" } } }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn shown(language: &str, text: &str) -> String {
        block(text, Language::named(language), &mut Colours::new()).into_string()
    }

    #[test]
    fn code_has_classes() {
        let rust = shown("rust", "fn main() { let x = \"<a>\"; } // 1");
        for part in [
            "<span class=\"k\">fn</span>",
            "<span class=\"f\">main</span>",
            "&lt;a&gt;",
            "<span class=\"c\">// 1</span>",
        ] {
            assert!(rust.contains(part), "{part}: {rust}");
        }
        let typescript = shown("ts", "export type Rate = 0 | 7;");
        assert!(
            typescript.contains("<span class=\"k\">export</span>"),
            "{typescript}"
        );
    }

    #[test]
    fn no_text_is_lost_and_nothing_is_markup() {
        let hostile = "</pre><script>alert(1)</script>\n\"unclosed\u{202e}\n\t日本 é";
        for language in ["rust", "html", "python", "json", "no such language", "md"] {
            let shown = shown(language, hostile);
            assert!(!shown.contains("<script"), "{language}: {shown}");
            let text: String = shown
                .split('<')
                .flat_map(|part| {
                    part.split_once('>')
                        .map_or(Some(part), |(_, text)| Some(text))
                })
                .collect();
            let text = text
                .replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&")
                .replace("U+202E", "\u{202e}");
            assert_eq!(text, hostile, "{language}");
        }
    }

    #[test]
    fn languages_are_found_by_paths() {
        for (path, name) in [
            ("src/main.rs", "Rust"),
            ("a/b/Makefile", "Makefile"),
            ("x.test.tsx", "TypeScriptReact"),
            ("C:\\a\\b.py", "Python"),
        ] {
            assert_eq!(Language::of_path(path).unwrap().0.name, name, "{path}");
        }
        assert!(Language::of_path("notes.unheard-of").is_none());
        assert!(Language::named("").is_none());
    }

    #[test]
    fn long_code_is_plain_at_its_end() {
        let mut colours = Colours::new();
        let line = "let x = 1;\n".repeat(40_000);
        let shown = block(&line, Language::named("rust"), &mut colours).into_string();
        assert!(shown.contains("<span class=\"k\">let</span>"));
        assert!(shown.ends_with("let x = 1;\nlet x = 1;\n"));
    }
}
