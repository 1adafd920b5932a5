//! Tests for services on Annals.

pub mod fault_fs;
