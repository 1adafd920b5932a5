//! Opening a log: the server is looked at, the schema brought up to date, the log found or made.

use annals_event_log::tree::Frontier;
use annals_event_log::{IdSecret, Watermark};
use deadpool_postgres::ClientWrapper;
use uuid::Uuid;

use crate::connect::Connector;
use crate::durability::Durability;
use crate::error::OpenError;
use crate::failure::Failure;
use crate::head::unsigned;
use crate::migrate;
use crate::objects::Objects;
use crate::sessions::Sessions;
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
    let connector = Connector::new(&settings)?;
    let sessions = |most: usize| -> Result<Sessions, Failure> {
        let wait = settings.patience.max(settings.lock_timeout);
        let pool = connector.pool(most, wait)?;
        let (limit, patience) = (settings.statement_timeout, settings.patience);
        Ok(Sessions::new(
            pool,
            limit,
            patience,
            settings.has_several_hosts(),
        ))
    };
    let (appends, others) = (sessions(1)?, sessions(settings.connections)?);
    let session = reach(&others).await?;
    let sql = Statements::new(&settings.schema);
    let found = find(&session, &settings, &sql, mode).await;
    session.end(found.is_ok());
    let (log, log_id, position) = found?;
    let watermark = Watermark::new(annals_event_log::Position(position));
    let store = settings.objects.clone();
    let shared = Shared {
        objects: store.map(|store| Objects::new(store, log_id)),
        settings,
        sql,
        log,
        log_id,
        sessions: others,
        appends,
        watermark,
        signals: Signals::default(),
    };
    Ok((shared, connector))
}

/// A connection, for which a server that is just starting is waited for, as long as an append would.
async fn reach(sessions: &Sessions) -> Result<crate::sessions::Session, Failure> {
    let mut back_off = sessions.back_off();
    loop {
        let failure = match sessions.session().await {
            Ok(session) => return Ok(session),
            Err(failure) => failure,
        };
        if !sessions.helps_again(&failure) || !back_off.again().await {
            return Err(failure);
        }
        let attempt = back_off.attempts();
        tracing::warn!(error = %failure, attempt, "connecting again");
    }
}

async fn find(
    session: &ClientWrapper,
    settings: &Settings,
    sql: &Statements,
    mode: Mode,
) -> Result<(i64, Uuid, u64), OpenError> {
    look_at_server(session, settings).await?;
    migrate::ensure(session, settings).await?;
    let mut found = find_log(session, settings, sql).await?;
    if found.is_some() && mode == Mode::Create {
        return Err(OpenError::AlreadyExists {
            log: settings.log.clone(),
            schema: settings.schema.clone(),
        });
    }
    let is_made = found.is_none() && mode != Mode::Open && settings.access == Access::ReadWrite;
    if is_made {
        let is_ours = create(session, settings, sql).await?;
        found = find_log(session, settings, sql).await?;
        if !is_ours && mode == Mode::Create {
            return Err(OpenError::AlreadyExists {
                log: settings.log.clone(),
                schema: settings.schema.clone(),
            });
        }
    }
    let (log, log_id) = found.ok_or_else(|| OpenError::NotFound {
        log: settings.log.clone(),
        schema: settings.schema.clone(),
    })?;
    let head = session.query_one(&sql.head_position, &[&log]).await?;
    let position = unsigned(head.try_get(0)?)?;
    Ok((log, log_id, position))
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
    tracing::warn!(reasons, "the server may lose what it acknowledges");
    Ok(())
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
) -> Result<bool, Failure> {
    session
        .batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        .await?;
    let log_id = settings.log_id.unwrap_or_else(Uuid::now_v7);
    let made = session
        .query_opt(&sql.add_log, &[&settings.log, &log_id])
        .await?;
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
