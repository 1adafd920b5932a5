//! The subjects of a high risk, each with its words in English and Japanese.

mod access;
mod architecture;
mod breaking;
mod deletion;
mod exposure;
mod migration;
mod payment;
mod personal_data;
mod production;
mod security;
mod slips;

use super::subject::Subject;

use access::ACCESS;
use architecture::ARCHITECTURE;
use breaking::BREAKING;
use deletion::DELETION;
use exposure::EXPOSURE;
use migration::MIGRATION;
use payment::PAYMENT;
use personal_data::PERSONAL_DATA;
use production::PRODUCTION;
use security::SECURITY;

pub(super) use slips::misspelt;

/// The subjects, in the order in which they are looked for.
pub(super) const SUBJECTS: [Subject; 10] = [
    ARCHITECTURE,
    MIGRATION,
    SECURITY,
    ACCESS,
    PERSONAL_DATA,
    BREAKING,
    DELETION,
    PAYMENT,
    PRODUCTION,
    EXPOSURE,
];
