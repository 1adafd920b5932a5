//! Events about revisions, read for what is wrong with them: what they say is folded into their objects.

use std::cell::RefCell;

use annals_domain::Timestamp;
use serde::de::IgnoredAny;
use uuid::Uuid;

use crate::git_internal::fields::{Fields, Read};
use crate::git_internal::header::actor;
use crate::report;

/// The object that an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::git_internal) struct About {
    /// The field that names it.
    pub(in crate::git_internal) field: &'static str,
    /// Its id.
    pub(in crate::git_internal) id: Uuid,
}

/// Reads an event, and tells which object it is about.
pub(in crate::git_internal) fn about(text: &str, tally: &RefCell<report::Fields>) -> Read<About> {
    let mut fields = Fields::of(text, tally)?;
    let of = &mut fields;
    of.required::<Uuid>(&["object_id"])?;
    let kind: String = of.required(&["object_type"])?;
    if of.required::<u8>(&["version"])? == 0 {
        return Err(of.wrong("version", "it must not be 0"));
    }
    of.required::<Timestamp>(&["created_at"])?;
    if of.object(&["created_by"], actor)?.is_none() {
        return Err(of.wrong("created_by", "it is missing"));
    }
    let about = match kind.as_str() {
        "intent_event" => {
            word(of, "kind")?;
            texts(of, &["reason", "result_commit"])?;
            target(of, "intent_id")?
        }
        "task_event" => {
            word(of, "kind")?;
            texts(of, &["reason"])?;
            target(of, "task_id")?
        }
        "run_event" => {
            word(of, "kind")?;
            texts(of, &["reason", "error"])?;
            of.json(&["metrics"])?;
            target(of, "run_id")?
        }
        "plan_step_event" => {
            word(of, "status")?;
            of.required::<Uuid>(&["step_id"])?;
            texts(of, &["reason"])?;
            of.json(&["outputs"])?;
            of.optional::<Uuid>(&["spawned_task_id"])?;
            target(of, "plan_id")?
        }
        _ => {
            for name in ["input_tokens", "output_tokens", "total_tokens"] {
                of.required::<u64>(&[name])?;
            }
            of.optional::<IgnoredAny>(&["cost_usd"])?;
            target(of, "run_id")?
        }
    };
    fields.end();
    Ok(about)
}

fn word(fields: &mut Fields<'_>, name: &'static str) -> Read<()> {
    fields.required::<String>(&[name]).map(drop)
}

fn texts(fields: &mut Fields<'_>, names: &[&str]) -> Read<()> {
    names
        .iter()
        .try_for_each(|name| fields.optional::<String>(&[name]).map(drop))
}

fn target(fields: &mut Fields<'_>, field: &'static str) -> Read<About> {
    let id = fields.required(&[field])?;
    Ok(About { field, id })
}
