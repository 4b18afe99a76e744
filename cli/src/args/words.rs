//! What the words in answers mean, for `owed --help`.

pub(super) const WORDS: &str = "\
Reasons for which a test is owed:
  changed         the test file itself changed
  depends         a changed file is among what it imports, directly or not
  companion       a file changed that belongs to it by name (a.ts and a.test.ts)
  snapshot        its snapshot changed
  declared        an input declared in owed.toml changed
  observed        an input that an earlier run of it loaded changed
  shared          runner configuration, setup, conftest.py or a manifest changed
  package         an installed package that it loads changed
  negative        a file appeared or vanished that changes what an import or a listing means
  input-opaque    what it reads cannot be bounded, so any change owes it
  not-understood  its runner or its project is not understood, so any change owes it
  requested       you asked for it (--all)

Opacity, from best to worst:
  pure            the sources alone determine the verdict
  pinned          so do the sources and inputs that can be named (an environment name, a file)
  bounded         it reads below a constant directory
  time-opaque     the verdict may differ with no file changed (clock, randomness, network)
  unknown         a file it needs could not be read, or an import of it leads nowhere
  input-opaque    the set of its inputs cannot be bounded (computed loads, subprocesses, eval)

Modes of a plan:
  none            nothing is owed
  selective       the listed tests are owed
  widened         all tests are owed, and the plan says for which reason

Exit codes:
  0   the question was answered
  1   a verdict failed
  2   usage, configuration, or a needed tool is unavailable
  3   a gate cannot vouch: something in scope was NOT CHECKED
  75  no verdict: deferred, stale or interrupted

Environment: NO_COLOR and CLICOLOR_FORCE are honoured.";
