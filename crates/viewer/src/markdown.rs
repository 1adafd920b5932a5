//! Markdown of models as HTML that only Annals wrote: raw HTML is text, images are links, links lead to http(s) only.
//!
//! Two steps: the parser's events are changed to harmless ones, and ammonia removes from the result whatever is not on
//! its list. Neither trusts the other.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use maud::{Markup, PreEscaped, html};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, LinkType, Options, Parser, Tag, TagEnd};

use crate::code::{self, Colours, Language};
use crate::foreign;

/// Bytes of a text that is read as Markdown. A longer one is drawn as plain text.
const LONGEST: usize = 512 * 1024;
/// Quotes, lists and emphases in each other that are drawn.
const DEEPEST: usize = 24;
/// Classes that code and badges have.
const CLASSES: [&str; 10] = ["k", "s", "n", "f", "t", "c", "ctl", "code", "host", "table"];
/// Characters of a code block or a table that name it for screen readers.
const LABEL: usize = 60;

/// Draws a text in Markdown.
pub(crate) fn render(text: &str, colours: &mut Colours) -> Markup {
    if text.len() > LONGEST {
        return html! { pre.out { (foreign::text(text)) } };
    }
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut harmless = Harmless::new(colours);
    for event in Parser::new_ext(text, options) {
        harmless.take(event);
    }
    let mut written = String::with_capacity(text.len() * 3 / 2);
    pulldown_cmark::html::push_html(&mut written, harmless.events.into_iter());
    PreEscaped(CLEANER.clean(&written).to_string())
}

/// The attributes of a block that scrolls.
const SCROLLS: [&str; 4] = ["class", "tabindex", "role", "aria-label"];

static CLEANER: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let tags = [
        "p",
        "br",
        "hr",
        "h3",
        "h4",
        "h5",
        "h6",
        "ul",
        "ol",
        "li",
        "blockquote",
        "pre",
        "code",
        "em",
        "strong",
        "del",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "a",
        "span",
        "section",
    ];
    let attributes = [
        ("a", HashSet::from(["href"])),
        ("ol", HashSet::from(["start"])),
        ("span", HashSet::from(["class"])),
        ("code", HashSet::from(["class"])),
        ("pre", SCROLLS.into()),
        ("section", SCROLLS.into()),
    ];
    let mut cleaner = Builder::empty();
    cleaner
        .tags(HashSet::from(tags))
        .tag_attributes(HashMap::from(attributes))
        .url_schemes(HashSet::from(["http", "https"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(Some("noopener noreferrer nofollow"))
        .attribute_filter(|_, attribute, value| match attribute {
            "class" if !is_class(value) => None,
            "tabindex" if value != "0" => None,
            "role" if value != "region" => None,
            _ => Some(Cow::Borrowed(value)),
        });
    cleaner
});

fn is_class(value: &str) -> bool {
    CLASSES.contains(&value) || value.strip_prefix("language-").is_some_and(is_language)
}

/// Returns `true` if a fence's word may be part of a class.
fn is_language(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '#' | '_' | '-');
    !word.is_empty() && word.len() <= 20 && word.chars().all(is_part)
}

/// Turns the parser's events into harmless ones.
struct Harmless<'a, 'c> {
    events: Vec<Event<'a>>,
    colours: &'c mut Colours,
    /// Text and language of the code block that is open.
    code: Option<(String, String)>,
    /// For each open link or image: how it is ended.
    open: Vec<Opened>,
    /// The place of the table that is open among the events, and the text of its first cells.
    table: Option<(usize, String)>,
    /// The levels of the headings above, as the text has them.
    levels: Vec<HeadingLevel>,
    /// For each open quote, list, item or emphasis: whether it was written.
    nested: Vec<bool>,
}

/// A link or an image that is open.
struct Opened {
    /// Whether an `a` was written.
    is_link: bool,
    /// The destination, written behind it.
    behind: Option<String>,
}

impl<'a, 'c> Harmless<'a, 'c> {
    fn new(colours: &'c mut Colours) -> Harmless<'a, 'c> {
        Harmless {
            events: Vec::new(),
            colours,
            code: None,
            open: Vec::new(),
            table: None,
            levels: Vec::new(),
            nested: Vec::new(),
        }
    }

    fn take(&mut self, event: Event<'a>) {
        if let Some((_, text)) = &mut self.code {
            match event {
                Event::Text(more) => text.push_str(&more),
                Event::End(TagEnd::CodeBlock) => self.end_code(),
                _ => {}
            }
            return;
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(end) => self.end(end),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.text(&text),
            Event::Code(text) => {
                let code = html! { code { (foreign::text(&text)) } };
                self.events
                    .push(Event::InlineHtml(code.into_string().into()));
            }
            Event::TaskListMarker(done) => self.text(if done { "☑ " } else { "☐ " }),
            other @ (Event::SoftBreak | Event::HardBreak | Event::Rule) => self.events.push(other),
            // Not enabled; their text is kept.
            Event::FootnoteReference(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text);
            }
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, label)) = self.table.as_mut().filter(|(_, it)| it.len() < LABEL) {
            label.push_str(text);
            label.push(' ');
        }
        let written = foreign::text(text).into_string();
        self.events.push(Event::InlineHtml(written.into()));
    }

    fn start(&mut self, tag: Tag<'a>) {
        match tag {
            Tag::HtmlBlock => self.events.push(Event::Start(Tag::Paragraph)),
            Tag::Heading { level, .. } => {
                let level = self.heading(level);
                self.events.push(Event::Start(Tag::Heading {
                    level,
                    id: None,
                    classes: Vec::new(),
                    attrs: Vec::new(),
                }));
            }
            Tag::BlockQuote(_) => self.nest(Tag::BlockQuote(None)),
            Tag::List(_) | Tag::Item | Tag::Emphasis | Tag::Strong | Tag::Strikethrough => {
                self.nest(tag)
            }
            // An alignment would be an inline style.
            Tag::Table(columns) => {
                let none = vec![pulldown_cmark::Alignment::None; columns.len()];
                self.table = Some((self.events.len(), String::new()));
                self.events.push(Event::Html("".into()));
                self.events.push(Event::Start(Tag::Table(none)));
            }
            Tag::CodeBlock(kind) => {
                let word = match kind {
                    CodeBlockKind::Fenced(word) => word.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((word, String::new()));
            }
            Tag::Link { dest_url, .. } => self.open(&dest_url, false),
            Tag::Image { dest_url, .. } => self.open(&dest_url, true),
            Tag::Paragraph | Tag::TableHead | Tag::TableRow | Tag::TableCell => {
                self.events.push(Event::Start(tag));
            }
            // Not enabled.
            _ => {}
        }
    }

    fn end(&mut self, end: TagEnd) {
        match end {
            TagEnd::HtmlBlock => self.events.push(Event::End(TagEnd::Paragraph)),
            TagEnd::Heading(_) => {
                let level = self.level();
                self.events.push(Event::End(TagEnd::Heading(level)));
            }
            TagEnd::Link | TagEnd::Image => self.close(),
            TagEnd::BlockQuote(_)
            | TagEnd::List(_)
            | TagEnd::Item
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
                if self.nested.pop().unwrap_or(false) =>
            {
                self.events.push(Event::End(end));
            }
            TagEnd::Table => self.end_table(),
            TagEnd::Paragraph | TagEnd::TableHead | TagEnd::TableRow | TagEnd::TableCell => {
                self.events.push(Event::End(end))
            }
            _ => {}
        }
    }

    /// Begins a quote, a list, an item or an emphasis, unless too many are open.
    fn nest(&mut self, tag: Tag<'a>) {
        let is_written = self.nested.len() < DEEPEST;
        self.nested.push(is_written);
        if is_written {
            self.events.push(Event::Start(tag));
        }
    }

    /// The level below the page's own headings: at most one deeper than the heading above.
    fn heading(&mut self, level: HeadingLevel) -> HeadingLevel {
        while self.levels.last().is_some_and(|above| *above >= level) {
            self.levels.pop();
        }
        self.levels.push(level);
        self.level()
    }

    fn level(&self) -> HeadingLevel {
        match self.levels.len() {
            0 | 1 => HeadingLevel::H3,
            2 => HeadingLevel::H4,
            3 => HeadingLevel::H5,
            _ => HeadingLevel::H6,
        }
    }

    /// Begins a link, or an image as a link. A destination that is not on the web is written as text.
    fn open(&mut self, destination: &str, is_image: bool) {
        let inside = self.open.iter().any(|opened| opened.is_link);
        let host = host(destination).filter(|_| !inside);
        if let Some(host) = host {
            self.events.push(Event::Start(Tag::Link {
                link_type: LinkType::Inline,
                dest_url: destination.to_owned().into(),
                title: "".into(),
                id: "".into(),
            }));
            if is_image {
                self.text("image: ");
            }
            self.open.push(Opened {
                is_link: true,
                behind: Some(host.to_owned()).filter(|_| is_image),
            });
            return;
        }
        if is_image {
            self.text("image: ");
        }
        self.open.push(Opened {
            is_link: false,
            behind: Some(destination.to_owned()).filter(|it| !it.is_empty()),
        });
    }

    fn close(&mut self) {
        let Some(opened) = self.open.pop() else {
            return;
        };
        if opened.is_link {
            self.events.push(Event::End(TagEnd::Link));
        }
        if let Some(behind) = opened.behind {
            let note = html! { " " span.host { "(" (foreign::text(&behind)) ")" } };
            self.events
                .push(Event::InlineHtml(note.into_string().into()));
        }
    }

    /// Ends a table: it is in a block that scrolls, and its first cells name it.
    fn end_table(&mut self) {
        self.events.push(Event::End(TagEnd::Table));
        self.events.push(Event::Html("</section>\n".into()));
        let Some((place, label)) = self.table.take() else {
            return;
        };
        let label = format!("Table: {}", name_of(&label));
        let block = html! { section.table tabindex="0" role="region" aria-label=(label) {} };
        let block = block.into_string();
        let opened = block
            .strip_suffix("</section>")
            .unwrap_or_default()
            .to_owned();
        if let Some(event) = self.events.get_mut(place) {
            *event = Event::Html(opened.into());
        }
    }

    fn end_code(&mut self) {
        let Some((word, text)) = self.code.take() else {
            return;
        };
        let language = word.split_whitespace().next().unwrap_or_default();
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let code = code::block(text, Language::named(language), self.colours);
        let first = text.lines().find(|line| !line.trim().is_empty());
        let label = format!("Code: {}", name_of(first.unwrap_or_default()));
        let block = html! {
            pre.code tabindex="0" role="region" aria-label=(label) { code class=[is_language(language).then(|| format!("language-{language}"))] { (code) } }
        };
        self.events.push(Event::Html(block.into_string().into()));
    }
}

/// The beginning of a block, as its name for screen readers.
fn name_of(text: &str) -> String {
    foreign::attribute(&foreign::one_line(text, LABEL))
}

/// The host of an address on the web.
fn host(address: &str) -> Option<&str> {
    let (scheme, rest) = address.split_once("://")?;
    let is_web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or(host);
    (is_web && !host.is_empty() && !address.contains(foreign::is_badge)).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        render(text, &mut Colours::new()).into_string()
    }

    #[test]
    fn markdown_is_html() {
        let text = "# One\n\n- *a* **b** `c` ~~d~~\n- [x] done\n\n1. x\n\n> q\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n---\n";
        let html = shown(text);
        for part in [
            "<h3>One</h3>",
            "<em>a</em>",
            "<strong>b</strong>",
            "<code>c</code>",
            "<del>d</del>",
            "☑ done",
            "<ol>",
            "<blockquote>",
            "<th>a</th>",
            "<td>1</td>",
            "<section class=\"table\" tabindex=\"0\" role=\"region\" aria-label=\"Table: a b 1 2\"><table>",
            "<hr>",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn raw_html_is_text() {
        for raw in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "<div>\n<style>*{}</style>\n</div>",
            "<!-- <b> -->",
            "<a href=\"javascript:alert(1)\">x</a>",
            "# <iframe src=//x>",
            "`<script>`",
            "```html\n<script>alert(1)</script>\n```",
            "    <script>\n",
            "| <svg onload=x> |\n|---|\n| <math> |",
            "[<b>](https://a.example/<script>)",
        ] {
            let html = shown(raw);
            for tag in [
                "<script", "<img", "<div", "<style", "<b>", "<iframe", "<svg", "<math", "<!--",
            ] {
                assert!(!html.contains(tag), "{raw}: {html}");
            }
            for attribute in [" id=", " style=", "<a href=\"javascript"] {
                assert!(!html.contains(attribute), "{raw}: {html}");
            }
            assert!(html.contains("&lt;") || !raw.contains("<script>"), "{html}");
        }
    }

    #[test]
    fn links_lead_to_the_web_only() {
        let html = shown("[a](https://docs.example/x?a=1&b=2)");
        assert!(
            html.contains("<a href=\"https://docs.example/x?a=1&amp;b=2\" rel=\"noopener noreferrer nofollow\">a</a>"),
            "{html}"
        );
        for bad in [
            "[x](javascript:alert(1))",
            "[x](JaVaScRiPt:alert(1))",
            "[x](data:text/html,<script>)",
            "[x](vbscript:x)",
            "[x](file:///etc/passwd)",
            "[x](//evil.example/)",
            "[x](src/main.rs)",
            "[x](https:\u{202e}//evil.example)",
            "<javascript:alert(1)>",
            "[x][1]\n\n[1]: javascript:alert(1)",
            "[x](&#106;avascript:alert(1))",
        ] {
            let html = shown(bad);
            assert!(!html.contains("<a"), "{bad}: {html}");
        }
        assert!(shown("[x](src/main.rs)").contains("x <span class=\"host\">(src/main.rs)</span>"));
    }

    #[test]
    fn images_are_links() {
        let html = shown("![a cat](https://img.example/cat.png)");
        assert!(!html.contains("<img"), "{html}");
        assert!(
            html.contains("image: a cat</a> <span class=\"host\">(img.example)</span>"),
            "{html}"
        );
        let html = shown("[![badge](https://ci.example/b.svg)](https://ci.example)");
        assert_eq!(html.matches("<a ").count(), 1, "{html}");
    }

    #[test]
    fn hidden_characters_are_badges() {
        for text in [
            "a\u{202e}b",
            "`a\u{202e}b`",
            "```\na\u{202e}b\n```",
            "# a\u{202e}b",
            "[a\u{202e}b](https://x.example)",
        ] {
            let html = shown(text);
            assert!(html.contains("<span class=\"ctl\">U+202E</span>"), "{html}");
            assert!(!html.contains('\u{202e}'), "{html}");
        }
        assert!(shown("\u{1b}[31mred").contains("<span class=\"ctl\">ESC</span>[31mred"));
    }

    #[test]
    fn headings_follow_each_other() {
        let html = shown("### a\n\n# b\n\n#### c\n\n## d\n\n###### e\n");
        let levels: Vec<char> = html
            .split("<h")
            .skip(1)
            .filter_map(|it| it.chars().next())
            .collect();
        assert_eq!(levels, ['3', '3', '4', '4', '5'], "{html}");
    }

    #[test]
    fn code_is_coloured() {
        let html = shown("```rust\nfn main() {}\n```\n");
        assert!(
            html.contains(
                "aria-label=\"Code: fn main() {}\"><code class=\"language-rust\"><span class=\"k\">fn</span>"
            ),
            "{html}"
        );
        assert_eq!(
            shown("```\"><script>\nx\n```"),
            "<pre class=\"code\" tabindex=\"0\" role=\"region\" aria-label=\"Code: x\"><code>x</code></pre>"
        );
        assert!(shown("```a\"b onclick=x\nz\n```").contains("aria-label=\"Code: z\"><code>z"));
    }

    #[test]
    fn deep_nesting_does_no_harm() {
        shown(&">".repeat(20_000));
        shown(&"- ".repeat(5_000));
        shown(&"[".repeat(50_000));
        shown(&"*a _b ".repeat(20_000));
    }
}
