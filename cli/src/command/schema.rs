//! `owed schema`: the JSON Schema of an answer, generated from its type.

use schemars::{Schema, schema_for};

use crate::answer;
use crate::answer::audit::AuditAnswer;
use crate::answer::check::CheckAnswer;
use crate::answer::doctor::DoctorAnswer;
use crate::answer::graph::GraphAnswer;
use crate::answer::matrix::MatrixAnswer;
use crate::answer::opacity::OpacityAnswer;
use crate::answer::plan::PlanAnswer;
use crate::answer::receipts::ReceiptsAnswer;
use crate::answer::record::{RecordAnswer, RecordsAnswer, SuggestAnswer};
use crate::answer::run::RunAnswer;
use crate::answer::status::StatusAnswer;
use crate::answer::why::WhyAnswer;
use crate::args::{Schema as Args, SchemaOf};
use crate::exit::Exit;
use crate::output::Output;

/// Answers.
pub(crate) fn run(args: &Args, output: &Output) -> anyhow::Result<Exit> {
    output.raw(&answer::json(&schema_of(args.of))?)?;
    Ok(Exit::Answered)
}

/// The schema of an answer.
fn schema_of(of: SchemaOf) -> Schema {
    match of {
        SchemaOf::Plan => schema_for!(PlanAnswer),
        SchemaOf::Matrix => schema_for!(MatrixAnswer),
        SchemaOf::Record => schema_for!(RecordAnswer),
        SchemaOf::Records => schema_for!(RecordsAnswer),
        SchemaOf::Suggest => schema_for!(SuggestAnswer),
        SchemaOf::Receipts => schema_for!(ReceiptsAnswer),
        SchemaOf::Audit => schema_for!(AuditAnswer),
        SchemaOf::Run => schema_for!(RunAnswer),
        SchemaOf::Status => schema_for!(StatusAnswer),
        SchemaOf::Why => schema_for!(WhyAnswer),
        SchemaOf::Opacity => schema_for!(OpacityAnswer),
        SchemaOf::Graph => schema_for!(GraphAnswer),
        SchemaOf::Check => schema_for!(CheckAnswer),
        SchemaOf::Doctor => schema_for!(DoctorAnswer),
    }
}
