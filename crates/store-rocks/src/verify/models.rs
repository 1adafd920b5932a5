//! Whether the rows of the read models can be what they seem. Whether they are right is for
//! those to say who know what they mean.

use annals_event_log::store_support::check_model_name;
use annals_event_log::{Position, ReadError};

use super::report::Fault;
use super::verifier::Verifier;
use crate::{columns, keys};

/// The rows of one model as they are read.
struct Reading {
    name: String,
    checkpoint: Option<Position>,
}

impl Verifier<'_> {
    /// Reads the rows and checkpoints of all read models.
    pub(super) fn models(&mut self) -> Result<(), ReadError> {
        let mut iterator = self.view.db.iterate_once(self.view.columns.models);
        iterator.seek_to_first();
        let mut reading: Option<Reading> = None;
        while let Some((key, value)) = iterator.item() {
            match keys::split_model(key) {
                Some((name, kind, rest)) if check_model_name(name).is_ok() => {
                    if reading.as_ref().is_none_or(|reading| reading.name != name) {
                        self.end_model(reading.take())?;
                    }
                    let reading = reading.get_or_insert_with(|| Reading {
                        name: name.to_owned(),
                        checkpoint: None,
                    });
                    if kind != keys::MODEL_ROW {
                        let number = keys::number(value).filter(|_| rest.is_empty());
                        reading.checkpoint = number.map(Position);
                    }
                }
                _ => {
                    let (name, entry) = (columns::MODELS, hex::encode(key));
                    self.find(None, None, Fault::Surplus { name, entry });
                }
            }
            iterator.next();
        }
        if let Err(error) = self.view.db.check(&iterator) {
            return self.unreadable(error);
        }
        self.end_model(reading)
    }

    fn end_model(&mut self, read: Option<Reading>) -> Result<(), ReadError> {
        let Some(Reading { name, checkpoint }) = read else {
            return Ok(());
        };
        let model = name;
        match checkpoint {
            None => {
                let reason = "it has no checkpoint".to_owned();
                self.find(None, None, Fault::Model { model, reason });
            }
            Some(checkpoint) if checkpoint > self.view.watermark => {
                // Rows may have been folded meanwhile from records that came meanwhile.
                let last = match self.view.db.last_position() {
                    Err(ReadError::Corrupt { .. }) => self.view.watermark,
                    last => last?,
                };
                if checkpoint > last {
                    let fault = Fault::LostEnd {
                        model,
                        checkpoint,
                        last,
                    };
                    self.find(None, None, fault);
                }
            }
            Some(_) => {}
        }
        Ok(())
    }
}
