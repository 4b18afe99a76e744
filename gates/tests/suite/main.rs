//! The integration tests of `owed-gates`.
