//! Searching a log by words.

use annals::At;
use annals_search::{Facet, Keeping};
use clap::{Args, ValueEnum};

use super::reading::Floor;
use super::words::{KindWord, at_least_one, at_since, at_until};

#[derive(Debug, Args)]
#[command(after_help = "\
An event is found if its texts have all of the words, in any order and in either case. What is
between letters and digits does not count: cli/main.go is cli, main and go next to each other.

  \"exit status 1\"   these words next to each other (in a shell: '\"exit status 1\"')
  -vendor           not with this word (behind other words; in a shell: 'parser -vendor')
  pagin*            words that begin so
  parseUtf8         also finds parse_utf8; and utf8 finds both

The index lies in the log's folder, in search, and is made by the first search. docs/search.md
says what is searched, what words are, and what becomes of removed content.

Examples:
  annals search panic index out of bounds
  annals search '\"connection refused\" -retry' --in results
  annals search TestPagination --kind run --since 2026-01-31T12:00:00Z
  annals search migrat* --actor agent:claude --newest --limit 5 --json
  annals search --index kept       keep it up to date in imports and `annals serve`, too
  annals search --rebuild          make the index again")]
pub(crate) struct Search {
    /// What to look for
    #[arg(value_name = "WORDS", required_unless_present_any = ["rebuild", "index"])]
    pub(crate) words: Vec<String>,
    /// Only in these texts: what was asked for, what tools were called with, what came back, or
    /// why; give it again for more
    #[arg(long = "in", value_enum, value_name = "TEXTS", value_delimiter = ',')]
    pub(crate) facets: Vec<FacetWord>,
    /// Only events on objects of this kind, such as run or tool_invocation
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<KindWord>,
    /// Only one actor: KIND:ID, or an id of any kind
    #[arg(long, value_name = "[KIND:]ID")]
    pub(crate) actor: Option<String>,
    /// Only from this position on, or from this time on (RFC 3339, 2026-01-31, 14:30, yesterday, 2d; by the log's
    /// clock, or with occurred: before it by the callers' clocks)
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_since)]
    pub(crate) since: Option<At>,
    /// Only up to this position, or before this time
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_until)]
    pub(crate) until: Option<At>,
    /// The newest first, and not the best
    #[arg(long)]
    pub(crate) newest: bool,
    /// At most N events
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Look through the log itself, the newest first: slower, and writes nothing
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) no_index: bool,
    /// Make the index again from the log first
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Whether this folder has an index from now on: lazy (searches make it), kept (imports and
    /// `annals serve` bring it up to date, too) or off
    #[arg(long, value_enum, value_name = "WHEN", conflicts_with = "rebuild")]
    pub(crate) index: Option<KeepingWord>,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

/// The texts that are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FacetWord {
    /// Prompts, tasks, plans, questions and answers, observations
    Prompts,
    /// Tools with their arguments, commands
    Tools,
    /// Results, errors, evidence, what the model was shown
    Results,
    /// What the model said and thought, summaries, reasons, decisions, reviews
    Rationale,
}

impl From<FacetWord> for Facet {
    fn from(word: FacetWord) -> Facet {
        match word {
            FacetWord::Prompts => Facet::Prompts,
            FacetWord::Tools => Facet::Tools,
            FacetWord::Results => Facet::Results,
            FacetWord::Rationale => Facet::Rationale,
        }
    }
}

/// Whether an index is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepingWord {
    /// The first search makes it, each brings it up to date
    Lazy,
    /// Imports and `annals serve` do so, too
    Kept,
    /// There is none
    Off,
}

impl From<KeepingWord> for Keeping {
    fn from(word: KeepingWord) -> Keeping {
        match word {
            KeepingWord::Lazy => Keeping::Lazy,
            KeepingWord::Kept => Keeping::Kept,
            KeepingWord::Off => Keeping::Off,
        }
    }
}
