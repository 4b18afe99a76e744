//! Asking again and again how a job stands, without claiming more than was answered.
//!
//! An answer that could not be had says nothing: three in a row are tolerated, and then the
//! reason of the first is given, with the job possibly still at work. That the job is
//! another one, or gone, is only ever said by an answer.

/// How many unavailable answers in a row are tolerated.
pub(super) const TOLERATED: u32 = 3;

/// One answer about a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The job that is seen, or that none is.
    Ready(Option<String>),
    /// There was no answer, for this reason.
    Unavailable(String),
}

/// What follows from an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// The job is the one that was seen before, or nothing new is known.
    Same,
    /// Another job is seen, or none.
    Changed(Option<String>),
    /// No answer too often: the reason of the first. The job may still be at work.
    Lost(String),
}

/// A series of answers.
#[derive(Clone, Debug, Default)]
pub struct Poll {
    job: Option<String>,
    failed: u32,
    reason: Option<String>,
}

impl Poll {
    /// Of a job that was seen, or of none.
    pub fn of(job: Option<String>) -> Self {
        Self { job, ..Self::default() }
    }

    /// Takes an answer in.
    pub fn take(&mut self, reply: Reply) -> Seen {
        match reply {
            Reply::Ready(job) => {
                self.failed = 0;
                self.reason = None;
                if job == self.job {
                    return Seen::Same;
                }
                self.job.clone_from(&job);
                Seen::Changed(job)
            }
            Reply::Unavailable(reason) => {
                self.failed += 1;
                let first = self.reason.get_or_insert(reason).clone();
                if self.failed > TOLERATED { Seen::Lost(first) } else { Seen::Same }
            }
        }
    }
}
