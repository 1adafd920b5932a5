//! What changed, where it changed first, and what is different between two pieces of work.

use annals::AtName;
use annals::projections::past::Condition;
use clap::Args;

use super::reading::Floor;
use super::words::moment;

#[derive(Debug, Args)]
#[command(
    override_usage = "annals diff [OPTIONS] <ID> <FROM> [TO]\n       annals diff [OPTIONS] --all <FROM> [TO]",
    after_help = "\
FROM and TO are positions, times (RFC 3339, 2026-01-31, 14:30, yesterday, 2d; by the log's clock, or with
occurred: before it by the callers' clocks), ids of events, or git commits that decisions led to (their first 7 digits will do). TO is
now, if it is left out.

It shows each field whose value is another one, the old and the new value, and the last event that
changed it. Fields are those of `annals show --json`. With --json it is one object, whose \"patch\"
is an RFC 6902 patch: applied to what the object was it gives what it became. Each operation has a
\"field\", the old value, and the event as its \"cause\".

With --all it does so for each object that was touched in between, one after the other.

Examples:
  annals diff 1a2b3c4d 12 30
  annals diff 1a2b3c4d 2026-01-31T12:00:00Z
  annals diff 1a2b3c4d 3f2a9c1 --json | jq .patch > patch.json
  annals diff --all 1200 now               what happened since event 1200, object by object"
)]
pub(crate) struct Diff {
    /// The object, and two moments: the earlier one, and the later one or else now
    #[arg(value_name = "ID FROM TO", required = true, num_args = 1..=3)]
    pub(crate) what: Vec<String>,
    /// All objects that were touched between the moments
    #[arg(long)]
    pub(crate) all: bool,
    #[command(flatten)]
    pub(crate) floor: Floor,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The condition is a comparison with --test, or a command that gets the object's JSON, as `annals
show --json` prints it, on standard input: it exits with 0 where the condition holds, with 125
where it cannot say, and with another number up to 124 where it does not hold. ANNALS_POSITION has
the position. What the command prints goes to standard error.

A comparison is FIELD OP JSON, where FIELD is a JSON Pointer or names with dots, and OP is ==, !=,
<, <=, > or >=; FIELD exists; or FIELD absent. Texts have quotes. What is not there is equal to
nothing, and neither less nor greater.

It is assumed that the condition changes once between the two ends: from holding to failing, or
the other way round. Where both ends say the same, it finds nothing and says so; `annals why ID
FIELD` lists every change. The views that are looked at are about log2 of the object's events in
between.

Examples:
  annals bisect --id 1a2b3c4d --test '/status==\"failed\"'
  annals bisect --id 1a2b3c4d --test 'patchsets/3 absent' --from 12 --to 900
  annals bisect --id 1a2b3c4d -- jq -e '.frames | length < 40'")]
pub(crate) struct Bisect {
    /// The object
    #[arg(long, value_name = "ID")]
    pub(crate) id: String,
    /// The condition, as a comparison
    #[arg(long, value_name = "CONDITION", conflicts_with = "command")]
    pub(crate) test: Option<Condition>,
    /// Where it begins: a position, a time, an event or a commit; otherwise the object's first event
    #[arg(long, value_name = "POSITION|TIME|EVENT|COMMIT", value_parser = moment)]
    pub(crate) from: Option<AtName>,
    /// Where it ends; otherwise now
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
Two runs, tasks, intents or sessions, of the same kind or not: what was asked, the tool calls in
their order, the files, what was checked and decided, tokens and recorded cost, and where they
part. Two calls are the same where their lines are, as `annals history` has them without their
end; paths in a run's working directory count relative to it. Long stretches of calls that are the
same are cut; -v shows all.

Examples:
  annals compare 1a2b3c4d 5e6f7a8b
  annals compare 1a2b3c4d 5e6f7a8b --json | jq .calls_part_at")]
pub(crate) struct Compare {
    /// The one
    #[arg(value_name = "A")]
    pub(crate) a: String,
    /// The other one
    #[arg(value_name = "B")]
    pub(crate) b: String,
    #[command(flatten)]
    pub(crate) floor: Floor,
}
