//! Intents, tasks and reviews as the text of their files (docs/spec/forge.md), in the
//! words of Forge. The keys are in the order in which docs/spec/forge.md lists
//! them, those that are not known after them; what is absent or empty is left out.

use super::data::{Data, Extra, Scalar};
use super::emit;
use super::intent::{Clarification, ForgeIntent};
use super::review::ForgeReview;
use super::task::ForgeTask;
use super::words::Word;

/// The text of an intent's file.
pub fn intent(intent: &ForgeIntent) -> String {
    let clarifications = intent.clarifications.iter().map(clarification).collect();
    let mut map = Map::default();
    map.text("title", &intent.title);
    map.text("body", &intent.body);
    map.word("source", Some(intent.source));
    if let Some(work_type) = &intent.work_type {
        map.text("type", work_type.as_str());
    }
    map.word("risk", intent.risk);
    map.word("status", Some(intent.status));
    map.optional("parent", intent.parent.as_ref());
    if let Some(created_at) = &intent.created_at {
        map.put("created_at", Data::Scalar(time(created_at)));
    }
    map.texts("labels", &intent.labels);
    map.list("clarifications", clarifications);
    map.texts("depends_on", &intent.depends_on);
    emit::document(&map.with(&intent.extra))
}

/// A time, which is one for readers of YAML 1.1, too, if it begins with a date.
fn time(spelled: &str) -> Scalar {
    let begins = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    let date = spelled.bytes().take(10).enumerate();
    match spelled.len() >= 10 && date.into_iter().all(begins) {
        true => Scalar::bare(spelled.to_owned()),
        false => Scalar::Text(spelled.to_owned()),
    }
}

fn clarification(clarification: &Clarification) -> Data {
    let mut map = Map::default();
    map.text("question", &clarification.question);
    map.optional("answer", clarification.answer.as_ref());
    map.with(&clarification.extra)
}

/// The text of the file of an intent's tasks.
pub fn tasks<'a>(tasks: impl IntoIterator<Item = &'a ForgeTask>) -> String {
    emit::document(&Data::List(tasks.into_iter().map(task).collect()))
}

fn task(task: &ForgeTask) -> Data {
    let mut map = Map::default();
    map.text("id", &task.id);
    map.text("title", &task.title);
    map.text("intent_id", &task.intent_id);
    map.word("status", Some(task.status));
    map.word("complexity", task.complexity);
    map.optional("plan", task.plan.as_ref());
    map.texts("relevant_files", &task.relevant_files);
    map.texts("implementation_steps", &task.implementation_steps);
    map.optional("context", task.context.as_ref());
    map.texts("depends_on", &task.depends_on);
    map.with(&task.extra)
}

/// The text of a review's file.
pub fn review(review: &ForgeReview) -> String {
    let mut map = Map::default();
    map.text("task_id", &review.task_id);
    map.word("verdict", Some(review.verdict));
    map.texts("issues", &review.issues);
    map.texts("suggestions", &review.suggestions);
    emit::document(&map.with(&review.extra))
}

/// A mapping that is being put together.
#[derive(Default)]
struct Map(Vec<(Scalar, Data)>);

impl Map {
    fn put(&mut self, key: &str, value: Data) {
        self.0.push((Scalar::Text(key.to_owned()), value));
    }

    fn text(&mut self, key: &str, text: &str) {
        self.put(key, Data::text(text));
    }

    fn optional(&mut self, key: &str, text: Option<&String>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    fn word<T: Word>(&mut self, key: &str, word: Option<T>) {
        if let Some(word) = word {
            self.text(key, word.word());
        }
    }

    fn list(&mut self, key: &str, items: Vec<Data>) {
        if !items.is_empty() {
            self.put(key, Data::List(items));
        }
    }

    fn texts(&mut self, key: &str, texts: &[String]) {
        self.list(key, texts.iter().map(Data::text).collect());
    }

    /// Adds the keys that are not known. A key that is there already stays what it
    /// is: a file with a duplicate key could not be read.
    fn with(mut self, extra: &Extra) -> Data {
        let known = self.0.len();
        for (key, value) in &extra.0 {
            let mut names = self.0.iter().take(known).map(|(name, _)| name.as_str());
            if !names.any(|name| name == key.as_str()) {
                self.0.push((key.clone(), value.clone()));
            }
        }
        Data::Map(self.0)
    }
}

#[cfg(test)]
mod tests;
