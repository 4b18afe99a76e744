//! Leases, with real files and real processes.
