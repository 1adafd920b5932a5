//! How much is in a text of JSON, counted before it is parsed: what is short as a text, as a list of `0,`, is large in
//! memory, and each element of a list may become a part of the log.

/// So many elements the lists of a text may have, together: of recordings that were measured, one of 64 MiB, the most
/// that is read at once, would have 20,000 to 270,000.
pub(crate) const ELEMENTS: usize = 300_000;

/// So many members its objects may have, together.
const MEMBERS: usize = 4_000_000;

/// A shorter text cannot have so many.
const SHORT: usize = ELEMENTS;

/// Lists of numbers that trajectories have for training, longer than all else. They are not looked into.
const UNREAD: [&str; 3] = ["prompt_token_ids", "completion_token_ids", "logprobs"];

/// A text has more in it than is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TooMuch {
    #[error(
        "its lists have more than {ELEMENTS} elements, the most that is read at once; split it or leave it out"
    )]
    Elements,
    #[error(
        "its objects have more than {MEMBERS} members, the most that is read at once; split it or leave it out"
    )]
    Members,
}

/// Something that was begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Object,
    List,
    /// It is not looked into.
    Unread,
}

/// Looks at a text that may not even be JSON.
pub(crate) fn check(json: &[u8]) -> Result<(), TooMuch> {
    match json.len() < SHORT {
        true => Ok(()),
        false => Walk::default().through(json),
    }
}

#[derive(Default)]
struct Walk {
    open: Vec<Open>,
    elements: usize,
    members: usize,
    /// Where the latest string is, until something else follows but a colon.
    string: (usize, usize),
}

impl Walk {
    fn through(&mut self, json: &[u8]) -> Result<(), TooMuch> {
        let mut at = 0;
        while let Some(byte) = json.get(at) {
            match byte {
                b'"' => {
                    let end = end_of_string(json, at + 1);
                    self.string = (at + 1, end);
                    at = end;
                }
                b'{' => self.begin(Open::Object)?,
                b'[' => {
                    let (from, to) = self.string;
                    let key = json.get(from..to).unwrap_or_default();
                    let is_unread = UNREAD.iter().any(|name| name.as_bytes() == key);
                    self.begin(if is_unread { Open::Unread } else { Open::List })?;
                }
                b'}' | b']' => {
                    self.open.pop();
                    self.string = (0, 0);
                }
                b',' => {
                    self.string = (0, 0);
                    self.count(self.open.last().copied())?;
                }
                _ => {}
            }
            at += 1;
        }
        Ok(())
    }

    fn begin(&mut self, open: Open) -> Result<(), TooMuch> {
        self.string = (0, 0);
        let is_within = self.open.last() == Some(&Open::Unread);
        let open = if is_within { Open::Unread } else { open };
        self.open.push(open);
        // It may have one without a comma.
        self.count(Some(open))
    }

    fn count(&mut self, within: Option<Open>) -> Result<(), TooMuch> {
        match within {
            Some(Open::List) => self.elements += 1,
            Some(Open::Object) => self.members += 1,
            Some(Open::Unread) | None => {}
        }
        if self.elements > ELEMENTS {
            return Err(TooMuch::Elements);
        }
        match self.members > MEMBERS {
            true => Err(TooMuch::Members),
            false => Ok(()),
        }
    }
}

/// Where a string ends that begins here: at its quote, or with the text.
fn end_of_string(json: &[u8], begin: usize) -> usize {
    let mut at = begin;
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(begin: &str, part: &str, times: usize, end: &str) -> Result<(), TooMuch> {
        check(format!("{begin}{}{end}", part.repeat(times)).as_bytes())
    }

    #[test]
    fn elements_and_members_are_counted() {
        let all = ELEMENTS - 1;
        assert_eq!(of("[", "0,", all, "0]"), Ok(()));
        assert_eq!(of("[", "0,", all + 1, "0]"), Err(TooMuch::Elements));
        assert_eq!(
            of(r#"{"a":[0],"b":["#, "{},", all, "1"),
            Err(TooMuch::Elements)
        );
        assert_eq!(of("", "[", all + 2, ""), Err(TooMuch::Elements));
        assert_eq!(of("{", r#""":0,"#, ELEMENTS + 1, "}"), Ok(()));
        assert_eq!(of("{", r#""":0,"#, MEMBERS, "}"), Err(TooMuch::Members));
    }

    #[test]
    fn texts_and_lists_that_are_not_read_do_not_count() {
        let many = ELEMENTS + 1;
        assert_eq!(of(r#"["\","#, r#"[,\""#, many, r#""]"#), Ok(()));
        assert_eq!(
            of(r#"{"prompt_token_ids":[[0],"#, "0,", many, "0]}"),
            Ok(())
        );
        assert_eq!(
            of(r#"["logprobs",["#, "0,", many, "0]]"),
            Err(TooMuch::Elements)
        );
        assert_eq!(
            of(r#"{"logprobs":0,"x":["#, "0,", many, "0]}"),
            Err(TooMuch::Elements)
        );
        assert_eq!(
            of(r#"{"logprobs":[0],"x":["#, "0,", many, "0]}"),
            Err(TooMuch::Elements)
        );
    }
}
