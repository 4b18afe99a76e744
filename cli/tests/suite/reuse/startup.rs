//! What Python runs of itself before any test: code that may change what is built in.

use std::fs;

use super::cases::{Case, case};
use crate::harness::Project;

const PY: &str = "py/tests/test_a.py";

/// A virtual environment for the Python of the project, and where its packages lie.
fn environment(project: &Project) -> std::path::PathBuf {
    let venv = project.path().join(".venv");
    let made =
        std::process::Command::new("python3").args(["-m", "venv", "--without-pip"]).arg(&venv).status();
    assert!(made.unwrap().success(), "python3 -m venv");
    let lib = fs::read_dir(venv.join("lib")).unwrap().next().unwrap().unwrap().path();
    lib.join("site-packages")
}

pub(super) const CASES: &[Case] = &[
    Case {
        name: "a module that customises every process, by PYTHONPATH",
        does: |p| p.write("py/more/sitecustomize.py", "import builtins\nbuiltins.hash = id\n"),
        environment: &[("PYTHONPATH", "more")],
        arguments: &[],
        test: PY,
        want: "passed not-looked-at",
    },
    Case {
        name: "an archive of modules, by PYTHONPATH",
        does: |p| p.write("py/more.zip", "PK"),
        environment: &[("PYTHONPATH", "more.zip")],
        arguments: &[],
        test: PY,
        want: "passed not-looked-at more.zip of PYTHONPATH is an archive",
    },
    case("a package that customises every process", PY, "passed not-looked-at", |p| {
        let site = environment(p);
        fs::write(site.join("sitecustomize.py"), "import builtins\nbuiltins.hash = id\n").unwrap();
    }),
    case("code in a .pth file that changes something", PY, "passed not-looked-at", |p| {
        fs::write(environment(p).join("x.pth"), "import builtins; builtins.hash = id\n").unwrap();
    }),
    case("code in a .pth file that setuptools writes", PY, "passed inputs-differ", |p| {
        let line = "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; \
                    enabled and __import__('_distutils_hack').add_shim(); ";
        let site = environment(p);
        fs::create_dir(site.join("_distutils_hack")).unwrap();
        fs::write(site.join("_distutils_hack/__init__.py"), "def add_shim(): pass\n").unwrap();
        fs::write(site.join("distutils-precedence.pth"), line).unwrap();
    }),
];
