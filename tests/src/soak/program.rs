//! Calls of the real program, and what its answers say.

use std::path::Path;

use serde_json::Value;
use uuid::Uuid;

use super::batch::Batch;
use super::process::{Ended, Process, Programs};
use super::said::{Fate, History, Said};
use super::workload::Program;

/// A call that is under way.
pub struct Call {
    /// The process.
    pub process: Process,
    program: Program,
    /// What it is about: a copy's name, or an event's position.
    copy: Option<(String, u64)>,
    position: Option<u64>,
}

/// Starts the program; `None` where there is nothing for it to do yet.
pub fn start(
    programs: &Programs,
    program: &Program,
    home: &Path,
    history: &mut History,
) -> Option<Call> {
    let log = home.join("log");
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let (mut copy, mut position, mut at) = (None, None, log);
    let mut input = String::new();
    let arguments = match program {
        Program::Apply(batches) => {
            for batch in batches {
                history.add(&Said::Sent(*batch));
                input.push_str(&batch.line());
                input.push('\n');
            }
            words("apply -")
        }
        Program::Log => words("log --json"),
        Program::List => words("list intents --limit 50 --json"),
        Program::Show => {
            let batch = acknowledged(history).last()?.0;
            vec!["show".into(), batch.id_of(0).to_string(), "--json".into()]
        }
        Program::Redact => {
            let of_one = |(batch, _): &(Batch, u64)| batch.count() == 1;
            let (batch, event) = acknowledged(history)
                .into_iter()
                .find(|found| of_one(found) && !history.removed.contains_key(&found.1))?;
            let text = batch.text(0);
            history.add(&Said::Redacting {
                position: event,
                text,
                by: None,
            });
            position = Some(event);
            let mut arguments = words("redact POSITION --actor agent:soak --reason gone");
            arguments[1] = event.to_string();
            arguments
        }
        Program::Backup => {
            let to = format!("copy-p{}", history.copies.len());
            history.add(&Said::Copying { to: to.clone() });
            let arguments = vec!["backup".into(), home.join(&to).display().to_string()];
            copy = Some((to, history.acknowledged()));
            arguments
        }
        Program::Restore => {
            let done = |(name, least): (&String, &Option<u64>)| Some((name.clone(), (*least)?));
            let (from, least) = history.copies.iter().filter_map(done).next_back()?;
            let to = format!("copy-p{}", history.copies.len());
            history.add(&Said::Copying { to: to.clone() });
            at = home.join(&to);
            copy = Some((to, least));
            vec!["restore".into(), home.join(from).display().to_string()]
        }
        Program::Rebuild => words("rebuild --indexes"),
        Program::Checkpoint => words("checkpoint --json"),
        Program::Doctor => words("doctor --json"),
        Program::Truncate => words("doctor --truncate-tail --json"),
        Program::Collect => words("gc --apply --json"),
        Program::Verify => words("verify --json"),
    };
    let process = Process::annals(programs, &at, &arguments, input);
    let program = program.clone();
    Some(Call {
        process,
        program,
        copy,
        position,
    })
}

/// Batches that were acknowledged, with their last positions, in the log's order.
fn acknowledged(history: &History) -> Vec<(Batch, u64)> {
    let known = history
        .batches
        .iter()
        .filter_map(|(batch, fate)| match fate {
            Fate::Acknowledged(last) => Some((*batch, *last)),
            Fate::Unknown | Fate::Refused => None,
        });
    let mut known: Vec<_> = known.collect();
    known.sort_unstable_by_key(|(_, last)| *last);
    known
}

/// What an ended call said: its program, its copy and the event it was about.
pub struct About {
    program: Program,
    copy: Option<(String, u64)>,
    position: Option<u64>,
}

impl Call {
    /// The process, and what is needed to understand what it said.
    pub fn split(self) -> (Process, About) {
        let about = About {
            program: self.program,
            copy: self.copy,
            position: self.position,
        };
        (self.process, about)
    }
}

impl About {
    /// Adds what the program said.
    pub fn understand(&self, ended: &Ended, history: &mut History) {
        let values = ended
            .lines
            .iter()
            .filter_map(|line| serde_json::from_str(line).ok());
        let values: Vec<Value> = values.collect();
        match &self.program {
            Program::Apply(batches) => {
                for (batch, answer) in batches.iter().zip(&values) {
                    let position = answer.get("position").and_then(Value::as_u64);
                    if let Some(last) = position.filter(|_| answer["ok"] == true) {
                        let (batch, first) = (*batch, 0);
                        history.add(&Said::Acknowledged { batch, first, last });
                    }
                }
            }
            Program::Log => {
                let created = values
                    .iter()
                    .filter(|line| line["event_type"] == "intent.submitted");
                let streams = created.filter_map(|line| line["stream"].as_str());
                let ids = streams.filter_map(|stream| stream.strip_prefix("intent-"));
                objects(ids, history);
            }
            Program::List => objects(values.iter().filter_map(|row| row["id"].as_str()), history),
            Program::Checkpoint => {
                let shown = values.first().map(|head| (&head["size"], &head["root"]));
                if let Some((Some(size), Some(root))) =
                    shown.map(|(size, root)| (size.as_u64(), root.as_str()))
                {
                    let root = root.to_owned();
                    history.add(&Said::Signed { size, root });
                }
            }
            _ => {}
        }
        if !ended.status.success() {
            return;
        }
        if let Some((to, least)) = &self.copy {
            let (to, least) = (to.clone(), *least);
            history.add(&Said::Copied { to, least });
        }
        if let Some(position) = self.position {
            history.add(&Said::Redacted { position });
            let positions = vec![position];
            history.add(&Said::Purged { positions });
        }
    }
}

fn objects<'a>(ids: impl Iterator<Item = &'a str>, history: &mut History) {
    for id in ids.filter_map(|id| Uuid::parse_str(id).ok()) {
        history.add(&Said::Object(id));
    }
}
