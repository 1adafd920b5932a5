//! Lines that are no wider than the terminal.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::line;

/// What stands for what was cut away.
const CUT: &str = "…";
/// Columns of the middle part that stay as long as there is anything else to be cut.
const LEAST: usize = 12;

/// How many columns of a terminal a text takes once it was made harmless.
///
/// ```
/// assert_eq!(annals_terminal::columns("日本 é"), 6);
/// assert_eq!(annals_terminal::columns("\u{1b}"), r"\u{1b}".len());
/// ```
pub fn columns(text: &str) -> usize {
    line(text).width()
}

/// A line of three parts, harmless and at most so many columns wide: the middle part is cut first, and then the line's
/// end.
///
/// ```
/// use annals_terminal::fit;
/// assert_eq!(fit("Bash ", "go test ./...", " -> exit 1", 80), "Bash go test ./... -> exit 1");
/// assert_eq!(fit("Bash ", "go test ./... -count=1 -v", " -> exit 1", 30), "Bash go test ./... … -> exit 1");
/// assert_eq!(fit("", "what happened", "", 8), "what ha…");
/// ```
pub fn fit(before: &str, middle: &str, behind: &str, width: usize) -> String {
    let [before, middle, behind] = [before, middle, behind].map(line);
    let around = before.width() + behind.width();
    let whole = around + middle.width();
    let middle = match whole <= width {
        true => middle.into_owned(),
        false => cut(&middle, width.saturating_sub(around).max(LEAST)),
    };
    cut(&format!("{before}{middle}{behind}"), width)
}

/// The beginning of a text that is harmless, at most so many columns wide.
fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut left = width.saturating_sub(CUT.width());
    for c in text.chars() {
        let own = c.width().unwrap_or(0);
        if own > left {
            break;
        }
        left -= own;
        kept.push(c);
    }
    // Some characters are wider together than alone: emoji with the selector of their shape.
    while kept.width() + CUT.width() > width && kept.pop().is_some() {}
    if width > 0 {
        kept.push_str(CUT);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_it_may_be() {
        let parts = [
            "",
            "Bash ",
            "日本語の長い文",
            "\u{1b}[2J\u{202e}",
            "e\u{301}e\u{301}",
            "❤\u{fe0f}❤\u{fe0f}❤\u{fe0f}",
            " -> exit 1 (7.2 s)",
        ];
        for before in parts {
            for middle in parts {
                for behind in parts {
                    for width in [0, 1, 2, 7, 20, 80, 1_000] {
                        let fitted = fit(before, middle, behind, width);
                        assert!(fitted.width() <= width, "{fitted:?} in {width}");
                        assert!(!fitted.chars().any(crate::is_hidden), "{fitted:?}");
                        let whole = line(&[before, middle, behind].concat()).into_owned();
                        assert_eq!(fitted == whole, whole.width() <= width, "{fitted:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_behind_stays_as_long_as_there_is_room() {
        let fitted = fit("Bash ", &"x".repeat(500), " -> exit 1 (7.2 s)", 40);
        assert_eq!(
            fitted,
            format!("Bash {}… -> exit 1 (7.2 s)", "x".repeat(16))
        );
        let narrow = fit("Bash ", &"x".repeat(500), " -> exit 1 (7.2 s)", 20);
        assert_eq!(narrow, "Bash xxxxxxxxxxx… -…");
    }
}
