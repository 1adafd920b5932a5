//! Opening a log: the server is looked at, the schema brought up to date, the log found or made.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use annals_event_log::tree::Frontier;
use annals_event_log::{IdSecret, Watermark};
use deadpool_postgres::ClientWrapper;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use crate::connect::{Connector, Purpose};
use crate::durability::Durability;
use crate::error::OpenError;
use crate::failure::Failure;
use crate::head::unsigned;
use crate::metrics::Metrics;
use crate::migrate;
use crate::objects::Objects;
use crate::outcome::Failed;
use crate::sessions::{Session, Sessions, within};
use crate::settings::{Access, Settings};
use crate::shared::Shared;
use crate::signals::Signals;
use crate::statements::Statements;

/// What to do where there is a log of the name, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It must be there.
    Open,
    /// It must not be there.
    Create,
    /// Either.
    OpenOrCreate,
}

/// Opens a log, on the runtime that it will be worked with.
pub(crate) async fn open(settings: Settings, mode: Mode) -> Result<(Shared, Connector), OpenError> {
    settings.check()?;
    if mode == Mode::Create && settings.access == Access::ReadOnly {
        return Err(OpenError::InvalidUrl {
            reason: "with access=read_only no log is created: leave it out".to_owned(),
        });
    }
    let connector = Connector::new(&settings)?;
    let metrics = Metrics::of(&settings);
    let sessions = |purpose: Purpose, most: usize| -> Result<Sessions, Failure> {
        let wait = settings.patience.max(settings.lock_timeout);
        let pool = connector.pool(purpose, most, wait)?;
        let connecting = wait + connector.dialer.longest() + settings.connect_timeout;
        Ok(Sessions::new(pool, connecting, &settings, metrics.clone()))
    };
    let (appends, others) = (
        sessions(Purpose::Appends, 1)?,
        sessions(Purpose::Others, settings.connections)?,
    );
    let sql = Statements::new(&settings.schema);
    let (log, log_id, position) = reach(&others, &settings, &sql, mode, &metrics).await?;
    let watermark = Watermark::new(annals_event_log::Position(position));
    let objects = Objects::of(&settings, log_id, appends.limit());
    if settings.access == Access::ReadWrite {
        demand_objects(&others, &sql, log, objects.as_ref()).await?;
    }
    let shared = Shared {
        objects,
        settings,
        sql,
        log,
        log_id,
        sessions: others,
        appends,
        watermark,
        confirmed: AtomicU64::new(0),
        signals: Signals::default(),
        metrics,
    };
    Ok((shared, connector))
}

/// Refuses to write where this process does not reach the content that the log has: to another place than the log's, or
/// without any, where what was stored could not be shown.
async fn demand_objects(
    sessions: &Sessions,
    sql: &Statements,
    log: i64,
    objects: Option<&Objects>,
) -> Result<(), Failure> {
    let text = Arc::<str>::from(sql.some_objects.as_str());
    let names = sessions.run(move |session| {
        let text = Arc::clone(&text);
        Box::pin(async move {
            let rows = session.query_within(&text, &[&log]).await?;
            let names = rows.iter().map(|row| Ok(row.try_get::<_, String>(0)?));
            names.collect::<Result<Vec<String>, Failed>>()
        })
    });
    let names = names.await?;
    match (objects, names.first()) {
        (Some(objects), _) => objects.demand_one_of(&names).await,
        (None, None) => Ok(()),
        (None, Some(name)) => Err(Failure::NoObjectStore {
            detail: format!("content of this log ({name})"),
        }),
    }
}

/// Finds or makes the log; a server that is just starting is waited for, and one that ends the connection asked again,
/// for as long as an append would.
async fn reach(
    sessions: &Sessions,
    settings: &Settings,
    sql: &Statements,
    mode: Mode,
    metrics: &Metrics,
) -> Result<(i64, Uuid, u64), OpenError> {
    let own = settings.log_id.unwrap_or_else(annals_event_log::new_id);
    let mut back_off = sessions.back_off();
    loop {
        let is_again = back_off.attempts() > 1;
        let error = match find_once(sessions, settings, sql, (mode, own, is_again)).await {
            Ok(found) => return Ok(found),
            Err(error) => error,
        };
        let helps = match &error {
            OpenError::Server(failure) | OpenError::PerhapsMade { failure } => {
                sessions.helps_again(failure)
            }
            _ => false,
        };
        if !helps || !back_off.again().await {
            return Err(error);
        }
        let attempt = back_off.attempts();
        metrics.again("open");
        if back_off.is_to_say() {
            tracing::warn!(%error, attempt, "opening again");
        }
    }
}

async fn find_once(
    sessions: &Sessions,
    settings: &Settings,
    sql: &Statements,
    asked: Asked,
) -> Result<(i64, Uuid, u64), OpenError> {
    let session = sessions.session().await?;
    let found = find(&session, settings, sql, asked).await;
    session.end(found.is_ok());
    found
}

/// What to do, the id of a log that is made, and whether an attempt before this one may have made it.
type Asked = (Mode, Uuid, bool);

async fn find(
    session: &Session,
    settings: &Settings,
    sql: &Statements,
    (mode, own, is_again): Asked,
) -> Result<(i64, Uuid, u64), OpenError> {
    let limit = session.limit();
    within(limit, look_at_server(session, settings)).await?;
    migrate::ensure(session, settings, limit).await?;
    let mut found = session
        .within(find_log(session, settings, sql))
        .await
        .map_err(|failed| failed.failure)?;
    let mut is_made = matches!(found, Some((_, log_id)) if is_again && log_id == own);
    if found.is_none() && mode != Mode::Open && settings.access == Access::ReadWrite {
        is_made = within(limit, create(session, settings, sql, own))
            .await
            .map_err(perhaps_made)?;
        found = find_log(session, settings, sql).await?;
    }
    let (log, schema) = (settings.log.clone(), settings.schema.clone());
    match found {
        None => Err(OpenError::NotFound { log, schema }),
        Some(_) if mode == Mode::Create && !is_made => {
            Err(OpenError::AlreadyExists { log, schema })
        }
        Some((log, log_id)) => {
            let head = session
                .query_one(&sql.head_position, &[&log, &log_id])
                .await?;
            Ok((log, log_id, unsigned(head.try_get(0)?)?))
        }
    }
}

/// Refuses a server that a log cannot be on, and warns of one that may lose what it acknowledges.
async fn look_at_server(session: &ClientWrapper, settings: &Settings) -> Result<(), OpenError> {
    let row = session
        .query_one(
            "SELECT current_setting('server_encoding'), current_setting('transaction_read_only'), pg_is_in_recovery()",
            &[],
        )
        .await?;
    let encoding: String = row.try_get(0)?;
    if !encoding.eq_ignore_ascii_case("utf8") {
        return Err(OpenError::Encoding { encoding });
    }
    let (read_only, is_standby): (String, bool) = (row.try_get(1)?, row.try_get(2)?);
    if settings.access == Access::ReadWrite && read_only == "on" {
        let detail = match is_standby {
            true => "it is a standby".to_owned(),
            false => "its transactions are read-only by default".to_owned(),
        };
        return Err(Failure::ReadOnly { detail }.into());
    }
    let risks = Durability::read(session).await?.risks();
    if risks.is_empty() {
        return Ok(());
    }
    let reasons = risks.join("; ");
    if settings.require_synchronous {
        return Err(OpenError::NotDurable { reasons });
    }
    // Who only reads is told nothing that could be lost.
    if settings.access == Access::ReadWrite {
        tracing::warn!(reasons, "the server may lose what it acknowledges");
    }
    Ok(())
}

/// A log whose making came to no answer may be there.
fn perhaps_made(error: OpenError) -> OpenError {
    match error {
        OpenError::Server(failure @ (Failure::Lost { .. } | Failure::Stopping { .. })) => {
            OpenError::PerhapsMade { failure }
        }
        error => error,
    }
}

async fn find_log(
    session: &ClientWrapper,
    settings: &Settings,
    sql: &Statements,
) -> Result<Option<(i64, Uuid)>, Failure> {
    match session.query_opt(&sql.find_log, &[&settings.log]).await? {
        None => Ok(None),
        Some(row) => Ok(Some((row.try_get(0)?, row.try_get(1)?))),
    }
}

/// Makes the log, unless another process was faster.
async fn create(
    session: &ClientWrapper,
    settings: &Settings,
    sql: &Statements,
    log_id: Uuid,
) -> Result<bool, OpenError> {
    session
        .batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        .await?;
    let made = session
        .query_opt(&sql.add_log, &[&settings.log, &log_id])
        .await;
    let made = made.map_err(|error| match error.code() {
        // Its name is not taken: that would be no error.
        Some(&SqlState::UNIQUE_VIOLATION) => OpenError::IdTaken {
            log_id,
            schema: settings.schema.clone(),
        },
        _ => error.into(),
    })?;
    let Some(row) = made else {
        session.batch_execute("ROLLBACK").await?;
        return Ok(false);
    };
    let log: i64 = row.try_get(0)?;
    let (frontier, secret) = (Frontier::default().encode(), IdSecret::random());
    session.execute(&sql.add_head, &[&log, &frontier]).await?;
    session
        .execute(&sql.add_epoch, &[&log, &&secret.as_bytes()[..]])
        .await?;
    session.batch_execute("COMMIT").await?;
    Ok(true)
}
