//! Tests for services on Annals.
