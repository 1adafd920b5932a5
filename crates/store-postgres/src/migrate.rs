//! The schema's version, and the steps to the newest one. One process takes them, on a lease in a row of a table: a
//! process that dies gives it up by time, and nothing but rows and transactions is asked of the engine.

use std::time::{Duration, Instant};

use deadpool_postgres::ClientWrapper;
use futures::FutureExt;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use crate::error::OpenError;
use crate::failure::Failure;
use crate::grants;
use crate::sessions::within;
use crate::settings::{Access, Settings};
use crate::statements::in_schema;

/// The steps, each from the version before it. One that was released is never changed.
const STEPS: [&str; 3] = [
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_leases.sql"),
    include_str!("migrations/0003_objects.sql"),
];

/// The version that this program knows.
pub(crate) const KNOWN: i64 = STEPS.len() as i64;

/// How long a process may migrate without a sign.
const LEASE: Duration = Duration::from_secs(15);
/// How long others wait for it.
const PATIENCE: Duration = Duration::from_secs(90);
/// The time between two looks at what it does.
const LOOK: Duration = Duration::from_millis(50);

/// The table of the version, the lease, and what was done. It is the same for ever.
const STATE: &str = "
    CREATE TABLE IF NOT EXISTS {s}.schema_version (
        only_row bigint PRIMARY KEY CHECK (only_row = 1),
        version bigint NOT NULL,
        holder uuid,
        held_until timestamptz
    );
    CREATE TABLE IF NOT EXISTS {s}.migrations (
        version bigint PRIMARY KEY,
        applied_at timestamptz NOT NULL DEFAULT now(),
        applied_by uuid NOT NULL
    );
    INSERT INTO {s}.schema_version (only_row, version) VALUES (1, 0) ON CONFLICT (only_row) DO NOTHING";

/// Makes sure that the schema has the version of this program, or says why not.
pub(crate) async fn ensure(
    client: &ClientWrapper,
    settings: &Settings,
    limit: Duration,
) -> Result<(), OpenError> {
    let found = version(client, &settings.schema).await?;
    let may = settings.migrate && settings.access == Access::ReadWrite;
    match found {
        Some(KNOWN) => Ok(()),
        Some(found) if found > KNOWN => Err(newer(settings, found)),
        Some(found) if !may && found > 0 => Err(OpenError::OlderSchema {
            schema: settings.schema.clone(),
            found,
            known: KNOWN,
        }),
        // Nothing is there, and nothing may be made: there is no log.
        _ if !may => Err(OpenError::NotFound {
            log: settings.log.clone(),
            schema: settings.schema.clone(),
        }),
        _ => migrate(client, settings, limit).await,
    }
}

fn newer(settings: &Settings, found: i64) -> OpenError {
    OpenError::NewerSchema {
        schema: settings.schema.clone(),
        found,
        known: KNOWN,
    }
}

/// The version of a schema; `None` where it is none of ours, or not there.
pub(crate) async fn version(client: &ClientWrapper, schema: &str) -> Result<Option<i64>, Failure> {
    let text = in_schema(
        "SELECT version FROM {s}.schema_version WHERE only_row = 1",
        schema,
    );
    match client.query_opt(&text, &[]).await {
        Ok(Some(row)) => Ok(Some(row.try_get(0)?)),
        Ok(None) => Ok(None),
        Err(error) => match Failure::from(error) {
            Failure::NoSchema { .. } => Ok(None),
            failure => Err(failure),
        },
    }
}

async fn migrate(
    client: &ClientWrapper,
    settings: &Settings,
    limit: Duration,
) -> Result<(), OpenError> {
    let schema = &settings.schema;
    let begun = Instant::now();
    match within(limit, make_state(client, schema)).await {
        Err(Failure::NoPermission { detail }) => {
            return Err(not_owner(client, settings, detail).await);
        }
        made => made?,
    }
    let (own, mut is_said) = (Uuid::new_v4(), false);
    let take = in_schema(
        "UPDATE {s}.schema_version SET holder = $1, held_until = clock_timestamp() + $2::bigint * interval '1 millisecond'
            WHERE only_row IN (SELECT only_row FROM {s}.schema_version WHERE only_row = 1 AND version < $3
                AND (holder IS NULL OR holder = $1 OR held_until < clock_timestamp()) FOR UPDATE SKIP LOCKED)",
        schema,
    );
    let lease = i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX);
    loop {
        match version(client, schema).await? {
            Some(KNOWN) => return Ok(()),
            Some(found) if found > KNOWN => return Err(newer(settings, found)),
            _ => {}
        }
        let taken =
            async { Ok::<_, OpenError>(client.execute(&take, &[&own, &lease, &KNOWN]).await?) };
        if within(limit, taken).await? == 1 {
            let stepped = within(limit, step(client, settings, own)).await;
            // The connection is given up with it.
            if matches!(&stepped, Err(OpenError::Server(Failure::Lost { .. }))) {
                return stepped;
            }
            // Others need not wait until it ends by time.
            let given = give_back(client, schema, own).map(Ok::<_, OpenError>);
            within(limit, given).await?;
            stepped?;
            continue;
        }
        if begun.elapsed() > Duration::from_secs(1) && !std::mem::replace(&mut is_said, true) {
            tracing::warn!(
                schema,
                "waits for another process that makes or migrates the schema"
            );
        }
        if begun.elapsed() > PATIENCE {
            return Err(OpenError::Migrating {
                schema: schema.clone(),
                holder: holder(client, schema).await?,
                waited_seconds: PATIENCE.as_secs(),
            });
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// What to say to a user who may not make tables: where they are there, it takes their owner to change them.
async fn not_owner(client: &ClientWrapper, settings: &Settings, detail: String) -> OpenError {
    match version(client, &settings.schema).await {
        Ok(Some(found)) if found > 0 => OpenError::OlderSchema {
            schema: settings.schema.clone(),
            found,
            known: KNOWN,
        },
        _ => Failure::NoPermission { detail }.into(),
    }
}

/// Makes the schema with the table of its version. Processes that do so at the same time may get into each other's
/// way, which `IF NOT EXISTS` does not prevent; what one of them has made the others find.
async fn make_state(client: &ClientWrapper, schema: &str) -> Result<(), Failure> {
    let exists = "SELECT 1 FROM information_schema.schemata WHERE schema_name = $1";
    let mut attempts = 0;
    loop {
        let make = match client.query_opt(exists, &[&schema]).await? {
            // To say so where it is there already takes a right that its users need not have.
            Some(_) => STATE.to_owned(),
            None => format!("CREATE SCHEMA IF NOT EXISTS {{s}};{STATE}"),
        };
        let Err(error) = client.batch_execute(&in_schema(&make, schema)).await else {
            return Ok(());
        };
        attempts += 1;
        let is_race = matches!(
            error.code(),
            Some(
                &SqlState::UNIQUE_VIOLATION
                    | &SqlState::DUPLICATE_SCHEMA
                    | &SqlState::DUPLICATE_TABLE
            )
        ) || error.code() == Some(&SqlState::INTERNAL_ERROR);
        if !is_race || attempts > 20 {
            return Err(error.into());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Takes the next step, if the lease is still ours when it is committed.
async fn step(client: &ClientWrapper, settings: &Settings, own: Uuid) -> Result<(), OpenError> {
    let schema = &settings.schema;
    let from = version(client, schema).await?.unwrap_or(0);
    let text = usize::try_from(from).ok().and_then(|from| STEPS.get(from));
    let Some(text) = text else {
        return Err(newer(settings, from));
    };
    let done = take_step(client, settings, own, from, text).await;
    if done.is_err() {
        // The connection goes on being used.
        client.batch_execute("ROLLBACK").await?;
    }
    done
}

async fn take_step(
    client: &ClientWrapper,
    settings: &Settings,
    own: Uuid,
    from: i64,
    text: &str,
) -> Result<(), OpenError> {
    let schema = &settings.schema;
    let to = from + 1;
    client
        .batch_execute("BEGIN ISOLATION LEVEL READ COMMITTED")
        .await?;
    let raise = in_schema(
        "UPDATE {s}.schema_version SET version = $1 WHERE only_row = 1 AND version = $2 AND holder = $3",
        schema,
    );
    if client.execute(&raise, &[&to, &from, &own]).await? != 1 {
        // It took so long to begin that another process has taken over.
        client.batch_execute("ROLLBACK").await?;
        return Ok(());
    }
    client.batch_execute(&in_schema(text, schema)).await?;
    grants::give(client, settings, to).await?;
    let note = in_schema(
        "INSERT INTO {s}.migrations (version, applied_by) VALUES ($1, $2)",
        schema,
    );
    client.execute(&note, &[&to, &own]).await?;
    client.batch_execute("COMMIT").await?;
    tracing::info!(schema, version = to, "the schema was migrated");
    Ok(())
}

async fn give_back(client: &ClientWrapper, schema: &str, own: Uuid) {
    let give = in_schema(
        "UPDATE {s}.schema_version SET holder = NULL, held_until = NULL WHERE only_row = 1 AND holder = $1",
        schema,
    );
    if let Err(error) = client.execute(&give, &[&own]).await {
        tracing::warn!(%error, "the lease on the schema ends by time");
    }
}

async fn holder(client: &ClientWrapper, schema: &str) -> Result<String, Failure> {
    let text = in_schema(
        "SELECT holder::text FROM {s}.schema_version WHERE only_row = 1",
        schema,
    );
    let row = client.query_opt(&text, &[]).await?;
    let holder: Option<String> = match &row {
        Some(row) => row.try_get(0)?,
        None => None,
    };
    Ok(holder.unwrap_or_default())
}
