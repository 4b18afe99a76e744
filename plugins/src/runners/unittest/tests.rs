//! What unittest discovers.

use super::*;
use crate::runners::pytest::tests::{facts_of, with_view};

#[test]
fn finds_test_cases_by_name_and_facts() {
    let files = [
        ("tests/test_a.py", "import unittest #case"),
        ("tests/test_empty.py", ""),
        ("tests/helper.py", ""),
        ("pkg/__init__.py", ""),
        ("pkg/test_b.py", "#case"),
    ];
    with_view(&files, |view| {
        let found = Unittest.discover(view);
        let shape: Vec<_> = found
            .projects
            .iter()
            .map(|p| (p.name.clone(), p.tests.iter().map(|t| t.path.as_str()).collect::<Vec<_>>()))
            .collect();
        assert_eq!(
            shape,
            [(None, vec!["pkg/test_b.py"]), (Some("tests".to_owned()), vec!["tests/test_a.py"])]
        );
        let commands = Unittest.command(&found.projects[0], &["pkg/test_b.py"]);
        assert_eq!(commands[0].argv, ["python", "-m", "unittest", "pkg/test_b.py"]);
        let commands = Unittest.command(&found.projects[1], &["tests/test_a.py"]);
        assert_eq!(commands[0].argv.join(" "), "python -m unittest discover -s tests -t tests -p test_a.py");
    });
    assert!(!facts_of("").tests.iter().any(|_| true));
}

#[test]
fn scripts_name_start_directories_and_patterns() {
    let files = [
        ("Makefile", "t:\n\tpython -m unittest discover -s spec -p 'check_*.py'\n"),
        ("spec/inner/check_a.py", "#case"),
        ("spec/inner/__init__.py", ""),
        ("spec/notes.py", "#case"),
    ];
    with_view(&files, |view| {
        let project = Unittest.discover(view).projects.remove(0);
        assert_eq!(project.name.as_deref(), Some("spec"));
        assert_eq!(project.resolve.source_roots[0], "spec");
        let argv = &Unittest.command(&project, &["spec/inner/check_a.py"])[0].argv;
        assert_eq!(argv.join(" "), "python -m unittest discover -s spec/inner -t spec -p check_a.py");
    });
}

#[test]
fn django_is_run_by_its_manager() {
    let files = [
        ("manage.py", "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site.settings')"),
        ("site/__init__.py", ""),
        ("site/settings.py", ""),
        ("shop/__init__.py", ""),
        ("shop/tests.py", "import django #case"),
    ];
    with_view(&files, |view| {
        let found = Unittest.discover(view);
        let project = &found.projects[0];
        assert_eq!(project.name.as_deref(), Some("manage.py"));
        let shared: Vec<_> = project.shared.iter().map(|s| &s.target).collect();
        assert!(shared.contains(&&Target::File("manage.py".to_owned())));
        let commands = Unittest.command(project, &["shop/tests.py"]);
        assert_eq!(commands[0].argv, ["python", "manage.py", "test", "shop.tests"]);
    });
}
