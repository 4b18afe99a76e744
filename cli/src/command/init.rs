//! `owed init`: a commented configuration, and what was detected.

use anyhow::Context as _;

use crate::args::{Against, Global};
use crate::complaint::Complaint;
use crate::config;
use crate::exit::Exit;
use crate::host;
use crate::output::Output;
use crate::render::{count, style};
use crate::session::Session;
use crate::site::Site;

const TEMPLATE: &str = include_str!("init_template.toml");

/// Writes the file, then looks at the project with it.
pub(crate) fn run(global: &Global, output: &Output) -> anyhow::Result<Exit> {
    let site = Site::open(&global.cwd)?;
    let existing = config::load(|name| Ok(host::read_text(&site.cwd.join(name))?))?;
    if let Some(file) = existing.source {
        let what = format!("there is a configuration already: {}", config::section(file));
        return Err(Complaint::new(what, "edit it; `owed init` never overwrites").into());
    }
    let file = site.cwd.join(config::FILE);
    host::write_new(&file, TEMPLATE)
        .with_context(|| format!("{} cannot be written; check its permissions", file.display()))?;
    let session = Session::open(global, &Against::default(), output)?;
    let project = session.read(owed_engine::project::Reading::Files);

    let mut out = format!("{} {}\n", style::good("Wrote"), style::bold(&file.display().to_string()));
    if !session.site.prefix.is_empty() {
        let sentence = format!(
            "This directory ({}) is now a project of its own: owed considers nothing outside of it.",
            session.site.prefix
        );
        out += &format!("{}\n", style::wrap(&sentence, 0, 0, output.view.width));
    }
    out += "\nDetected:\n";
    for language in owed_plugins::languages() {
        let files = project.files.iter().filter(|file| language.reads(file)).count();
        if files > 0 {
            out += &format!("  {}: {}\n", language.name(), count(files, "file"));
        }
    }
    for suite in &project.suites {
        let place = if suite.project.root.is_empty() { "." } else { suite.project.root.as_str() };
        let tests = count(suite.project.tests.len(), "test file");
        out += &format!("  {} in {}: {tests}\n", suite.runner_name, style::plain(place));
    }
    if project.suites.is_empty() {
        out += "  no test runner (`owed doctor` says what was looked for)\n";
    }
    if !output.view.quiet {
        out += &format!("\n{}\n", style::dim("Next: owed doctor | owed plan"));
    }
    output.answer(&out)?;
    Ok(Exit::Answered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_a_valid_configuration_as_written_and_with_every_example_in_use() {
        let as_written =
            config::load(|name| Ok((name == config::FILE).then(|| TEMPLATE.to_owned()))).unwrap();
        assert_eq!(as_written.settings, owed_engine::project::Settings::default());
        // Examples begin with `#` at once; prose has a blank after it.
        let in_use: String = TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(example) if !example.starts_with(' ') => format!("{example}\n"),
                _ => "\n".to_owned(),
            })
            .collect();
        let in_use = config::load(|name| Ok((name == config::FILE).then(|| in_use.clone()))).unwrap();
        assert_eq!(in_use.settings.inputs.len(), 1);
        assert_eq!(in_use.settings.file_size, 5 * 1024 * 1024);
        assert!(in_use.settings.inert.is_some());
        assert_eq!(in_use.settings.exclude.len(), 1);
        assert_eq!((in_use.caps.default, in_use.caps.paths[0].cap), (400, 800));
        assert!(in_use.without_effect.is_empty());
    }
}
