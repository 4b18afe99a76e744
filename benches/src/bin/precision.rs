//! How many of the groups that `owed check --across files` reports are what it says they are.
//!
//! ```text
//! cargo run -p benches --bin precision -- sample --projects DIR --out benches/labels/repeated.toml
//! cargo run -p benches --bin precision -- show --projects DIR --labels benches/labels/repeated.toml
//! cargo run -p benches --bin precision -- score --projects DIR --out benches/scores/precision.md
//! ```
//!
//! `add` adds the claims that have no label.
//! `sample` draws groups from pinned projects, the same ones for a seed every time, and writes
//! them down without labels. `show` prints the members for a person to read, who fills in
//! `same` and `why` by hand. `score` asks today's program, finds the labelled groups among its
//! answers by their members, and fails when fewer than 95 of 100 claims are right.
//!
//! A claim is *right* when its members are one implementation written more than once: the same
//! steps for the same purpose, which differ in names and values only, so that whoever
//! maintains them would agree that one operation could serve all. It is *wrong* when they only
//! have the same form: tables, lists of declarations, constructors that store what they are
//! given, steps that share nothing but their grammar.
#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods, reason = "a bench program")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Parser, Subcommand};
use owed_engine::check::repeated::{Advice, Group, Member, Tier};
use owed_engine::check::{Input, Policy, Questions, Survey, Tests};
use owed_engine::digest::Digest;
use owed_engine::project::Plugins;
use owed_engine::read::{DiskTree, walk};
use serde::{Deserialize, Serialize};

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Draws groups.
    Sample(Sample),
    /// Adds the claims that have no label yet.
    Add(Add),
    /// Prints groups with their code.
    Show(Show),
    /// Compares today's answers with the labels.
    Score(Score),
}

#[derive(clap::Args)]
struct Sample {
    /// Directory with one checkout a project.
    #[arg(long)]
    projects: PathBuf,
    /// Which of them.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "astro,express,flask,httpx,pydantic,query,redux-toolkit,saleor,sympy,typeorm,vitest,zod"
    )]
    only: Vec<String>,
    /// Groups of the claim tier.
    #[arg(long, default_value_t = 300)]
    claims: usize,
    /// Groups of the advice tier.
    #[arg(long, default_value_t = 60)]
    advice: usize,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    #[arg(long)]
    out: PathBuf,
}

#[derive(clap::Args)]
struct Add {
    #[arg(long)]
    projects: PathBuf,
    #[arg(long, default_value = "benches/labels/repeated.toml")]
    labels: PathBuf,
}

#[derive(clap::Args)]
struct Show {
    #[arg(long)]
    projects: PathBuf,
    #[arg(long, default_value = "benches/labels/repeated.toml")]
    labels: PathBuf,
    /// Number of the first group, from 1.
    #[arg(long, default_value_t = 1)]
    from: usize,
    /// How many.
    #[arg(long, default_value_t = 50)]
    count: usize,
    /// Lines of the first member.
    #[arg(long, default_value_t = 30)]
    lines: usize,
}

#[derive(clap::Args)]
struct Score {
    #[arg(long)]
    projects: PathBuf,
    #[arg(long, default_value = "benches/labels/repeated.toml")]
    labels: PathBuf,
    #[arg(long)]
    out: Option<PathBuf>,
}

/// The labels.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Labels {
    /// With which seed they were drawn.
    seed: u64,
    /// Commit of each project.
    commits: BTreeMap<String, String>,
    group: Vec<Label>,
}

/// One group and what a person says of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Label {
    project: String,
    tier: String,
    /// `path:first-last name`.
    members: Vec<String>,
    /// Whether it is one implementation; not there until somebody has read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    same: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

fn main() -> Result<()> {
    match Arguments::parse().what {
        What::Sample(arguments) => draw(&arguments),
        What::Add(arguments) => add(&arguments),
        What::Show(arguments) => show(&arguments),
        What::Score(arguments) => score(&arguments),
    }
}

fn tier(group: &Group) -> &'static str {
    match group.tier {
        Tier::Claim => "claim",
        Tier::Advice(Advice::NearMiss) => "near-miss",
        Tier::Advice(Advice::OtherCallees) => "other-callees",
        Tier::Advice(Advice::Block) => "block",
    }
}

fn said(member: &Member) -> String {
    format!("{}:{}-{} {}", member.path, member.start_line, member.end_line, member.name)
}

fn commit(root: &Path) -> Result<String> {
    let ran = std::process::Command::new("git").arg("-C").arg(root).args(["rev-parse", "HEAD"]).output()?;
    ensure!(ran.status.success(), "{} is no checkout", root.display());
    Ok(String::from_utf8(ran.stdout)?.trim().to_owned())
}

fn groups(root: &Path) -> Result<Vec<Group>> {
    let root = fs::canonicalize(root).with_context(|| format!("{} is not there", root.display()))?;
    let disk = DiskTree::new(&root, walk(&root));
    let plugins = Plugins { languages: owed_plugins::languages(), runners: owed_plugins::runners() };
    let tests = Tests::discover(&disk, plugins, &[]);
    let input = Input {
        tree: &disk,
        languages: plugins.languages,
        tests: &tests.paths,
        unseen: &[],
        broken_links: &[],
        debt: None,
        base: None,
        coverage: None,
    };
    let policy = Policy {
        questions: Questions { tokens: false, repeated: true, complexity: false },
        across_files: true,
        advice: true,
        ..Policy::default()
    };
    Ok(Survey::read(input, policy).report().repeated)
}

fn add(arguments: &Add) -> Result<()> {
    let mut labels = read_labels(&arguments.labels)?;
    let known: BTreeSet<Vec<String>> = labels.group.iter().map(|label| label.members.clone()).collect();
    let mut fresh = Vec::new();
    for project in labels.commits.keys() {
        let groups = groups(&arguments.projects.join(project))?;
        let claims = groups.iter().filter(|group| group.is_claim()).map(|group| label(project, group));
        fresh.extend(claims.filter(|label| !known.contains(&label.members)));
    }
    println!("{} claims without a label", fresh.len());
    labels.group.append(&mut fresh);
    write_labels(&arguments.labels, &labels)
}

fn label(project: &str, group: &Group) -> Label {
    Label {
        project: project.to_owned(),
        tier: tier(group).to_owned(),
        members: group.members.iter().map(said).collect(),
        same: None,
        why: None,
    }
}

/// A hash of what a group is, so that one group more or less does not change which others are drawn.
fn rank(seed: u64, label: &Label) -> Digest {
    let words = [label.project.as_str(), label.tier.as_str()];
    let words = words.into_iter().chain(label.members.iter().map(String::as_str));
    Digest::of_parts(std::iter::once(&seed.to_le_bytes()[..]).chain(words.map(str::as_bytes)))
}

/// Writes labels below the comment that stands above them.
fn write_labels(path: &Path, labels: &Labels) -> Result<()> {
    let old = fs::read_to_string(path).unwrap_or_default();
    let comment: String =
        old.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    Ok(fs::write(path, comment + &toml::to_string(labels)?)?)
}

fn draw(arguments: &Sample) -> Result<()> {
    let mut labels = Labels { seed: arguments.seed, ..Labels::default() };
    let mut all = Vec::new();
    for project in &arguments.only {
        let root = arguments.projects.join(project);
        labels.commits.insert(project.clone(), commit(&root)?);
        all.extend(groups(&root)?.iter().map(|group| label(project, group)));
    }
    let (mut claims, mut advice): (Vec<Label>, Vec<Label>) =
        all.into_iter().partition(|label| label.tier == "claim");
    println!("{} claims, {} of advice", claims.len(), advice.len());
    claims.sort_by_key(|label| rank(arguments.seed, label));
    advice.sort_by_key(|label| rank(arguments.seed, label));
    claims.truncate(arguments.claims);
    advice.truncate(arguments.advice);
    for part in [&mut claims, &mut advice] {
        part.sort_by(|a, b| (&a.project, &a.members).cmp(&(&b.project, &b.members)));
        labels.group.append(part);
    }
    write_labels(&arguments.out, &labels)
}

fn read_labels(path: &Path) -> Result<Labels> {
    let text = fs::read_to_string(path).with_context(|| format!("{} is not there", path.display()))?;
    Ok(toml::from_str(&text)?)
}

/// Path, first and last line, and name of a member as it is written down.
fn parts(member: &str) -> Result<(&str, usize, usize, &str)> {
    let read = || {
        let (place, name) = member.split_once(' ')?;
        let (path, lines) = place.rsplit_once(':')?;
        let (first, last) = lines.split_once('-')?;
        Some((path, first.parse().ok()?, last.parse().ok()?, name))
    };
    read().with_context(|| format!("{member:?} is no member"))
}

fn show(arguments: &Show) -> Result<()> {
    let labels = read_labels(&arguments.labels)?;
    let numbered = labels.group.iter().zip(1..);
    for (label, number) in numbered.skip(arguments.from - 1).take(arguments.count) {
        println!("#### {number} {} {} ({} members)", label.project, label.tier, label.members.len());
        let lines_of = |member: &str| -> Result<Vec<String>> {
            let (path, first, last, _) = parts(member)?;
            let text = fs::read_to_string(arguments.projects.join(&label.project).join(path))?;
            Ok(text.lines().skip(first - 1).take(last + 1 - first).map(str::to_owned).collect())
        };
        let first = lines_of(&label.members[0])?;
        for (at, member) in label.members.iter().enumerate().take(6) {
            println!("== {member}");
            let mine = if at == 0 { first.clone() } else { lines_of(member)? };
            if at == 0 || label.tier != "claim" {
                for line in mine.iter().take(arguments.lines) {
                    println!("{line}");
                }
                continue;
            }
            // What is not in the first member.
            let known: BTreeSet<&str> = first.iter().map(|line| line.trim()).collect();
            let other = mine.iter().map(|line| line.trim()).filter(|line| !known.contains(line));
            for line in other.take(8) {
                println!("  | {line}");
            }
        }
    }
    Ok(())
}

fn score(arguments: &Score) -> Result<()> {
    let labels = read_labels(&arguments.labels)?;
    let mut today: BTreeMap<(String, String), BTreeSet<Vec<String>>> = BTreeMap::new();
    for (project, pinned) in &labels.commits {
        let root = arguments.projects.join(project);
        let now = commit(&root)?;
        ensure!(now == *pinned, "{project} is at {now}, and the labels are of {pinned}");
        for group in groups(&root)? {
            let key = (project.clone(), tier(&group).to_owned());
            today.entry(key).or_default().insert(group.members.iter().map(said).collect());
        }
    }
    let mut text = String::from("# Precision: how many groups are what they are said to be\n\n");
    let _ = writeln!(
        text,
        "`cargo run -p benches --bin precision -- score --projects DIR`. Groups of {} projects at pinned commits, drawn with seed {} (of claims also all that were not drawn), read one by one; the labels with a reason each are in `labels/repeated.toml`. *Gone* are labelled groups that today's program does not report.\n\n| tier | labelled | gone | right | wrong | precision |\n| --- | --- | --- | --- | --- | --- |",
        labels.commits.len(),
        labels.seed
    );
    let tiers = ["claim", "near-miss", "other-callees", "block"];
    let mut wrong = Vec::new();
    let mut precision_of_claims = 0.0;
    for tier in tiers {
        let of_tier: Vec<&Label> = labels.group.iter().filter(|label| label.tier == tier).collect();
        let is_here = |label: &&&Label| {
            let key = (label.project.clone(), label.tier.clone());
            today.get(&key).is_some_and(|groups| groups.contains(&label.members))
        };
        let here: Vec<&&Label> = of_tier.iter().filter(is_here).collect();
        if let Some(unread) = of_tier.iter().find(|label| label.same.is_none()) {
            bail!("nobody has read {} {:?}", unread.project, unread.members);
        }
        let right = here.iter().filter(|label| label.same == Some(true)).count();
        wrong.extend(here.iter().filter(|label| label.same == Some(false)).map(|label| (**label).clone()));
        let precision = if here.is_empty() { 0.0 } else { 100.0 * right as f64 / here.len() as f64 };
        if tier == "claim" {
            precision_of_claims = precision;
            ensure!(
                10 * here.len() >= 9 * of_tier.len(),
                "only {} of {} labelled claims are reported: draw and label a new sample",
                here.len(),
                of_tier.len()
            );
        }
        let _ = writeln!(
            text,
            "| {tier} | {} | {} | {right} | {} | {precision:.1} % |",
            of_tier.len(),
            of_tier.len() - here.len(),
            here.len() - right
        );
    }
    text.push_str("\n## Wrong\n\n");
    for label in &wrong {
        let why = label.why.as_deref().unwrap_or_default();
        let _ = writeln!(text, "- {} ({}): {}: {why}", label.project, label.tier, label.members.join(", "));
    }
    print!("{text}");
    if let Some(out) = &arguments.out {
        fs::write(out, &text)?;
    }
    ensure!(precision_of_claims >= 95.0, "fewer than 95 of 100 claims are right");
    Ok(())
}
