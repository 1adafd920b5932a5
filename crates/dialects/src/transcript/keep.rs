//! What becomes a context snapshot: the text of recordings, each part once, as a snapshot of one item, and for
//! each recording one that says which parts it has; and the files that a recording says the program had copies of.

use annals::Request;
use annals_domain::metadata::SetMetadata;
use annals_domain::snapshot::{
    ContextItemKind, FinalizeSnapshot, NewItem, OpenSnapshot, SelectionStrategy,
};
use annals_domain::{Command, Ordered, Payload, SnapshotId};
use uuid::Uuid;

use super::batch::{ImportBatch, Load};
use super::importer::{Done, Importer};
use super::item::{Backup, Backups};
use super::record::{Appended, Recorded};
use super::remark::Remark;
use super::texts;
use crate::import::error::ImportError;
use crate::import::raw::{RawFile, RawPart};
use crate::raw::{Contents, EXTERNAL_ID};

/// The most characters of a file's path, which systems limit to about as many bytes.
const PATH: usize = 4_096;

impl Importer<'_> {
    /// Keeps a part of a recording's text, unless the log has it.
    pub(crate) async fn keep_part(&mut self, part: RawPart) -> Done {
        let ids = self.ids.raw_part(part.digest());
        if self.is_known(ids.batch).await? {
            return Ok(());
        }
        let path = format!("sha256:{}", part.digest());
        let item = item(path, part.into_text().into_bytes());
        let requests = self.snapshot(ids.snapshot, item);
        let kept = self.keep(ids.batch, requests).await?;
        self.lacks_part |= kept == Recorded::Not;
        Ok(())
    }

    /// Keeps what is to be known of a recording whose parts were kept.
    pub(crate) async fn keep_recording(&mut self, file: RawFile) -> Done {
        let ids = self.ids.raw_file(&file.name, &file.sha256);
        if self.lacks_part || self.is_known(ids.batch).await? {
            return Ok(());
        }
        let parts = file.parts.iter();
        let contents = Contents {
            agent: self.agent.key.to_owned(),
            file: file.name.clone(),
            bytes: file.bytes,
            sha256: file.sha256.clone(),
            parts: parts
                .map(|digest| self.ids.raw_part(*digest).snapshot)
                .collect(),
            changed: file.changed,
        };
        // It has no map with other keys than texts: it can be written.
        let json = serde_json::to_vec(&contents).unwrap_or_default();
        let mut requests = self.snapshot(ids.snapshot, item(file.name, json));
        let name = SetMetadata::new(ids.snapshot.0)
            .with_external_ids(Ordered(vec![(EXTERNAL_ID.to_owned(), file.sha256)]));
        requests.push(Request::new(self.agent.program(), name));
        if self.keep(ids.batch, requests).await? == Recorded::Now(None) {
            self.report.kept_raw += 1;
        }
        Ok(())
    }

    /// Records which files the program had copies of, each as an item. The snapshot stays open: the copies are
    /// not in the recording.
    pub(super) async fn backups(&mut self, backups: Backups, line: u64) -> Done {
        let ids = self.ids.backups(&backups.name);
        let item = |file: Backup| {
            let path = texts::beginning(&file.path, PATH);
            NewItem::new(ContextItemKind::File, path).with_preview(file.copy)
        };
        let open = OpenSnapshot::new(SelectionStrategy::Heuristic)
            .with_id(ids.snapshot)
            .with_items(backups.files.into_iter().map(item).collect::<Vec<_>>());
        let mut commands: Vec<Command> = vec![open.into()];
        if let Some(prompt) = backups.prompt {
            let prompt = vec![(self.agent.external("line"), prompt)];
            let name = SetMetadata::new(ids.snapshot.0).with_external_ids(Ordered(prompt));
            commands.push(name.into());
        }
        let program = self.agent.program();
        let request = |command: Command| {
            let request = Request::new(program.clone(), command);
            match backups.at {
                Some(at) => request.at(at),
                None => request,
            }
        };
        let requests = commands.into_iter().map(request).collect();
        let load = Load {
            fields: backups.fields,
            ..Load::line()
        };
        self.once(ImportBatch::new(
            ids.batch,
            backups.name,
            requests,
            load,
            line,
        ))
        .await
    }

    /// Says that a file is a database, whose text is not kept.
    pub(crate) fn database_not_kept(&mut self) {
        self.remarks.add(Remark::DatabaseNotKept, &self.file, 1);
    }

    fn snapshot(&self, snapshot: SnapshotId, item: NewItem) -> Vec<Request> {
        let program = self.agent.program();
        let open = OpenSnapshot::new(SelectionStrategy::Explicit)
            .with_id(snapshot)
            .with_items(vec![item]);
        let close = FinalizeSnapshot::new(snapshot);
        vec![
            Request::new(program.clone(), open),
            Request::new(program, close),
        ]
    }

    async fn keep(&mut self, key: Uuid, requests: Vec<Request>) -> Result<Recorded, ImportError> {
        match self.append(key, requests, 0).await? {
            Appended::Now(decided) => {
                self.tally(&decided, Load::default(), 0);
                Ok(Recorded::Now(None))
            }
            Appended::Before => Ok(Recorded::Before),
            Appended::Not(error) => {
                let reason = format!("its text is not kept: {error}");
                self.report.add_broken(&self.file, 0, reason);
                Ok(Recorded::Not)
            }
        }
    }
}

fn item(path: String, content: Vec<u8>) -> NewItem {
    NewItem::new(ContextItemKind::File, path).with_content(Payload(content))
}
