//! Mutations of what is around the sources: environment, packages, lock files, configuration,
//! programs, git's own bookkeeping, receipts, and the place of the project.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use anyhow::Result;
use fastrand::Rng;

use super::{choose, replaced};
use crate::world::{Kind, Machine, Thing, World, git, site_packages};

/// Names that tests or runners read, and values that make a difference.
pub(super) fn environment(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    const SHARED: &[(&str, &[&str])] = &[
        ("TZ", &["Asia/Tokyo", "America/New_York", "", "UTC"]),
        ("LC_ALL", &["C", "de_DE.UTF-8", "en_US.UTF-8", ""]),
        ("LANG", &["de_DE.UTF-8", "C"]),
        ("LANGUAGE", &["fr"]),
        ("LEVEL0", &["", "x", "bad"]),
        ("LEVEL1", &["", "y"]),
        ("LEVEL2", &["bad"]),
        ("FLAG0", &["", "f", "bad"]),
        ("FLAG1", &["g"]),
        ("NOBODY_READS", &["1", ""]),
        ("SHLVL", &["3", "4"]),
        ("OLDPWD", &["/"]),
        ("GIT_PREFIX", &["x/"]),
        ("CI", &["true"]),
        ("HOME", &["/tmp"]),
    ];
    const NODE: &[(&str, &[&str])] = &[
        (
            "NODE_OPTIONS",
            &["--no-warnings", "--conditions=alt", "--require ./preset.cjs", "--import ./preset.mjs", ""],
        ),
        ("NODE_PATH", &["alt_modules", ""]),
        ("NODE_ENV", &["production", "test"]),
        ("NODE_NO_WARNINGS", &["1"]),
        ("NODE_PRESERVE_SYMLINKS", &["1"]),
    ];
    const PYTHON: &[(&str, &[&str])] = &[
        ("PYTHONHASHSEED", &["0", "7"]),
        ("PYTHONOPTIMIZE", &["1", "2"]),
        ("PYTHONPATH", &["alt", "nowhere", ""]),
        ("PYTHONWARNINGS", &["error", "ignore"]),
        ("PYTHONUTF8", &["1", "0"]),
        ("PYTHONDONTWRITEBYTECODE", &["1"]),
        ("PYTHONSAFEPATH", &["1"]),
        ("PYTEST_ADDOPTS", &["-q", "-p no:cacheprovider"]),
        ("PYTEST_DISABLE_PLUGIN_AUTOLOAD", &["1"]),
    ];
    let own = if world.kind.is_python() { PYTHON } else { NODE };
    let all: Vec<_> = SHARED.iter().chain(own).collect();
    let Some((name, values)) = rng.choice(all) else { return Ok(None) };
    let unset = world.environment.contains_key(*name) && rng.u32(..3) == 0;
    let Some(value) = rng.choice(values.iter()).filter(|_| !unset) else {
        world.environment.remove(*name);
        return Ok(Some(format!("{name} unset")));
    };
    world.environment.insert((*name).to_owned(), (*value).to_owned());
    Ok(Some(format!("{name}={value}")))
}

/// What options in the environment load: the name stays, the file does not.
pub(super) fn named_by_environment(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let value = format!("v{}", rng.u32(1..90));
    let (name, setting, path, text) = if world.kind.is_python() {
        match rng.u32(..3) {
            0 => ("PYTHONPATH", "alt", format!("alt/extra{}.py", rng.u32(..3)), format!("V = \"{value}\"\n")),
            1 => ("PYTHONPATH", "alt", format!("alt/dep{}.py", rng.u32(..3)), format!("V = \"{value}\"\n")),
            _ => (
                "PYTHONPATH",
                "alt",
                "alt/sitecustomize.py".to_owned(),
                "import builtins\nbuiltins.hash = len\n".to_owned(),
            ),
        }
    } else {
        match rng.u32(..3) {
            0 => (
                "NODE_OPTIONS",
                "--require ./preset.cjs",
                "preset.cjs".to_owned(),
                format!("globalThis.preset = \"{value}\";\n"),
            ),
            1 => (
                "NODE_OPTIONS",
                "--import ./preset.mjs",
                "preset.mjs".to_owned(),
                format!("globalThis.preset = \"{value}\";\n"),
            ),
            _ => (
                "NODE_PATH",
                "alt_modules",
                format!("alt_modules/common{}/index.js", rng.u32(..3)),
                format!("exports.v = \"{value}\";\n"),
            ),
        }
    };
    world.environment.insert(name.to_owned(), setting.to_owned());
    world.put(&path, &Thing::File(text.into(), false))?;
    Ok(Some(format!("{name}={setting}, {path}: {value}")))
}

pub(super) fn package(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let value = format!("v{}", rng.u32(1..90));
    if world.kind == Kind::Bare {
        return Ok(None);
    }
    if world.kind.is_python() {
        let Some(site) = site_packages(&world.root.join(".venv")) else { return Ok(None) };
        let Ok(site) = site.strip_prefix(&world.root).map(|s| s.to_string_lossy().into_owned()) else {
            return Ok(None);
        };
        let n = rng.u32(..3);
        let (path, text) = match rng.u32(..7) {
            0 => (format!("{site}/dep{n}/sub.py"), format!("V = \"{value}\"\n")),
            1 => (format!("{site}/dep{n}-1.0.dist-info/METADATA"), format!("Name: dep{n}\nVersion: 1.{n}\n")),
            2 => (format!("{site}/extra{n}.py"), format!("V = \"{value}\"\n")),
            3 => (format!("{site}/more.pth"), "../../../../alt\n".to_owned()),
            4 => (format!("{site}/code.pth"), "import builtins; builtins.hash = len\n".to_owned()),
            5 => (format!("{site}/sitecustomize.py"), "import builtins\nbuiltins.hash = id\n".to_owned()),
            _ => {
                world.put(
                    &format!("{site}/plug.py"),
                    &Thing::File(
                        b"def pytest_runtest_setup(item):\n    raise RuntimeError(\"bad\")\n".to_vec(),
                        false,
                    ),
                )?;
                world.put(
                    &format!("{site}/plug-1.dist-info/METADATA"),
                    &Thing::File(b"Name: plug\nVersion: 1\n".to_vec(), false),
                )?;
                (format!("{site}/plug-1.dist-info/entry_points.txt"), "[pytest11]\nplug = plug\n".to_owned())
            }
        };
        world.put(&path, &Thing::File(text.into(), false))?;
        return Ok(Some(path));
    }
    let Some(path) = choose(world, rng, |p| p.starts_with("node_modules/") || p.starts_with("packages/"))?
    else {
        return Ok(None);
    };
    let Thing::File(bytes, _) = world.thing(&path)? else { return Ok(None) };
    let Ok(text) = String::from_utf8(bytes) else { return Ok(None) };
    let text = if path.ends_with("package.json") {
        text.replace("1.0.0", &format!("1.0.{}", rng.u32(1..9)))
    } else {
        replaced(&text, &value).unwrap_or(text + "// patched\n")
    };
    world.put(&path, &Thing::File(text.into(), false))?;
    Ok(Some(path))
}

pub(super) fn lock(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let (path, text) = if world.kind.is_python() {
        ("requirements.txt", format!("dep{}=={}\n", rng.u32(..3), rng.u32(1..9)))
    } else {
        let version = rng.u32(1..9);
        (
            "package-lock.json",
            match rng.u32(..3) {
                0 => "{ \"broken\"".to_owned(),
                n => format!(
                    "{{ \"name\": \"fuzzed\", \"lockfileVersion\": 3, \"packages\": {{ \"\": {{ \"name\": \"fuzzed\" }}, \"node_modules/dep{n}\": {{ \"version\": \"1.0.{version}\" }} }} }}\n"
                ),
            },
        )
    };
    world.put(path, &Thing::File(text.into(), false))?;
    Ok(Some(path.to_owned()))
}

pub(super) fn configuration(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let edits: &[(&str, &str, &str)] = match world.kind {
        Kind::Node => &[
            ("package.json", "./lib/picked.js", "./lib/other.js"),
            ("package.json", "node --test", "node --conditions=alt --test"),
            ("package.json", "node --test", "node --import ./preset.mjs --test"),
            ("package.json", "\"./lib/*\"", "\"./lib/../lib/*\""),
            ("package.json", "\"version\": \"1.0.0\"", "\"version\": \"1.0.1\""),
            ("owed.toml", "schema/**", "schema/*.txt"),
        ],
        Kind::Vitest => &[
            ("vitest.config.js", "./lib", "./src"),
            ("vitest.config.js", "setupFiles: [\"./setup.js\"],", ""),
            ("vitest.config.js", "test: {", "test: { globals: true,"),
            ("package.json", "\"version\": \"1.0.0\"", "\"version\": \"1.0.1\""),
        ],
        Kind::Jest => &[
            ("package.json", "<rootDir>/lib/$1", "<rootDir>/src/$1"),
            ("package.json", "\"setupFiles\": [\"./setup.js\"],", ""),
            ("package.json", "\"version\": \"1.0.0\"", "\"version\": \"1.0.1\""),
        ],
        Kind::Pytest => &[
            ("pyproject.toml", "testpaths = [\"tests\"]", "testpaths = [\"tests\"]\npythonpath = [\"alt\"]"),
            (
                "pyproject.toml",
                "testpaths = [\"tests\"]",
                "testpaths = [\"tests\"]\naddopts = \"--import-mode=importlib\"",
            ),
            ("pyproject.toml", "version = \"0\"", "version = \"1\""),
        ],
        Kind::Unittest | Kind::Bare => &[
            ("pyproject.toml", "version = \"0\"", "version = \"1\""),
            ("owed.toml", "schema/**", "schema/*.txt"),
        ],
    };
    let Some((path, from, to)) = rng.choice(edits) else { return Ok(None) };
    let at = world.root.join(path);
    let Ok(text) = fs::read_to_string(&at) else { return Ok(None) };
    if !text.contains(from) {
        return Ok(None);
    }
    fs::write(&at, text.replacen(from, to, 1))?;
    Ok(Some(format!("{path}: {from} -> {to}")))
}

/// Another program under the same name: other bytes, a script that starts one, or what such a
/// script reads.
pub(super) fn program(world: &mut World, machine: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let python = world.kind.is_python();
    let candidates: Vec<&PathBuf> =
        if python { machine.pythons.iter().collect() } else { machine.nodes.iter().collect() };
    let Some(&target) = rng.choice(&candidates) else { return Ok(None) };
    let name = if python { "python3" } else { "node" };
    let bin = world.root.with_file_name("bin");
    let link = bin.join(name);
    let chosen = bin.join(format!("{name}.chosen"));
    let set = |to: &Path| -> Result<()> {
        let _ = fs::remove_file(&link);
        Ok(symlink(to, &link)?)
    };
    match rng.u32(..6) {
        0 if world.kind == Kind::Unittest || world.kind == Kind::Pytest => {
            let venv = world.root.join(".venv/bin/python");
            let _ = fs::remove_file(&venv);
            symlink(target, &venv)?;
            Ok(Some(format!(".venv/bin/python -> {}", target.display())))
        }
        0 | 1 => {
            set(target)?;
            Ok(Some(format!("{name} -> {}", target.display())))
        }
        2 | 3 => {
            let _ = fs::remove_file(&link);
            let script =
                "#!/bin/sh\nexec \"$(cat \"$(dirname \"$0\")/NAME.chosen\")\" \"$@\"\n".replace("NAME", name);
            fs::write(&chosen, target.as_os_str().as_encoded_bytes())?;
            fs::write(&link, script)?;
            fs::set_permissions(&link, fs::Permissions::from_mode(0o755))?;
            Ok(Some(format!("{name} is a script that starts {}", target.display())))
        }
        4 => {
            let _ = fs::remove_file(&link);
            let words = if python { "LEVEL0=bad" } else { "LEVEL1=y" };
            fs::write(&link, format!("#!/bin/sh\n{words} exec {} \"$@\"\n", target.display()))?;
            fs::set_permissions(&link, fs::Permissions::from_mode(0o755))?;
            Ok(Some(format!("{name} is a script that sets {words}")))
        }
        _ if chosen.is_file() => {
            fs::write(&chosen, target.as_os_str().as_encoded_bytes())?;
            Ok(Some(format!("the script for {name} reads {} now", target.display())))
        }
        _ => Ok(None),
    }
}

pub(super) fn bookkeeping(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let root = world.root.clone();
    let tracked = |path: &str| path.starts_with("src/") || path.starts_with("app/");
    match rng.u32(..5) {
        0 => {
            git(&root, &["add", "-A"])?;
            git(&root, &["commit", "-q", "--allow-empty", "-m", "more"])?;
            Ok(Some("commit".to_owned()))
        }
        n @ (1 | 2) => {
            let Some(path) = choose(world, rng, tracked)? else { return Ok(None) };
            let word = if n == 1 { "--assume-unchanged" } else { "--skip-worktree" };
            git(&root, &["add", "-A"])?;
            if git(&root, &["update-index", word, &path]).is_err() {
                return Ok(None);
            }
            Ok(Some(format!("{word} {path}")))
        }
        3 => {
            let Some(path) = choose(world, rng, tracked)? else { return Ok(None) };
            let ignore = root.join(".gitignore");
            let text = fs::read_to_string(&ignore).unwrap_or_default();
            fs::write(&ignore, format!("{text}/{path}\n"))?;
            git(&root, &["rm", "-q", "--cached", "--ignore-unmatch", &path])?;
            Ok(Some(format!("{path} is ignored")))
        }
        _ => {
            git(&root, &["add", "-A"])?;
            Ok(Some("staged".to_owned()))
        }
    }
}

/// Damage to what was recorded: it may cost receipts, and must not make any.
pub(super) fn receipts(world: &mut World, _: &Machine, rng: &mut Rng) -> Result<Option<String>> {
    let folder = ["passed", "tables", "last"][rng.usize(..3)];
    let dir = world.root.join(".owed/receipts").join(folder);
    let Ok(entries) = fs::read_dir(&dir) else { return Ok(None) };
    let mut files: Vec<PathBuf> = entries.filter_map(|e| Some(e.ok()?.path())).collect();
    files.sort();
    if files.len() < 2 {
        return Ok(None);
    }
    let (a, b) = (rng.usize(..files.len()), rng.usize(..files.len()));
    let (from, to) = (fs::read(&files[a])?, fs::read(&files[b])?);
    let what = match rng.u32(..5) {
        0 => {
            fs::write(&files[a], &from[..from.len() / 2])?;
            "cut"
        }
        1 => {
            fs::write(&files[a], &to)?;
            "another one's"
        }
        2 => {
            let mut bytes = from;
            let at = rng.usize(..bytes.len().max(1));
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1;
            }
            fs::write(&files[a], bytes)?;
            "one bit"
        }
        3 => {
            fs::remove_file(&files[a])?;
            "gone"
        }
        _ => {
            fs::remove_dir_all(world.root.join(".owed/cache")).ok();
            "and the cache is gone"
        }
    };
    Ok(Some(format!("{folder}: {what}")))
}

pub(super) fn moved(world: &mut World, _: &Machine, _: &mut Rng) -> Result<Option<String>> {
    let name = world.root.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
    let to = world.root.with_file_name(match name.strip_suffix("-moved") {
        Some(first) => first.to_owned(),
        None => format!("{name}-moved"),
    });
    fs::rename(&world.root, &to)?;
    world.root = to;
    Ok(Some(world.root.display().to_string()))
}
