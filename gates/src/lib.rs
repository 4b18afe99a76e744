//! `owed-gates`: what runs and what is remembered.
