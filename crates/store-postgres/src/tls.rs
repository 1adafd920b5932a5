//! Encrypted connections: rustls, and a certificate that is always verified.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure::Failure;
use crate::settings::Tls;

fn failed(detail: String) -> Failure {
    Failure::Tls { detail }
}

/// What connections are encrypted with. Where they are not it is never asked.
pub(crate) fn connector(tls: &Tls) -> Result<MakeRustlsConnect, Failure> {
    let roots = match tls {
        Tls::Off => RootCertStore::empty(),
        Tls::Verified { roots: None } => of_system()?,
        Tls::Verified { roots: Some(file) } => of_file(file)?,
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn of_system() -> Result<RootCertStore, Failure> {
    let found = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(found.certs);
    match added {
        0 => Err(failed(format!(
            "the system has no certificates of authorities ({:?})",
            found.errors
        ))),
        _ => Ok(roots),
    }
}

fn of_file(file: &Path) -> Result<RootCertStore, Failure> {
    let unreadable = |error: &dyn std::fmt::Display| failed(format!("{}: {error}", file.display()));
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| unreadable(&error))? {
        let certificate = certificate.map_err(|error| unreadable(&error))?;
        roots.add(certificate).map_err(|error| unreadable(&error))?;
    }
    match roots.is_empty() {
        true => Err(unreadable(&"it has no certificates in PEM")),
        false => Ok(roots),
    }
}
