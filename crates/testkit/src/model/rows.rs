//! The model's read models: rows in a map, and a checkpoint.

use annals_event_log::store_support::{MODEL_NAME_BYTES, PAGE_LIMIT};
use annals_event_log::{ModelCheckpoint, Position, Row, Rows};
use bytes::Bytes;

use super::log::ModelLog;
use super::verdict::{Reason, Verdict};

fn is_name(model: &str) -> bool {
    let allowed = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '.');
    (1..=MODEL_NAME_BYTES).contains(&model.len()) && model.chars().all(allowed)
}

impl ModelLog {
    /// How far a read model has come, and the log's epoch.
    pub fn checkpoint(&self, model: &str) -> ModelCheckpoint {
        let position = self.rows.get(model).map(|it| it.checkpoint);
        ModelCheckpoint {
            position: position.unwrap_or(Position::START),
            epoch: self.epoch,
        }
    }

    /// What is right to answer to a commit.
    pub fn judge_commit(
        &self,
        model: &str,
        expected: ModelCheckpoint,
        checkpoint: Position,
    ) -> Verdict<()> {
        let mut refuse = Vec::new();
        if !is_name(model) {
            refuse.push(Reason::InvalidName);
        }
        let actual = self.checkpoint(model);
        if actual.epoch != expected.epoch {
            let (expected, actual) = (expected.epoch, actual.epoch);
            refuse.push(Reason::Epoch { expected, actual });
        }
        if actual.position != expected.position {
            let (expected, actual) = (expected.position, actual.position);
            refuse.push(Reason::Checkpoint { expected, actual });
        }
        if checkpoint > self.watermark() {
            refuse.push(Reason::BeyondWatermark);
        }
        Verdict::new((), refuse)
    }

    /// Takes a commit in that was accepted.
    pub fn take_commit(&mut self, model: &str, rows: &Rows, checkpoint: Position) {
        let model = self.rows.entry(model.to_owned()).or_default();
        model.checkpoint = checkpoint;
        for (key, value) in rows {
            match value {
                Some(value) => model.rows.insert(key.clone(), value.clone()),
                None => model.rows.remove(key),
            };
        }
    }

    /// What is right to answer to the removal of a read model.
    pub fn judge_drop(&self, model: &str) -> Verdict<()> {
        let refuse = match is_name(model) {
            true => Vec::new(),
            false => vec![Reason::InvalidName],
        };
        Verdict::new((), refuse)
    }

    /// Takes the removal of a read model in.
    pub fn take_drop(&mut self, model: &str) {
        self.rows.remove(model);
    }

    /// One row.
    pub fn row(&self, model: &str, key: &[u8]) -> Option<Bytes> {
        self.rows.get(model)?.rows.get(key).cloned()
    }

    /// Rows whose keys begin with `prefix` and come after `after`.
    pub fn scan(&self, model: &str, prefix: &[u8], after: Option<&[u8]>, limit: usize) -> Vec<Row> {
        let rows = self.rows.get(model).into_iter().flat_map(|it| &it.rows);
        rows.filter(|(key, _)| key.starts_with(prefix))
            .filter(|(key, _)| after.is_none_or(|after| &key[..] > after))
            .map(|(key, value)| (key.clone(), value.clone()))
            .take(limit.clamp(1, PAGE_LIMIT))
            .collect()
    }

    /// The same from the last to the first, of keys that come before `before`.
    pub fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Vec<Row> {
        let rows = self.rows.get(model).map(|it| it.rows.iter().rev());
        rows.into_iter()
            .flatten()
            .filter(|(key, _)| key.starts_with(prefix))
            .filter(|(key, _)| before.is_none_or(|before| &key[..] < before))
            .map(|(key, value)| (key.clone(), value.clone()))
            .take(limit.clamp(1, PAGE_LIMIT))
            .collect()
    }
}
