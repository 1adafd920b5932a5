//! What changed, where it changed first, and what is different between two pieces of work.

use annals::AtName;
use annals::projections::past::Condition;
use clap::Args;

use super::reading::Floor;
use super::words::moment;

#[derive(Debug, Args)]
#[command(
    override_usage = "annals diff [OPTIONS] <SESSION>\n       annals diff [OPTIONS] <ID> <FROM> [TO]\n       annals diff [OPTIONS] --all <FROM> [TO]",
    after_help = "\
A session alone: prints the diffs of its changed files. A session with FROM and TO: prints the turns that came in between, \
and the files that they changed. Any other object: prints each field with its old and new value, and the event that changed \
it last; the fields are those of `annals show --json`.

FROM and TO are positions, times (RFC 3339, 2026-01-31, 14:30, yesterday, 2d), ids of events, or git commits of decisions \
(at least 7 digits). Times are the log's; occurred:TIME uses the callers' clocks. TO is now by default.

With --json an object's changes are an RFC 6902 patch in \"patch\", each operation with its \"field\", old value and \"cause\".

Examples:
  annals diff @last                          the diffs of the newest session
  annals diff @last 12 30                    its turns between two events
  annals diff 1a2b3c4d 2026-01-31T12:00:00Z
  annals diff 1a2b3c4d 3f2a9c1 --json | jq .patch > patch.json
  annals diff --all 1200 now                 all objects since event 1200"
)]
pub(crate) struct Diff {
    /// The session or object, the earlier position or time, and the later one [default: now]
    #[arg(value_name = "ID FROM TO", required = true, num_args = 1..=3)]
    pub(crate) what: Vec<String>,
    /// Compare all objects that changed in between
    #[arg(long)]
    pub(crate) all: bool,
    /// Compare the fields of a session's task instead of its conversation
    #[arg(long, conflicts_with = "all")]
    pub(crate) fields: bool,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The condition is a comparison with --test, or a command that gets the object's JSON, as `annals \
show --json` prints it, on standard input: it exits with 0 where the condition holds, with 125 \
where it cannot say, and with another number up to 124 where it does not hold. ANNALS_POSITION has \
the position. What the command prints goes to standard error.

A comparison is FIELD OP JSON, where FIELD is a JSON Pointer or names with dots, and OP is ==, !=, \
<, <=, > or >=; FIELD exists; or FIELD absent. Texts have quotes. What is not there is equal to \
nothing, and neither less nor greater.

It is assumed that the condition changes once between the two ends: from holding to failing, or \
the other way round. Where both ends say the same, it finds nothing and says so; `annals object why ID \
FIELD` lists every change. The views that are looked at are about log2 of the object's events in \
between.

Examples:
  annals object bisect --id 1a2b3c4d --test '/status==\"failed\"'
  annals object bisect --id 1a2b3c4d --test 'patchsets/3 absent' --from 12 --to 900
  annals object bisect --id 1a2b3c4d -- jq -e '.frames | length < 40'")]
pub(crate) struct Bisect {
    /// The object
    #[arg(long, value_name = "ID")]
    pub(crate) id: String,
    /// The condition, as a comparison
    #[arg(long, value_name = "CONDITION", conflicts_with = "command")]
    pub(crate) test: Option<Condition>,
    /// The start: a position, a time, an event or a commit [default: the object's first event]
    #[arg(long, value_name = "POSITION|TIME|EVENT|COMMIT", value_parser = moment)]
    pub(crate) from: Option<AtName>,
    /// The end [default: now]
    #[arg(long, value_name = "POSITION|TIME|EVENT|COMMIT", value_parser = moment)]
    pub(crate) to: Option<AtName>,
    /// The condition, as a command with its arguments
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "test")]
    pub(crate) command: Vec<String>,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Compares two runs, tasks, intents or sessions of any kind: prompts, tool calls in order, files, checks, decisions, tokens \
and recorded cost, and where they diverge. Two calls are equal if their lines in `annals log history` are equal without \
their outcome; paths below a run's working directory are relative. Long stretches of equal calls are shortened; -v shows \
all.

Examples:
  annals object compare 1a2b3c4d 5e6f7a8b
  annals object compare @2 @last
  annals object compare 1a2b3c4d 5e6f7a8b --json | jq .calls_part_at")]
pub(crate) struct Compare {
    /// The first object
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The second object
    #[arg(value_name = "B")]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) floor: Floor,
}
