//! A revision as the object of git-internal 0.6 that it is together with its events.
//!
//! Fields that have no place there stay under their own names, so that the reader of objects counts them as lost.

use annals_domain::{Pairs, Timestamp};
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use uuid::Uuid;

use super::{Course, Revisions};
use crate::git_internal::fields::{FieldError, Read};

/// What all revisions have.
#[derive(Deserialize)]
struct Head {
    object_id: Uuid,
    object_type: String,
    created_at: Timestamp,
}

fn wrong(place: &str, error: serde_json::Error) -> FieldError {
    FieldError {
        place: place.to_owned(),
        reason: error.to_string(),
    }
}

fn raw(place: &str, json: String) -> Read<Box<RawValue>> {
    RawValue::from_string(json).map_err(|error| wrong(place, error))
}

/// An object under construction: names and JSON.
struct Object {
    fields: Vec<(String, Box<RawValue>)>,
}

impl Revisions {
    /// The JSON of the object that a revision is by now.
    pub(in crate::git_internal) fn fold(&self, text: &str) -> Read<String> {
        let of_all = |error| wrong("the object", error);
        let head: Head = serde_json::from_str(text).map_err(of_all)?;
        let fields = serde_json::from_str::<Pairs<Box<RawValue>>>(text);
        let Pairs(fields) = fields.map_err(of_all)?;
        let mut object = Object { fields };
        let id = head.object_id;
        let none = Course::default();
        let course = self.courses.get(&id).unwrap_or(&none);
        object.rename("version", "header_version");
        object.set("schema_version", &1_u8)?;
        object.set("updated_at", &course.last.max(Some(head.created_at)))?;
        match head.object_type.as_str() {
            "intent" => self.intent(&mut object, &head, course)?,
            "plan" => self.plan(&mut object, &head)?,
            "task" => self.task(&mut object, &head, course)?,
            "run" => self.run(&mut object, &head, course)?,
            "patch_set" => self.patch_set(&mut object, &head)?,
            "provenance" => {
                let run: Option<Uuid> = object.value("run_id")?;
                if let Some(tokens) = run.and_then(|run| self.usages.get(&run)) {
                    object.push("token_usage", raw("token_usage", tokens.clone())?);
                }
            }
            "context_frame" => frame(&mut object, &head)?,
            _ => {}
        }
        object.json()
    }

    fn intent(&self, object: &mut Object, head: &Head, course: &Course) -> Read<()> {
        object.first_of("parents", "parent")?;
        if let Some(spec) = object.take("spec").filter(|spec| spec.get() != "null") {
            let text = match serde_json::from_str::<String>(spec.get()) {
                Ok(text) => text,
                Err(_) => spec.get().to_owned(),
            };
            object.set("content", &text)?;
        }
        if let Some((_, commit)) = &course.commit {
            object.set("commit", commit)?;
        }
        if let Some((_, plan)) = self.plans.get(&head.object_id) {
            object.set("plan", plan)?;
        }
        object.set("statuses", &statuses("draft", head.created_at, course))
    }

    fn plan(&self, object: &mut Object, head: &Head) -> Read<()> {
        object.first_of("parents", "previous")?;
        let intent: Option<Uuid> = object.value("intent")?;
        let named = intent.and_then(|intent| self.plans.get(&intent).filter(|_| self.has(intent)));
        if named.is_some_and(|(_, plan)| *plan == head.object_id) {
            // The intent names it.
            object.take("intent");
        }
        let steps: Vec<Pairs<Box<RawValue>>> = object.value("steps")?.unwrap_or_default();
        let mut folded = Vec::with_capacity(steps.len());
        for Pairs(fields) in steps {
            let mut step = Object { fields };
            let id: Option<Uuid> = step.value("step_id")?;
            let none = Course::default();
            let course = id.and_then(|id| self.steps.get(&(head.object_id, id)));
            let course = course.unwrap_or(&none);
            if let Some((_, outputs)) = &course.outputs {
                step.push("outputs", outputs.clone());
            }
            let origin = || id.and_then(|id| self.tasks.get(&id).copied());
            if let Some(task) = course.task.or_else(origin) {
                step.set("task", &task)?;
            }
            step.set("statuses", &statuses("pending", head.created_at, course))?;
            folded.push(raw("steps", step.json()?)?);
        }
        object.set("steps", &folded)
    }

    fn task(&self, object: &mut Object, head: &Head, course: &Course) -> Read<()> {
        let origin: Option<Uuid> = object.value("origin_step_id")?;
        if origin.is_some_and(|step| self.plan_steps.contains(&step)) {
            // The step names it.
            object.take("origin_step_id");
        }
        if let Some(runs) = self.runs.get(&head.object_id) {
            object.set("runs", &runs.values().collect::<Vec<_>>())?;
        }
        object.set("status", course.status().unwrap_or("draft"))
    }

    fn run(&self, object: &mut Object, head: &Head, course: &Course) -> Read<()> {
        if let Some(patch_sets) = self.patch_sets.get(&head.object_id) {
            object.set("patchsets", &patch_sets.values().collect::<Vec<_>>())?;
        }
        if let Some((_, metrics)) = &course.metrics {
            object.push("metrics", metrics.clone());
        }
        if let Some((_, error)) = &course.error {
            object.set("error", error)?;
        }
        object.set("status", course.status().unwrap_or("created"))
    }

    fn patch_set(&self, object: &mut Object, head: &Head) -> Read<()> {
        let run: Option<Uuid> = object.value("run")?;
        if run.is_some_and(|run| self.has(run)) {
            // The run lists them in that order.
            object.take("sequence");
        }
        let status = match self.applied.contains(&head.object_id) {
            true => "applied",
            false => "proposed",
        };
        object.set("apply_status", status)
    }
}

/// A frame is a pipeline with nothing but that frame.
fn frame(object: &mut Object, head: &Head) -> Read<()> {
    let mut frame = Object { fields: Vec::new() };
    frame.set("frame_id", &0_u8)?;
    frame.set("created_at", &head.created_at)?;
    for name in ["kind", "summary", "data", "token_estimate"] {
        if let Some(value) = object.take(name) {
            frame.push(name, value);
        }
    }
    object.take("object_type");
    object.set("object_type", "context_pipeline")?;
    let frames = [raw("frames", frame.json()?)?];
    object.set("frames", &frames)?;
    object.set("next_frame_id", &1_u8)?;
    object.set("max_frames", &0_u8)
}

/// A status of a history.
#[derive(serde::Serialize)]
struct Entry<'a> {
    status: &'a str,
    changed_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

fn statuses<'a>(first: &'a str, at: Timestamp, course: &'a Course) -> Vec<Entry<'a>> {
    let first = Entry {
        status: first,
        changed_at: at,
        reason: None,
    };
    let steps = course.steps.iter().map(|step| Entry {
        status: &step.status,
        changed_at: step.at,
        reason: step.reason.as_deref(),
    });
    let mut all = vec![first];
    for step in steps {
        // An event may say what the creation says, or what another one said.
        if all.last().is_none_or(|last| last.status != step.status) {
            all.push(step);
        }
    }
    all
}

impl Course {
    fn status(&self) -> Option<&str> {
        self.steps.last().map(|step| step.status.as_str())
    }
}

impl Object {
    fn push(&mut self, name: &str, value: Box<RawValue>) {
        self.fields.push((name.to_owned(), value));
    }

    fn take(&mut self, name: &str) -> Option<Box<RawValue>> {
        let at = self.fields.iter().position(|(field, _)| field == name)?;
        Some(self.fields.remove(at).1)
    }

    fn rename(&mut self, name: &str, to: &str) {
        if let Some((field, _)) = self.fields.iter_mut().find(|(field, _)| field == name) {
            to.clone_into(field);
        }
    }

    fn set(&mut self, name: &str, value: &(impl serde::Serialize + ?Sized)) -> Read<()> {
        let value = to_raw_value(value).map_err(|error| wrong(name, error))?;
        match self.fields.iter_mut().find(|(field, _)| field == name) {
            Some((_, known)) => *known = value,
            None => self.fields.push((name.to_owned(), value)),
        }
        Ok(())
    }

    fn value<T: serde::de::DeserializeOwned>(&self, name: &str) -> Read<Option<T>> {
        let found = self.fields.iter().find(|(field, _)| field == name);
        found.map_or(Ok(None), |(_, value)| {
            serde_json::from_str(value.get()).map_err(|error| wrong(name, error))
        })
    }

    /// The first of a list in a field of its own; the list stays where there are more.
    fn first_of(&mut self, list: &str, name: &str) -> Read<()> {
        let all: Vec<Uuid> = self.value(list)?.unwrap_or_default();
        if let Some(first) = all.first() {
            self.set(name, first)?;
        }
        if all.len() < 2 {
            self.take(list);
        }
        Ok(())
    }

    fn json(&self) -> Read<String> {
        let mut json = String::from("{");
        for (name, value) in &self.fields {
            if json.len() > 1 {
                json.push(',');
            }
            let key = serde_json::to_string(name).map_err(|error| wrong(name, error))?;
            json.push_str(&key);
            json.push(':');
            json.push_str(value.get());
        }
        json.push('}');
        Ok(json)
    }
}
