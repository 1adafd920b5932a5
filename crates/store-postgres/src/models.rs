//! Rows of read models, and their checkpoint in the same transaction.

use std::collections::HashMap;

use annals_event_log::store_support::{behind, check_checkpoint, check_model_name, clamp_limit};
use annals_event_log::{CommitError, Epoch, ModelCheckpoint, Position, Row, Rows, SUBSCRIPTIONS};
use bytes::Bytes;
use futures::try_join;

use crate::failure::Failure;
use crate::head::{signed, unsigned};
use crate::lookup;
use crate::outcome::Failed;
use crate::sessions::{Parameters, Session};
use crate::shared::Shared;

/// How far a model has come, and the log's epoch.
pub(crate) async fn checkpoint(
    shared: &Shared,
    session: &Session,
    model: &str,
) -> Result<ModelCheckpoint, Failed> {
    // Of a name that is none there is no model, and the epoch is that of the log.
    let model = if check_model_name(model).is_ok() {
        model
    } else {
        ""
    };
    let rows = lookup::rows(
        shared,
        session,
        &shared.sql.checkpoint,
        &[&shared.log, &model],
    )
    .await?;
    let row = rows
        .first()
        .ok_or_else(|| Failure::damaged("the log has no epoch"))?;
    let position: Option<i64> = row.try_get(1)?;
    Ok(ModelCheckpoint {
        position: Position(unsigned(position.unwrap_or(0))?),
        epoch: Epoch(unsigned(row.try_get(0)?)?),
    })
}

/// What is to be committed.
#[derive(Debug, Clone)]
pub(crate) struct Commit {
    pub(crate) model: String,
    pub(crate) expected: ModelCheckpoint,
    /// The last change of each key.
    pub(crate) rows: HashMap<Bytes, Option<Bytes>>,
    pub(crate) position: Position,
}

impl Commit {
    pub(crate) fn new(
        model: &str,
        expected: ModelCheckpoint,
        rows: Rows,
        position: Position,
    ) -> Commit {
        Commit {
            model: model.to_owned(),
            expected,
            rows: rows.into_iter().collect(),
            position,
        }
    }
}

/// Commits rows and checkpoint, or refuses them.
pub(crate) async fn commit(
    shared: &Shared,
    session: &Session,
    commit: &Commit,
) -> Result<Result<(), CommitError>, Failed> {
    let sql = &shared.sql;
    let (share, begin, lock, head, set, set_rows, remove) = try_join!(
        session.prepare_cached(&sql.share_epoch),
        session.prepare_cached(&sql.begin_model),
        session.prepare_cached(&sql.lock_model),
        session.prepare_cached(&sql.head_position),
        session.prepare_cached(&sql.set_model),
        session.prepare_cached(&sql.set_rows),
        session.prepare_cached(&sql.remove_rows),
    )?;
    let (log, model) = (&shared.log, &commit.model);
    let (of_log, of_model): (Parameters<'_>, Parameters<'_>) = (&[log], &[log, model]);
    let of_head: Parameters<'_> = &[log, &shared.log_id];
    let seen = shared.watermark.get();
    let ((), epoch, _, at, head) = try_join!(
        session.batch_execute(begin_of(model)),
        session.query_opt(&share, of_log),
        session.execute(&begin, of_model),
        session.query_opt(&lock, of_model),
        session.query_opt(&head, of_head),
    )?;
    let watermark = Position(unsigned(shared.demand_there(head)?.try_get(0)?)?);
    let (epoch, at) = (shared.demand_there(epoch)?, shared.demand_there(at)?);
    shared.demand_onward(seen, watermark.0)?;
    shared.reached(watermark.0);
    let actual = ModelCheckpoint {
        position: Position(unsigned(at.try_get(0)?)?),
        epoch: Epoch(unsigned(epoch.try_get(0)?)?),
    };
    if let Err(error) = check(commit, actual, watermark) {
        session.batch_execute("ROLLBACK").await?;
        return Ok(Err(error));
    }
    let changed = commit
        .rows
        .iter()
        .filter_map(|(key, value)| Some((key, value.as_ref()?)));
    let (keys, values): (Vec<&[u8]>, Vec<&[u8]>) =
        changed.map(|(key, value)| (&key[..], &value[..])).unzip();
    let gone = commit.rows.iter().filter(|(_, value)| value.is_none());
    let gone: Vec<&[u8]> = gone.map(|(key, _)| &key[..]).collect();
    let position = signed(commit.position.0);
    let gone: Parameters<'_> = &[log, model, &gone];
    let changed: Parameters<'_> = &[log, model, &keys, &values];
    let reached: Parameters<'_> = &[log, model, &position];
    let warnings = session.warnings();
    try_join!(
        session.execute(&remove, gone),
        session.execute(&set_rows, changed),
        session.execute(&set, reached),
        async {
            session.batch_execute("COMMIT").await?;
            Ok(0)
        },
    )
    .map_err(Failed::at_commit)?;
    if commit.model == SUBSCRIPTIONS {
        session.demand_no_warning(warnings)?;
    }
    Ok(Ok(()))
}

/// Rows need not survive a power cut: the log does, and a model that fell behind catches up. Places of subscribers
/// follow from nothing.
fn begin_of(model: &str) -> &'static str {
    match model == SUBSCRIPTIONS {
        true => "BEGIN ISOLATION LEVEL READ COMMITTED",
        false => "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off",
    }
}

fn check(commit: &Commit, actual: ModelCheckpoint, watermark: Position) -> Result<(), CommitError> {
    check_checkpoint(&commit.model, commit.expected, actual)?;
    if commit.position > watermark {
        return Err(CommitError::BeyondWatermark {
            checkpoint: commit.position,
            watermark,
        });
    }
    Ok(())
}

/// Several rows, in the order of their keys.
pub(crate) async fn get_many(
    shared: &Shared,
    session: &Session,
    model: &str,
    keys: &[Bytes],
) -> Result<Vec<Option<Bytes>>, Failed> {
    let asked: Vec<&[u8]> = keys.iter().map(|key| &key[..]).collect();
    let asked: Parameters<'_> = &[&shared.log, &model, &asked];
    let mut found: HashMap<Bytes, Bytes> = HashMap::new();
    for row in lookup::rows(shared, session, &shared.sql.rows, asked).await? {
        let (key, value) = pair(&row)?;
        found.insert(key, value);
    }
    Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
}

fn pair(row: &tokio_postgres::Row) -> Result<Row, Failed> {
    let key = Bytes::copy_from_slice(row.try_get(0)?);
    Ok((key, Bytes::copy_from_slice(row.try_get(1)?)))
}

/// Which rows a scan is of.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    pub(crate) model: String,
    pub(crate) prefix: Vec<u8>,
    /// The key that it begins behind or, backward, before.
    pub(crate) place: Option<Vec<u8>>,
    pub(crate) limit: usize,
    pub(crate) is_backward: bool,
}

/// Rows in the order of their keys, or from the last to the first.
pub(crate) async fn scan(
    shared: &Shared,
    session: &Session,
    scan: &Scan,
) -> Result<Vec<Row>, Failed> {
    let text = match scan.is_backward {
        false => &shared.sql.scan,
        true => &shared.sql.scan_back,
    };
    let limit = signed(clamp_limit(scan.limit) as u64);
    let end = behind(&scan.prefix);
    let parameters: Parameters<'_> = &[
        &shared.log,
        &scan.model,
        &scan.prefix,
        &end,
        &scan.place,
        &limit,
    ];
    let rows = lookup::rows(shared, session, text, parameters).await?;
    rows.iter().map(pair).collect()
}

/// Removes a model with its rows and checkpoint.
pub(crate) async fn remove(shared: &Shared, session: &Session, model: &str) -> Result<(), Failed> {
    let (models, rows, head) = try_join!(
        session.prepare_cached(&shared.sql.drop_model),
        session.prepare_cached(&shared.sql.drop_rows),
        session.prepare_cached(&shared.sql.head_position),
    )?;
    session
        .batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        .await?;
    let of_log: Parameters<'_> = &[&shared.log, &shared.log_id];
    shared.demand_there(session.query_opt(&head, of_log).await?)?;
    // First the row that a commit holds: rows that it adds are seen by the second statement.
    session.execute(&models, &[&shared.log, &model]).await?;
    session.execute(&rows, &[&shared.log, &model]).await?;
    session
        .batch_execute("COMMIT")
        .await
        .map_err(Failed::at_commit)
}
