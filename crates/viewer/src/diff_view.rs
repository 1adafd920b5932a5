//! Unified diffs as tables: line numbers, colours, marked words, unified and side by side.

use maud::{Markup, html};
use similar::{ChangeTag, TextDiff};

use crate::code::{Colours, Language, Painter, Span};
use crate::figures::grouped;
use crate::foreign;

/// Lines of one file's diff that are drawn.
pub(crate) const LINES: usize = 600;
/// Lines of a run of changes whose words are compared, and bytes of a line.
const COMPARED: usize = 60;
const COMPARED_BYTES: usize = 600;

/// A file of a diff.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DiffFile {
    /// The path before the change; `None` if the file is new.
    pub(crate) old: Option<String>,
    /// The path after the change; `None` if the file was deleted.
    pub(crate) new: Option<String>,
    /// A binary file has no lines.
    pub(crate) is_binary: bool,
    pub(crate) hunks: Vec<Hunk>,
}

/// Changed lines with lines around them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Hunk {
    pub(crate) lines: Vec<DiffLine>,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DiffLine {
    pub(crate) kind: LineKind,
    /// The line's number before and after the change, if the diff has numbers.
    pub(crate) old: Option<u64>,
    pub(crate) new: Option<u64>,
    pub(crate) text: String,
    /// The file ends without a line break here.
    pub(crate) is_unended: bool,
}

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    Same,
    Added,
    Deleted,
}

impl DiffFile {
    /// The path that the file is known by.
    pub(crate) fn path(&self) -> &str {
        let path = self.new.as_deref().or(self.old.as_deref());
        path.unwrap_or_default()
    }

    /// Lines added and deleted.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let lines = || self.hunks.iter().flat_map(|hunk| &hunk.lines);
        let count = |kind| lines().filter(|line| line.kind == kind).count();
        (count(LineKind::Added), count(LineKind::Deleted))
    }

    fn lines(&self) -> usize {
        self.hunks.iter().map(|hunk| hunk.lines.len()).sum()
    }
}

/// Reads a diff. Lines that belong to no hunk and no header are skipped.
pub(crate) fn parse(diff: &str) -> Vec<DiffFile> {
    let mut reader = Reader::default();
    for line in diff.split('\n') {
        reader.line(line);
    }
    reader.end();
    reader.files
}

/// The file of a diff that a path names: by the whole path, else by its end, else the only one.
pub(crate) fn file_of<'a>(files: &'a [DiffFile], path: &str) -> Option<&'a DiffFile> {
    let names = |file: &&DiffFile| {
        [&file.new, &file.old]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>()
    };
    let is_end = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|rest| rest.ends_with(['/', '\\']))
    };
    let whole = files
        .iter()
        .find(|file| names(file).iter().any(|name| name == path));
    let by_end = || {
        files.iter().find(|file| {
            names(file)
                .iter()
                .any(|name| is_end(name, path) || is_end(path, name))
        })
    };
    whole.or_else(by_end).or(match files {
        [only] => Some(only),
        _ => None,
    })
}

#[derive(Default)]
struct Reader {
    files: Vec<DiffFile>,
    file: Option<DiffFile>,
    /// Lines that the hunk still has before and after the change; `None` between hunks.
    left: Option<(u64, u64)>,
    /// The numbers of the next lines.
    next: (u64, u64),
}

impl Reader {
    fn line(&mut self, line: &str) {
        match self.left {
            Some((0, 0)) | None => self.header(line),
            Some(left) => self.content(line, left),
        }
    }

    fn header(&mut self, line: &str) {
        if line.starts_with("\\ ") {
            self.unended();
        } else if let Some((old, new)) = hunk(line) {
            self.left = Some((old.1, new.1));
            self.next = (old.0, new.0);
            self.current().hunks.push(Hunk::default());
        } else if let Some(rest) = line.strip_prefix("diff --git ") {
            self.end();
            let (old, new) = git_names(rest);
            self.file = Some(DiffFile {
                old,
                new,
                ..DiffFile::default()
            });
        } else if let Some(name) = line.strip_prefix("--- ") {
            if self
                .file
                .as_ref()
                .is_some_and(|file| !file.hunks.is_empty() || file.is_binary)
            {
                self.end();
            }
            self.current().old = file_name(name);
        } else if let Some(name) = line.strip_prefix("+++ ") {
            self.current().new = file_name(name);
        } else if line.starts_with("Binary files ") || line.starts_with("GIT binary patch") {
            self.current().is_binary = true;
        } else if let Some(file) = &mut self.file {
            match line.split_once(' ') {
                Some(("new", rest)) if rest.starts_with("file mode") => file.old = None,
                Some(("deleted", rest)) if rest.starts_with("file mode") => file.new = None,
                Some(("rename", rest)) => match rest.split_once(' ') {
                    Some(("from", name)) => file.old = Some(name.to_owned()),
                    Some(("to", name)) => file.new = Some(name.to_owned()),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn content(&mut self, line: &str, (old, new): (u64, u64)) {
        if line.starts_with("\\ ") {
            self.unended();
            return;
        }
        let (kind, text) = match line.as_bytes().first() {
            Some(b'+') if new > 0 => (LineKind::Added, line.get(1..)),
            Some(b'-') if old > 0 => (LineKind::Deleted, line.get(1..)),
            Some(b' ') if old > 0 && new > 0 => (LineKind::Same, line.get(1..)),
            // Some programs cut spaces at the ends of lines.
            None if old > 0 && new > 0 => (LineKind::Same, Some("")),
            _ => {
                // The hunk is shorter than its header states.
                self.left = None;
                self.header(line);
                return;
            }
        };
        let is = |other: LineKind| kind != other;
        let (has_old, has_new) = (is(LineKind::Added), is(LineKind::Deleted));
        let line = DiffLine {
            kind,
            old: has_old.then_some(self.next.0),
            new: has_new.then_some(self.next.1),
            text: text.unwrap_or_default().trim_end_matches('\r').to_owned(),
            is_unended: false,
        };
        self.next.0 = self.next.0.saturating_add(has_old.into());
        self.next.1 = self.next.1.saturating_add(has_new.into());
        self.left = Some((old - u64::from(has_old), new - u64::from(has_new)));
        if let Some(hunk) = self.current().hunks.last_mut() {
            hunk.lines.push(line);
        }
    }

    fn unended(&mut self) {
        let last = self.file.as_mut().and_then(|file| file.hunks.last_mut());
        if let Some(line) = last.and_then(|hunk| hunk.lines.last_mut()) {
            line.is_unended = true;
        }
    }

    fn current(&mut self) -> &mut DiffFile {
        self.file.get_or_insert_with(DiffFile::default)
    }

    fn end(&mut self) {
        self.left = None;
        self.files.extend(self.file.take());
    }
}

/// The first lines and the lengths of `@@ -a,b +c,d @@`.
fn hunk(line: &str) -> Option<((u64, u64), (u64, u64))> {
    let (old, rest) = line.strip_prefix("@@ -")?.split_once(" +")?;
    let (new, _) = rest.split_once(" @@")?;
    let range = |text: &str| -> Option<(u64, u64)> {
        match text.split_once(',') {
            Some((from, length)) => Some((from.parse().ok()?, length.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    Some((range(old)?, range(new)?))
}

/// The name in a line such as `--- a/src/main.rs`, possibly followed by a tab and a time.
fn file_name(name: &str) -> Option<String> {
    let name = name
        .split('\t')
        .next()
        .unwrap_or(name)
        .trim_end_matches('\r');
    if name == "/dev/null" {
        return None;
    }
    let name = name
        .strip_prefix("a/")
        .or(name.strip_prefix("b/"))
        .unwrap_or(name);
    Some(name.trim_matches('"').to_owned())
}

/// The names in `diff --git a/x b/x`. They are ambiguous if they have spaces; `---` and `+++` correct them.
fn git_names(rest: &str) -> (Option<String>, Option<String>) {
    let middle = rest.match_indices(" b/").find(|(at, _)| {
        let (old, new) = rest.split_at(*at);
        old.strip_prefix("a/") == new.strip_prefix(" b/")
    });
    let at = middle
        .or_else(|| rest.match_indices(" b/").next())
        .map(|(at, _)| at);
    match at {
        Some(at) => {
            let (old, new) = rest.split_at(at);
            (file_name(old), file_name(new.trim_start()))
        }
        None => (file_name(rest), file_name(rest)),
    }
}

/// A line with what is drawn of it.
struct Drawn<'a> {
    line: &'a DiffLine,
    spans: Vec<Span>,
    /// Changed words: from and to, in bytes.
    words: Vec<(usize, usize)>,
}

/// Colours the lines of a hunk, and marks the changed words.
fn dress<'a>(hunk: &'a Hunk, language: Option<Language>, colours: &mut Colours) -> Vec<Drawn<'a>> {
    let mut painter = Painter::new(language);
    let mut before = painter.clone();
    let mut drawn: Vec<Drawn<'a>> = Vec::with_capacity(hunk.lines.len());
    let mut was = LineKind::Same;
    for line in &hunk.lines {
        // Deleted lines continue what stands above them, and the lines below do not continue them.
        if line.kind == LineKind::Deleted && was != LineKind::Deleted {
            before = painter.clone();
        }
        let painter = match line.kind {
            LineKind::Deleted => &mut before,
            LineKind::Same | LineKind::Added => &mut painter,
        };
        was = line.kind;
        let spans = painter.line(&line.text, colours);
        drawn.push(Drawn {
            line,
            spans,
            words: Vec::new(),
        });
    }
    let mut from = 0;
    while from < drawn.len() {
        let run = |from: usize, kind| {
            let rest = drawn.get(from..).unwrap_or_default();
            rest.iter().take_while(|it| it.line.kind == kind).count()
        };
        let deleted = run(from, LineKind::Deleted);
        let added = run(from + deleted, LineKind::Added);
        if deleted > 0 && deleted == added && deleted <= COMPARED {
            for index in from..from + deleted {
                compare(&mut drawn, index, index + deleted);
            }
        }
        from += (deleted + added).max(1);
    }
    drawn
}

/// Marks the words by which two lines differ, if they have most in common.
fn compare(drawn: &mut [Drawn<'_>], old: usize, new: usize) {
    let (Some(a), Some(b)) = (drawn.get(old), drawn.get(new)) else {
        return;
    };
    let (a, b) = (a.line.text.as_str(), b.line.text.as_str());
    if a.len() > COMPARED_BYTES || b.len() > COMPARED_BYTES {
        return;
    }
    let (old_words, new_words) = (words(a), words(b));
    let diff = TextDiff::from_slices(&old_words, &new_words);
    if diff.ratio() < 0.4 {
        return;
    }
    let (mut in_old, mut in_new) = ((0, Vec::new()), (0, Vec::new()));
    let note = |(at, words): &mut (usize, Vec<(usize, usize)>), length: usize, is_changed: bool| {
        let end = *at + length;
        if is_changed {
            match words.last_mut() {
                Some((_, last)) if *last == *at => *last = end,
                _ => words.push((*at, end)),
            }
        }
        *at = end;
    };
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => {
                note(&mut in_old, length, false);
                note(&mut in_new, length, false);
            }
            ChangeTag::Delete => note(&mut in_old, length, true),
            ChangeTag::Insert => note(&mut in_new, length, true),
        }
    }
    if let Some(line) = drawn.get_mut(old) {
        line.words = in_old.1;
    }
    if let Some(line) = drawn.get_mut(new) {
        line.words = in_new.1;
    }
}

/// The words of a line, its spaces, and every other character by itself.
fn words(line: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut from = 0;
    let mut before = None;
    for (at, c) in line.char_indices() {
        let is_new = before.is_some_and(|before| before != kind(c) || kind(c) == 2);
        if is_new {
            words.extend(line.get(from..at));
            from = at;
        }
        before = Some(kind(c));
    }
    words.extend(line.get(from..).filter(|rest| !rest.is_empty()));
    words
}

/// Draws a line's text: its colours, with the changed words in `ins` or `del`.
fn text(drawn: &Drawn<'_>) -> Markup {
    let mut from = 0;
    let mut parts: Vec<(bool, Markup)> = Vec::new();
    let text = drawn.line.text.as_str();
    for span in &drawn.spans {
        while from < span.end {
            let word = drawn.words.iter().find(|(_, end)| *end > from);
            let (is_word, end) = match word {
                Some((start, end)) if *start <= from => (true, (*end).min(span.end)),
                Some((start, _)) => (false, (*start).min(span.end)),
                None => (false, span.end),
            };
            let piece = text.get(from..end).unwrap_or("");
            let drawn = match span.class {
                Some(class) => html! { span class=(class) { (foreign::text(piece)) } },
                None => foreign::text(piece),
            };
            match parts.last_mut() {
                Some((last, before)) if *last == is_word => before.0.push_str(&drawn.0),
                _ => parts.push((is_word, drawn)),
            }
            from = end.max(from + 1);
        }
    }
    html! {
        @for (is_word, part) in &parts {
            @match (is_word, drawn.line.kind) {
                (true, LineKind::Added) => { ins { (part) } }
                (true, LineKind::Deleted) => { del { (part) } }
                _ => { (part) }
            }
        }
        @if drawn.line.is_unended { span.dim { " ⏎ no line break at the end" } }
    }
}

/// The layout of diffs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Layout {
    /// Deleted lines above the added ones.
    #[default]
    Unified,
    /// Deleted lines beside the added ones.
    Split,
}

/// Draws a file's diff.
pub(crate) fn draw(file: &DiffFile, layout: Layout, colours: &mut Colours) -> Markup {
    let (added, deleted) = file.counts();
    let label = format!("Diff of {}, +{added} −{deleted}", file.path());
    if file.is_binary {
        return html! { p.diff-note { "Binary file, no lines" } };
    }
    if file.hunks.is_empty() {
        let renamed = file
            .old
            .as_ref()
            .zip(file.new.as_ref())
            .filter(|(old, new)| old != new);
        return html! { p.diff-note { @match renamed {
            Some((old, new)) => { "Renamed from " code { (foreign::text(old)) } " to " code { (foreign::text(new)) } }
            None => { "No changed lines" }
        } } };
    }
    let language = Language::of_path(file.path());
    let mut left = LINES;
    let mut hunks: Vec<(u64, Vec<Drawn<'_>>)> = Vec::new();
    let mut end = 1;
    for hunk in &file.hunks {
        if left == 0 {
            break;
        }
        let mut drawn = dress(hunk, language, colours);
        drawn.truncate(left);
        left -= drawn.len();
        let first = drawn
            .iter()
            .find_map(|it| it.line.new.or(it.line.old))
            .unwrap_or(end);
        let last = drawn.iter().rev().find_map(|it| it.line.new);
        hunks.push((first.saturating_sub(end), drawn));
        end = last.map_or(end, |last| last.saturating_add(1));
    }
    let hidden = file.lines().saturating_sub(LINES);
    html! {
        div.scroll role="region" tabindex="0" aria-label=(label) {
            @match layout { Layout::Unified => { (unified(&hunks)) } Layout::Split => { (split(&hunks)) } }
            @if hidden > 0 { p.diff-note { (grouped(hidden as u64)) " more lines in the exported file" } }
        }
    }
}

fn number(number: Option<u64>) -> Markup {
    html! { td.ln data-n=[number] {} }
}

/// The row between two hunks.
fn gap(index: usize, skipped: u64, columns: u8) -> Markup {
    let words = match (index, skipped) {
        (_, 0) | (0, _) => return html! {},
        (_, 1) => "1 unchanged line".to_owned(),
        (_, more) => format!("{} unchanged lines", grouped(more)),
    };
    html! { tr.gap { td colspan=(columns) { (words) } } }
}

fn unified(hunks: &[(u64, Vec<Drawn<'_>>)]) -> Markup {
    html! {
        table.diff { tbody { @for (index, (skipped, lines)) in hunks.iter().enumerate() {
            (gap(index, *skipped, 4))
            @for line in lines {
                @let (class, sign) = match line.line.kind {
                    LineKind::Same => (None, " "),
                    LineKind::Added => (Some("a"), "+"),
                    LineKind::Deleted => (Some("d"), "−"),
                };
                tr class=[class] { (number(line.line.old)) (number(line.line.new)) td.sg { (sign) } td { (text(line)) } }
            }
        } } }
    }
}

fn split(hunks: &[(u64, Vec<Drawn<'_>>)]) -> Markup {
    html! {
        table.diff.two { tbody { @for (index, (skipped, lines)) in hunks.iter().enumerate() {
            (gap(index, *skipped, 4))
            @for (old, new) in pairs(lines) {
                tr { (side(old, "dd", |line| line.old)) (side(new, "aa", |line| line.new)) }
            }
        } } }
    }
}

/// Half a row of the split layout.
fn side(drawn: Option<&Drawn<'_>>, changed: &str, of: fn(&DiffLine) -> Option<u64>) -> Markup {
    let Some(drawn) = drawn else {
        return html! { td.ln.x {} td.x {} };
    };
    let class = match drawn.line.kind {
        LineKind::Same => "",
        _ => changed,
    };
    html! { td.ln.(class) data-n=[of(drawn.line)] {} td.(class) { (text(drawn)) } }
}

/// Deleted lines beside the added lines that follow them.
fn pairs<'a, 'd>(lines: &'a [Drawn<'d>]) -> Vec<(Option<&'a Drawn<'d>>, Option<&'a Drawn<'d>>)> {
    let mut pairs = Vec::new();
    let mut open: usize = 0;
    for line in lines {
        match line.line.kind {
            LineKind::Same => {
                open = pairs.len() + 1;
                pairs.push((Some(line), Some(line)));
            }
            LineKind::Deleted => {
                // A deletion behind an addition begins another pair.
                if pairs.get(open..).is_some_and(|rest| {
                    rest.iter()
                        .any(|(_, new): &(_, Option<&Drawn<'_>>)| new.is_some())
                }) {
                    open = pairs.len();
                }
                pairs.push((Some(line), None));
            }
            LineKind::Added => {
                let free = pairs
                    .get_mut(open..)
                    .and_then(|rest| rest.iter_mut().find(|(_, new)| new.is_none()));
                match free {
                    Some((_, new)) => *new = Some(line),
                    None => pairs.push((None, Some(line))),
                }
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    const TWO: &str = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -3,4 +3,4 @@ fn x()\n fn x() {\n-    let total = 1;\n+    let gross = 1;\n }\n \n@@ -20 +20,2 @@\n-old\n+--- new\n+++ more\n\\ No newline at end of file\ndiff --git a/b.txt b/b.txt\nnew file mode 100644\n--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+one\n";

    #[test]
    fn diffs_are_read() {
        let files = parse(TWO);
        assert_eq!(files.len(), 2);
        let first = files.first().unwrap();
        assert_eq!((first.path(), first.counts()), ("src/a.rs", (3, 2)));
        let numbers: Vec<(Option<u64>, Option<u64>, &str)> = first.hunks[0]
            .lines
            .iter()
            .map(|it| (it.old, it.new, it.text.as_str()))
            .collect();
        assert_eq!(numbers[0], (Some(3), Some(3), "fn x() {"));
        assert_eq!(numbers[1], (Some(4), None, "    let total = 1;"));
        assert_eq!(numbers[2], (None, Some(4), "    let gross = 1;"));
        assert_eq!(numbers[4], (Some(6), Some(6), ""));
        let last = &first.hunks[1].lines;
        assert_eq!(last[1].text, "--- new");
        assert_eq!(last[2].text, "++ more");
        assert!(last[2].is_unended);
        assert_eq!((files[1].old.as_deref(), files[1].path()), (None, "b.txt"));
    }

    #[test]
    fn other_forms_are_read() {
        let binary =
            parse("diff --git a/x y.png b/x y.png\nBinary files a/x y.png and b/x y.png differ\n");
        assert!(binary[0].is_binary);
        assert_eq!(binary[0].path(), "x y.png");
        let renamed =
            parse("diff --git a/a b/b\nsimilarity index 100%\nrename from a\nrename to b\n");
        assert_eq!(
            (renamed[0].old.as_deref(), renamed[0].new.as_deref()),
            (Some("a"), Some("b"))
        );
        let plain =
            parse("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n");
        assert_eq!(
            plain.iter().map(DiffFile::path).collect::<Vec<_>>(),
            ["f", "g"]
        );
        let windows = parse("--- a/f\r\n+++ b/f\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n");
        assert_eq!(
            (
                windows[0].path(),
                windows[0].hunks[0].lines[1].text.as_str()
            ),
            ("f", "b")
        );
    }

    #[test]
    fn hostile_diffs_do_no_harm() {
        for text in [
            "",
            "@@",
            "@@ -1,18446744073709551615 +1,18446744073709551615 @@\n a\n-b\n",
            "@@ -18446744073709551615 +18446744073709551615,3 @@\n-a\n+b\n+c\n",
            "@@ -1,2 +1,2 @@\ndiff --git a b\n",
            "--- \n+++ \n@@ -1 +1 @@\n",
            "diff --git \n",
            "+++ b/x\n\\ No newline at end of file",
        ] {
            for file in parse(text) {
                draw(&file, Layout::Split, &mut Colours::new());
                draw(&file, Layout::Unified, &mut Colours::new());
            }
        }
        let script = "--- a/<script>\n+++ b/<script>\n@@ -1 +1 @@\n-<script>alert(1)</script>\n+\u{202e}</td><img src=x>\n";
        let html = draw(&parse(script)[0], Layout::Unified, &mut Colours::new()).into_string();
        for tag in ["<script", "<img", "\u{202e}"] {
            assert!(!html.contains(tag), "{html}");
        }
    }

    #[test]
    fn changed_words_are_marked() {
        let html = draw(&parse(TWO)[0], Layout::Unified, &mut Colours::new()).into_string();
        assert!(html.contains("<del>total</del>"), "{html}");
        assert!(html.contains("<ins>gross</ins>"), "{html}");
        assert!(html.contains("13 unchanged lines"), "{html}");
        // Lines that have little in common are whole changes.
        assert!(!html.contains("<del>old</del>"), "{html}");
    }

    #[test]
    fn both_layouts_have_every_line_once() {
        let diff = "--- a/f\n+++ b/f\n@@ -1,5 +1,4 @@\n-a\n-b\n+c\n same\n+d\n-e\n-f\n+g\n";
        let files = parse(diff);
        let lines = dress(&files[0].hunks[0], None, &mut Colours::new());
        let shape: Vec<(Option<&str>, Option<&str>)> = pairs(&lines)
            .into_iter()
            .map(|(old, new)| {
                (
                    old.map(|it| it.line.text.as_str()),
                    new.map(|it| it.line.text.as_str()),
                )
            })
            .collect();
        assert_eq!(
            shape,
            [
                (Some("a"), Some("c")),
                (Some("b"), None),
                (Some("same"), Some("same")),
                (None, Some("d")),
                (Some("e"), Some("g")),
                (Some("f"), None),
            ]
        );
    }

    #[test]
    fn files_are_found_by_their_paths() {
        let files = parse(TWO);
        assert_eq!(file_of(&files, "src/a.rs").unwrap().path(), "src/a.rs");
        assert_eq!(
            file_of(&files, "/home/me/app/b.txt").unwrap().path(),
            "b.txt"
        );
        assert_eq!(file_of(&files, "a.rs").unwrap().path(), "src/a.rs");
        assert!(file_of(&files, "c.txt").is_none());
        assert_eq!(
            file_of(&files[..1], "elsewhere").unwrap().path(),
            "src/a.rs"
        );
    }

    #[test]
    fn long_diffs_are_cut() {
        let diff = format!(
            "--- a/f\n+++ b/f\n@@ -0,0 +1,2000 @@\n{}",
            "+x\n".repeat(2_000)
        );
        let html = draw(&parse(&diff)[0], Layout::Unified, &mut Colours::new()).into_string();
        assert!(
            html.contains("1,400 more lines"),
            "{}",
            &html[html.len() - 300..]
        );
    }
}
