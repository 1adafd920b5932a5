//! Encrypted connections: demanded by either side, and a certificate that is always verified.

use annals_event_log::{Classified, ErrorClass, EventLog};
use annals_store_postgres::{Failure, OpenError, PostgresLog, Settings};
use annals_testkit::postgres::{Server, Setup};
use futures::executor::block_on;
use tempfile::NamedTempFile;

use crate::support::{DATABASE, batch, server};

/// An authority's certificate, and a server's that it signed for a name, with its key; all in PEM.
struct Certificates {
    authority: String,
    server: String,
    key: String,
}

fn certificates(name: &str) -> Certificates {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    let key = KeyPair::generate().unwrap();
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = parameters.self_signed(&key).unwrap();
    let issuer = Issuer::new(parameters, key);
    let own = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let server = parameters.signed_by(&own, &issuer).unwrap();
    Certificates {
        authority: authority.pem(),
        server: server.pem(),
        key: own.serialize_pem(),
    }
}

fn file(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// Opens a log by a host's name, with these parameters.
fn open(server: &Server, host: &str, parameters: &str) -> Result<PostgresLog, OpenError> {
    // The address is said, so that the name stands for no other one.
    let url = server.url("postgres").replace("127.0.0.1", host);
    let parameters = format!("hostaddr=127.0.0.1&{parameters}");
    PostgresLog::open_or_create(
        &Settings::from_url(&format!("{url}?patience=0.3&{parameters}")).unwrap(),
    )
}

#[track_caller]
fn refused(opened: Result<PostgresLog, OpenError>) -> Failure {
    match opened {
        Err(OpenError::Server(failure)) => failure,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("it was opened"),
    }
}

#[test]
fn a_server_that_demands_tls_gets_it_or_says_so() {
    let known = certificates("localhost");
    let setup = Setup {
        settings: vec![("ssl".into(), "on".into())],
        files: vec![
            ("server.crt".into(), known.server.clone()),
            ("server.key".into(), known.key.clone()),
        ],
        hba: Some(
            "hostssl all all 127.0.0.1/32 scram-sha-256\nhostssl all all ::1/128 scram-sha-256\n"
                .into(),
        ),
        ..Setup::default()
    };
    // `psql` prefers TLS by itself.
    let Some(server) = Server::or_say_not_run(&setup) else {
        return;
    };
    let roots = file(&known.authority);
    let trusted = format!("sslmode=require&sslrootcert={}", roots.path().display());
    let log = open(&server, "localhost", &trusted).unwrap();
    block_on(log.append(batch("a-1", 1))).unwrap();
    let encrypted = "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
        WHERE ssl AND application_name = 'annals'";
    assert_ne!(server.sql("postgres", encrypted).unwrap(), "0");

    let failure = refused(open(&server, "localhost", "sslmode=disable"));
    assert!(matches!(failure, Failure::TlsRequired { .. }), "{failure}");
    assert_eq!(
        (failure.class(), failure.code()),
        (ErrorClass::Failed, "tls_required")
    );
    assert!(failure.to_string().contains("sslmode=require"), "{failure}");

    let other = file(&certificates("localhost").authority);
    let unknown = format!("sslmode=require&sslrootcert={}", other.path().display());
    for (host, parameters) in [("localhost", &unknown), ("127.0.0.1", &trusted)] {
        let failure = refused(open(&server, host, parameters));
        assert!(matches!(failure, Failure::Tls { .. }), "{host}: {failure}");
        assert!(
            failure.to_string().contains("sslrootcert=FILE"),
            "{failure}"
        );
    }
    let nothing = file("no certificates");
    let parameters = format!("sslrootcert={}", nothing.path().display());
    let failure = refused(open(&server, "localhost", &parameters));
    assert!(matches!(failure, Failure::Tls { .. }), "{failure}");
}

#[test]
fn a_server_without_tls_is_refused_where_it_is_demanded() {
    let Some(server) = server() else { return };
    let roots = file(&certificates("localhost").authority);
    let parameters = format!("?sslmode=require&sslrootcert={}", roots.path().display());
    let url = format!("{}{parameters}", server.url(DATABASE));
    let failure = refused(PostgresLog::open(&Settings::from_url(&url).unwrap()));
    assert_eq!(failure, Failure::TlsAbsent);
    assert_eq!(
        (failure.class(), failure.code()),
        (ErrorClass::Failed, "tls_absent")
    );
}
