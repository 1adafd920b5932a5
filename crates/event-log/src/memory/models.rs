//! The read models of the in-memory log.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;

use bytes::Bytes;

use crate::store_support::{check_checkpoint, check_model_name, clamp_limit};
use crate::{CommitError, Epoch, ModelCheckpoint, Position, Row, Rows, SUBSCRIPTIONS};

/// All read models, by name.
#[derive(Debug, Default)]
pub(super) struct Models {
    models: HashMap<String, Model>,
    epoch: Epoch,
}

#[derive(Debug, Default)]
struct Model {
    checkpoint: Position,
    rows: BTreeMap<Bytes, Bytes>,
}

impl Models {
    /// This event says that content was removed.
    pub(super) fn redacted(&mut self, said: Position) {
        self.models.retain(|name, _| name == SUBSCRIPTIONS);
        self.epoch = Epoch(said.0);
    }

    pub(super) fn checkpoint(&self, model: &str) -> ModelCheckpoint {
        let model = self.models.get(model);
        ModelCheckpoint {
            position: model.map_or(Position::START, |model| model.checkpoint),
            epoch: self.epoch,
        }
    }

    pub(super) fn commit(
        &mut self,
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        checkpoint: Position,
        watermark: Position,
    ) -> Result<(), CommitError> {
        check_model_name(model)?;
        check_checkpoint(model, expected, self.checkpoint(model))?;
        if checkpoint > watermark {
            return Err(CommitError::BeyondWatermark {
                checkpoint,
                watermark,
            });
        }
        let model = self.models.entry(model.to_owned()).or_default();
        model.checkpoint = checkpoint;
        for (key, value) in rows {
            match value {
                Some(value) => model.rows.insert(key, value),
                None => model.rows.remove(&key),
            };
        }
        Ok(())
    }

    pub(super) fn get(&self, model: &str, key: &[u8]) -> Option<Bytes> {
        self.models.get(model)?.rows.get(key).cloned()
    }

    pub(super) fn scan(
        &self,
        model: &str,
        prefix: &[u8],
        after: Option<&[u8]>,
        limit: usize,
    ) -> Vec<Row> {
        let Some(model) = self.models.get(model) else {
            return Vec::new();
        };
        let start = match after {
            Some(after) if after >= prefix => Bound::Excluded(after),
            _ => Bound::Included(prefix),
        };
        model
            .rows
            .range::<[u8], _>((start, Bound::Unbounded))
            .take_while(|(key, _)| key.starts_with(prefix))
            .take(clamp_limit(limit))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    pub(super) fn scan_back(
        &self,
        model: &str,
        prefix: &[u8],
        before: Option<&[u8]>,
        limit: usize,
    ) -> Vec<Row> {
        let Some(model) = self.models.get(model) else {
            return Vec::new();
        };
        let end = before.map_or(Bound::Unbounded, Bound::Excluded);
        model
            .rows
            .range::<[u8], _>((Bound::Unbounded, end))
            .rev()
            .skip_while(|(key, _)| !key.starts_with(prefix) && ***key > *prefix)
            .take_while(|(key, _)| key.starts_with(prefix))
            .take(clamp_limit(limit))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect()
    }

    pub(super) fn drop_model(&mut self, model: &str) -> Result<(), CommitError> {
        check_model_name(model)?;
        self.models.remove(model);
        Ok(())
    }
}
