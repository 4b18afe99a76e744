//! Children as they behave, with a real node and a real Python.

use super::*;

const LIMITS: Limits =
    Limits { deadline: Duration::from_secs(20), output: 4 << 20, heap: 768, address_space: 4096 };

struct Site {
    dir: tempfile::TempDir,
    limits: Limits,
}

impl Site {
    fn new(limits: Limits) -> Self {
        let site = Self { dir: tempfile::tempdir().unwrap(), limits };
        site.write("pkg/node_modules/dep/index.js", "module.exports = 'the dependency';");
        site
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn node(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        let root = self.dir.path().canonicalize().unwrap();
        BoundedChild::new(&root, self.limits).load("node", program, "pkg", arguments)
    }
}

#[test]
fn a_program_runs_in_its_directory_with_its_arguments() {
    let site = Site::new(LIMITS);
    let program = r#"
        import { createRequire } from "node:module";
        const require = createRequire(process.cwd() + "/x.js");
        console.log(require("dep"), JSON.stringify(process.argv.slice(2)));
    "#;
    let said = site.node(program, &["a b", "$HOME; \"'\n", ""]).unwrap();
    assert_eq!(said, "the dependency [\"a b\",\"$HOME; \\\"'\\n\",\"\"]\n");
    assert_eq!(
        site.node("process.stdin.on('end', () => console.log('end')).resume()", &[]).unwrap(),
        "end\n"
    );
}

#[test]
fn d6_a_child_has_a_small_heap_and_one_worker() {
    let site = Site::new(Limits::default());
    let program = "console.log(process.execArgv.join(), process.env.VITEST_MAX_WORKERS)";
    assert_eq!(site.node(program, &[]).unwrap(), "--max-old-space-size=768 1\n");
}

#[test]
fn a_failure_is_one_line() {
    let site = Site::new(LIMITS);
    let fails = |program: &str| site.node(program, &[]).unwrap_err();
    assert_eq!(
        fails("console.error('noise'); throw new TypeError('no such option')"),
        "`node` exited with code 1: TypeError: no such option"
    );
    assert_eq!(fails("process.exit(3)"), "`node` exited with code 3");
    assert_eq!(fails("process.kill(process.pid, 'SIGTERM')"), "`node` was ended by a signal");
    let machine = fails("import('/nowhere' + process.cwd() + '/x.js')");
    assert!(!machine.contains(site.dir.path().to_str().unwrap()), "{machine}");
    let away = BoundedChild::new(site.dir.path(), LIMITS).load("node", "", "../x", &[]);
    assert_eq!(away.unwrap_err(), "the working directory lies outside of the project");
}

#[test]
fn a_deadline_ends_the_whole_group() {
    let limits = Limits { deadline: Duration::from_millis(700), ..LIMITS };
    let site = Site::new(limits);
    let file = site.dir.path().join("pid");
    let program = r#"
        import { spawn } from "node:child_process";
        import { writeFileSync } from "node:fs";
        const helper = spawn("sleep", ["600"], { stdio: "inherit" });
        writeFileSync(process.argv[2], String(helper.pid));
    "#;
    let begin = Instant::now();
    let error = site.node(program, &[file.to_str().unwrap()]).unwrap_err();
    assert_eq!(error, "`node` took longer than 700ms and was ended");
    assert!(begin.elapsed() < Duration::from_secs(5));
    assert!(!is_alive(&std::fs::read_to_string(&file).unwrap()), "helpers end as well");
}

#[test]
fn helpers_do_not_outlive_a_child_that_ends() {
    let site = Site::new(LIMITS);
    let program = r#"
        import { spawn } from "node:child_process";
        const helper = spawn("sleep", ["600"], { stdio: "inherit" });
        console.log(helper.pid);
        process.exitCode = 0;
        setTimeout(() => process.exit(), 50);
    "#;
    let begin = Instant::now();
    let pid = site.node(program, &[]).unwrap();
    assert!(begin.elapsed() < Duration::from_secs(10), "its open pipe holds nobody up");
    assert!(!is_alive(pid.trim()));
}

#[test]
fn output_is_limited_and_said_to_be() {
    let site = Site::new(Limits { output: 1000, ..LIMITS });
    let error = site.node("for (;;) console.log('x'.repeat(99))", &[]).unwrap_err();
    assert_eq!(error, "`node` printed more than 1000 bytes and was ended");
    let exact = site.node("process.stdout.write('x'.repeat(1000))", &[]).unwrap();
    assert_eq!(exact.len(), 1000);
    let noisy = site.node("process.stderr.write('x'.repeat(1e6)); console.log('ok')", &[]);
    assert_eq!(noisy.unwrap(), "ok\n", "warnings hold nobody up");
    assert!(site.node("process.stdout.write(Buffer.from([255]))", &[]).unwrap_err().contains("UTF-8"));
}

#[test]
fn memory_is_limited() {
    let site = Site::new(Limits { heap: 16, ..LIMITS });
    let error = site.node("const all = []; for (;;) all.push(new Array(1e4).fill({}))", &[]).unwrap_err();
    assert_eq!(error, "`node` needed more than 16 MiB of memory");
}

#[test]
fn python_runs_from_the_environment_of_the_project() {
    let site = Site::new(LIMITS);
    let root = site.dir.path();
    let load =
        |program: &str, cwd: &str| BoundedChild::new(root, LIMITS).load("python", program, cwd, &["ü"]);
    if find("python", root, "").is_none() {
        return;
    }
    assert_eq!(load("import sys; print(sys.argv[1:])", "").unwrap(), "['ü']\n");
    assert_eq!(
        load("def f(): raise ValueError('no')\nf()", "pkg").unwrap_err(),
        "`python` exited with code 1: ValueError: no"
    );
    assert!(load("x = bytearray(1 << 40)", "").unwrap_err().contains("MemoryError"));
    site.write(".venv/bin/python", "#!/bin/sh\necho own\n");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let file = root.join(".venv/bin/python");
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(load("", "pkg").unwrap(), "own\n");
    }
}

#[test]
fn what_is_not_installed_is_named() {
    let error = BoundedChild::new(Path::new("/"), LIMITS).load("no-such-program", "", "", &[]);
    assert!(error.unwrap_err().starts_with("`no-such-program` was not found"));
}

fn is_alive(pid: &str) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    // A killed process stays as a zombie until its new parent looks.
    !status.is_empty() && !status.contains(") Z ")
}
