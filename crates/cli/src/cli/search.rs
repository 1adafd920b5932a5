//! Searching a log by words.

use annals::At;
use annals_search::{Facet, Keeping};
use clap::{Args, ValueEnum};

use super::reading::Floor;
use super::words::{KindWord, at_least_one, at_since, at_until};

#[derive(Debug, Args)]
#[command(after_help = "\
Finds events whose texts have all words, in any order and in either case. Punctuation does not count: cli/main.go is the \
words cli, main and go next to each other.

  \"exit status 1\"   a phrase (in a shell: '\"exit status 1\"')
  -vendor           excludes a word (behind other words: 'parser -vendor')
  pagin*            words with this beginning
  parseUtf8         also parse_utf8; utf8 finds both

The index is in the folder search of the log; the first search creates it. docs/search.md describes the searched texts.

Examples:
  annals search panic index out of bounds
  annals search '\"connection refused\" -retry' --in results
  annals search migration --project shop --agent claude
  annals search timeout --session @last
  annals search TestPagination --kind run --since 2026-01-31T12:00:00Z
  annals search migrat* --actor agent:claude --newest --limit 5 --json
  annals search --index kept     also update the index in imports and the service
  annals search --rebuild        rebuild the index")]
pub(crate) struct Search {
    /// The words to find
    #[arg(value_name = "WORDS", required_unless_present_any = ["rebuild", "index"])]
    pub(crate) words: Vec<String>,
    /// Only in these texts; repeat it, or separate several by commas
    #[arg(long = "in", value_enum, value_name = "TEXTS", value_delimiter = ',')]
    pub(crate) facets: Vec<FacetWord>,
    /// Only events on objects of this kind, such as run or tool_invocation
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<KindWord>,
    /// Only one actor: KIND:ID, or an id of any kind
    #[arg(long, value_name = "[KIND:]ID")]
    pub(crate) actor: Option<String>,
    /// Only in sessions of this project: its path, a path above it, or its name
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) project: Option<String>,
    /// Only in sessions of this agent, such as claude or codex
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Only in this session: the beginning or end of an id, @last or @2
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only events from this position or time on (RFC 3339, 2026-01-31, 14:30, yesterday, 2d). Times are the log's;
    /// occurred:TIME uses the callers' clocks
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_since)]
    pub(crate) since: Option<At>,
    /// Only events up to this position, or before this time
    #[arg(long, value_name = "POSITION|TIME", value_parser = at_until)]
    pub(crate) until: Option<At>,
    /// Sort by time, newest first [default: by relevance]
    #[arg(long)]
    pub(crate) newest: bool,
    /// Print at most N events
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = at_least_one)]
    pub(crate) limit: usize,
    /// Scan the log instead of the index, newest events first; slower, writes nothing
    #[arg(long, conflicts_with = "rebuild")]
    pub(crate) no_index: bool,
    /// Rebuild the index first
    #[arg(long)]
    pub(crate) rebuild: bool,
    /// Set how the index is updated: lazy (by searches), kept (also by imports and `annals service serve`) or off
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
    /// Results, errors, evidence and context frames
    Results,
    /// Answers and thoughts of the model, summaries, reasons, decisions, reviews
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
    /// Searches create and update it
    Lazy,
    /// Imports and `annals service serve` update it, too
    Kept,
    /// No index
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
