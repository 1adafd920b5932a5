//! The words that fields of the folder's files may have (Forge,
//! docs/spec/forge.md).

use annals_domain::intent::{Risk, Source};
use annals_domain::task::{Complexity, ReviewVerdict};

/// An enum whose variants are words.
pub(super) trait Word: Copy + 'static {
    /// Every variant, in the order of Forge.
    const ALL: &'static [Self];
    /// Words that are read as well, and never written.
    const ALIASES: &'static [(&'static str, Self)] = &[];

    /// The word that is written.
    fn word(self) -> &'static str;

    /// The variant of a word.
    fn of(word: &str) -> Option<Self> {
        let written = Self::ALL.iter().copied().find(|it| it.word() == word);
        let alias = || Self::ALIASES.iter().find(|(alias, _)| *alias == word);
        written.or_else(|| alias().map(|(_, variant)| *variant))
    }

    /// The words that are read.
    fn known() -> Vec<&'static str> {
        let written = Self::ALL.iter().map(|it| it.word());
        let aliases = Self::ALIASES.iter().map(|(alias, _)| *alias);
        written.chain(aliases).collect()
    }
}

macro_rules! words {
    ($($name:ident $([$($alias:literal => $variant:ident),+])?;)+) => {
        $(impl Word for $name {
            const ALL: &'static [$name] = $name::ALL;
            $(const ALIASES: &'static [(&'static str, $name)] =
                &[$(($alias, $name::$variant),)+];)?

            fn word(self) -> &'static str {
                self.as_str()
            }
        })+
    };
}

macro_rules! statuses {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$vmeta:meta])* $variant:ident => $word:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vmeta])* $variant,)+ }

        impl $name {
            /// Every variant, in the order of Forge.
            pub const ALL: &'static [$name] = &[$($name::$variant,)+];

            /// The word that the files use.
            pub fn as_str(self) -> &'static str {
                match self { $($name::$variant => $word,)+ }
            }
        }
    };
}

statuses! {
    /// Where an intent is (docs/spec/forge.md, Intent, status).
    pub enum IntentStatus {
        /// It is wanted, and not yet approved; also where the file says nothing.
        #[default]
        Proposed => "proposed",
        /// It may be worked on.
        Approved => "approved",
        /// It is worked on.
        Executing => "executing",
        /// All its tasks are done.
        Done => "done",
        /// Some of its tasks failed.
        Blocked => "blocked",
        /// All its tasks failed.
        Error => "error",
        /// It is not wanted.
        Rejected => "rejected",
        /// It was given up.
        Cancelled => "cancelled",
    }
}

statuses! {
    /// Where a task is (docs/spec/forge.md, Task, status).
    pub enum TaskStatus {
        /// Nothing was done yet; also where the file says nothing.
        #[default]
        Pending => "pending",
        /// It is worked on.
        Implementing => "implementing",
        /// It is done; `completed` is read as well.
        Done => "done",
        /// It failed.
        Failed => "failed",
        /// It was given up.
        Cancelled => "cancelled",
    }
}

words! {
    Source;
    Risk;
    IntentStatus;
    TaskStatus ["completed" => Done];
    Complexity ["medium" => Med];
    ReviewVerdict;
}

/// The one of some words that another was probably meant to be: it differs in
/// case, is short for it, or is at most two slips away.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes time in proportion to both lengths.
    const LONGEST: usize = 64;
    let word = word.trim().to_lowercase();
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    let rank = |known: &str| {
        let lower = known.to_lowercase();
        let apart = strsim::osa_distance(&word, &lower);
        let short = word.chars().count().min(lower.chars().count());
        let shortened = short >= 3 && (word.starts_with(&lower) || lower.starts_with(&word));
        let slips = if short > 4 { 2 } else { 1 };
        (apart <= slips || shortened).then_some(apart)
    };
    let near = known.into_iter().filter(|known| known.len() <= LONGEST);
    let ranked = near.filter_map(|known| Some((rank(known)?, known)));
    ranked
        .min_by_key(|(apart, _)| *apart)
        .map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn done_and_completed_are_read_and_document_004s_spelling_is_written() {
        assert_eq!(TaskStatus::of("done"), Some(TaskStatus::Done));
        assert_eq!(TaskStatus::of("completed"), Some(TaskStatus::Done));
        assert_eq!(TaskStatus::Done.word(), "done");
        assert_eq!(Complexity::of("medium"), Some(Complexity::Med));
        assert_eq!(Complexity::of("med").map(Complexity::word), Some("med"));
        assert_eq!(Risk::of("medium"), None);
    }

    #[test]
    fn a_slip_is_told_from_another_word() {
        let near = |word| nearest(word, Risk::known());
        assert_eq!(near("hihg"), Some("high"));
        assert_eq!(near("HIGH"), Some("high"));
        assert_eq!(near("medium"), Some("med"));
        assert_eq!(near("lwo"), Some("low"));
        assert_eq!(near("severe"), None);
        assert_eq!(near(""), None);
        assert_eq!(nearest("aproved", IntentStatus::known()), Some("approved"));
        assert_eq!(nearest("appoved", IntentStatus::known()), Some("approved"));
        assert_eq!(nearest(&"a".repeat(1_000_000), IntentStatus::known()), None);
    }

    #[test]
    fn the_words_are_those_of_document_004() {
        let intent = "proposed approved executing done blocked error rejected cancelled";
        assert_eq!(IntentStatus::known().join(" "), intent);
        let task = "pending implementing done failed cancelled completed";
        assert_eq!(TaskStatus::known().join(" "), task);
        assert_eq!(Source::known().join(" "), "human audit epiphany reflection");
        assert_eq!(Complexity::known().join(" "), "low med high medium");
    }
}
