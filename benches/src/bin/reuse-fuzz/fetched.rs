//! A real checkout instead of a generated project.

use std::path::Path;

use anyhow::Result;

use crate::tally::Tally;
use crate::{Args, Session};

/// Changes a copy of a checkout at random and checks each reuse.
pub(crate) fn fuzz(_: &Session, _: &Path, _: &Args, _: &mut Tally) -> Result<()> {
    anyhow::bail!("not yet")
}
