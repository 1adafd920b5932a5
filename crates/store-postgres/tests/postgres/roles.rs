//! What the roles may do: a writer all that a log takes, a reader nothing but read.

use annals_event_log::{
    AppendError, Blob, CommitError, Content, EventLog, ModelCheckpoint, PiecesOf, Position, Query,
    ReadModels, Redaction,
};
use annals_store_postgres::{Access, PostgresLog, Settings};
use annals_testkit::postgres::{Server, Setup, USER};
use futures::executor::block_on;

use crate::support::{all, batch, database, server, settings};

/// The settings of another user.
fn of(server: &Server, user: &str) -> Settings {
    let own = format!("{USER}:{}", server.password());
    let url = server
        .url("postgres")
        .replace(&own, &format!("{user}:secret"));
    Settings::from_url(&url).unwrap()
}

/// Appends, commits rows and removes both again.
fn do_all(writer: &PostgresLog) {
    let blob = Blob::new(vec![7; 5_000]);
    let mut told = batch("a-1", 2);
    told.events[0].content = vec![
        Content::Inline {
            salt: [1; 16],
            bytes: "secret".into(),
        },
        Content::Blob {
            salt: [2; 16],
            digest: blob.digest(),
            size: 5_000,
        },
    ];
    told.blobs = vec![blob.clone()];
    block_on(writer.append(told)).unwrap();
    let rows = vec![("key".into(), Some("value".into()))];
    block_on(writer.commit("model", ModelCheckpoint::default(), rows, Position(2))).unwrap();
    let redaction = Redaction {
        append: batch("a-1", 1),
        removed: vec![PiecesOf {
            position: Position(1),
            pieces: vec![0, 1],
        }],
        blobs: vec![blob.digest()],
        seen: Position(2),
    };
    block_on(writer.redact(redaction)).unwrap();
    block_on(writer.drop_model("model")).unwrap();
}

#[test]
fn a_writer_writes_and_a_reader_changes_nothing() {
    let Some(server) = Server::or_say_not_run(&Setup::default()) else {
        return;
    };
    let roles = "CREATE ROLE annals_writer NOLOGIN; CREATE ROLE annals_reader NOLOGIN;
        CREATE USER service PASSWORD 'secret' IN ROLE annals_writer;
        CREATE USER auditor PASSWORD 'secret' IN ROLE annals_reader;
        CREATE USER stranger PASSWORD 'secret'";
    server.sql("postgres", roles).unwrap();
    // Who owns the schema makes it, and the roles are granted what they need.
    let owner = PostgresLog::create(&Settings::from_url(&server.url("postgres")).unwrap()).unwrap();

    let writer = PostgresLog::open(&of(&server, "service")).unwrap();
    do_all(&writer);
    let named = of(&server, "service").with_log("another");
    block_on(PostgresLog::create(&named).unwrap().append(batch("a-1", 1))).unwrap();

    let reader = PostgresLog::open(&of(&server, "auditor").with_access(Access::ReadOnly)).unwrap();
    assert_eq!(all(&reader), all(&owner));
    let refused = block_on(reader.append(batch("a-1", 1)));
    assert!(matches!(refused, Err(AppendError::ReadOnly)), "{refused:?}");
    let refused = block_on(reader.drop_model("model"));
    assert!(matches!(refused, Err(CommitError::ReadOnly)), "{refused:?}");
    // Also where it does not say of itself that it only reads.
    let bold = PostgresLog::open(&of(&server, "auditor")).unwrap();
    let refused = block_on(bold.append(batch("a-1", 1)));
    assert!(matches!(refused, Err(AppendError::ReadOnly)), "{refused:?}");
    assert_eq!(
        block_on(bold.read(Query::all(Position(1))))
            .unwrap()
            .records
            .len(),
        3
    );

    let refused = PostgresLog::open(&of(&server, "stranger")).expect_err("it has no rights");
    assert!(
        refused.to_string().contains("the user may not do this"),
        "{refused}"
    );
    for (user, statement) in [
        ("auditor", "UPDATE annals.records SET version = 9"),
        ("auditor", "DELETE FROM annals.batches"),
        (
            "auditor",
            "INSERT INTO annals.leases VALUES (1, 'x', gen_random_uuid(), now())",
        ),
        ("service", "DELETE FROM annals.records"),
        ("service", "DROP TABLE annals.records"),
        ("service", "UPDATE annals.schema_version SET version = 7"),
    ] {
        let as_user = format!("SET ROLE {user}; {statement}");
        let refused = server.sql("postgres", &as_user).expect_err(statement);
        assert!(
            refused.to_string().contains("permission denied")
                || refused.to_string().contains("must be owner")
        );
    }
}

/// In a database where everybody may create functions and operators: those that fit better than the server's own would be
/// called with the rights of the writer.
#[test]
fn no_function_of_others_is_called() {
    let Some(server) = server() else { return };
    let database = database(server);
    let others = "CREATE TABLE public.called (by_whom text);
        CREATE FUNCTION public.times(numeric, integer) RETURNS numeric LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO public.called VALUES ('times'); RETURN $1 OPERATOR(pg_catalog.*) $2::numeric; END $$;
        CREATE OPERATOR public.* (LEFTARG = numeric, RIGHTARG = integer, FUNCTION = public.times);
        CREATE FUNCTION public.unnest(uuid[]) RETURNS SETOF uuid LANGUAGE plpgsql AS $$ BEGIN
            INSERT INTO public.called VALUES ('unnest'); RETURN QUERY SELECT pg_catalog.unnest($1); END $$;";
    server.sql(&database, others).unwrap();
    let log = PostgresLog::create(&settings(server, &database, "")).unwrap();
    block_on(log.append(batch("a-1", 2))).unwrap();
    assert!(block_on(log.leads("catalogue.1")));
    block_on(log.close());
    let called = server
        .sql(&database, "SELECT * FROM public.called")
        .unwrap();
    assert_eq!(called, "");
}
