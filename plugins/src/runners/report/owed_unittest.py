"""Runs unittest (or a Django-like manager) as ``python -m unittest`` does, and writes what
happened in each test file, one JSON object a line, to ``report.jsonl`` beside this file. A
report without its ``end`` line is truncated."""

import os
import sys

_PROGRAM = sys.argv[2] if len(sys.argv) > 2 and sys.argv[1] == "--program" else None
if not getattr(sys.flags, "safe_path", False):
    # What `python -m unittest` and `python PROGRAM` put first, before anything is imported
    # from there.
    sys.path[0] = os.getcwd() if _PROGRAM is None else os.path.dirname(os.path.abspath(_PROGRAM))

import importlib.util
import json
import runpy
import time
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
_PLACE = os.path.join(_HERE, "report.jsonl")


def _beside(name):
    """Another file of the run, which is on no path."""
    spec = importlib.util.spec_from_file_location("_" + name, os.path.join(_HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_LOADED = _beside("owed_loaded")
_MODULES = set()
_FILES = {}
_ERRORS = []
_STARTED = {}


def _file(test):
    # A file that could not be imported stands as a test of its own.
    loaded = getattr(test, "_owed_file", None)
    if loaded is not None:
        return loaded
    if type(test).__name__ == "_ErrorHolder":
        # `setUpClass (package.module.Class)`
        name = test.id().rsplit("(", 1)[-1].rstrip(")")
        while name and name not in sys.modules:
            name = name.rpartition(".")[0]
        path = getattr(sys.modules.get(name), "__file__", None)
        return None if path is None else os.path.abspath(path)
    missing = type(test).__name__ in ("_FailedTest", "ModuleImportFailure")
    name = getattr(test, "_testMethodName", "") if missing else type(test).__module__
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    if path is None and missing:
        path = name.replace(".", os.sep) + ".py"
        path = next((os.path.join(at or ".", path) for at in sys.path if os.path.exists(os.path.join(at or ".", path))), None)
    return None if path is None else os.path.abspath(path)


def _of(test):
    path = _file(test)
    return None if path is None else _at(path)


def _at(path):
    if path not in _FILES:
        _FILES[path] = {
            "file": path, "passed": 0, "failed": 0, "skipped": 0, "pending": 0,
            "retried": 0, "snapshots": 0, "ms": 0.0, "errors": [],
        }
    return _FILES[path]


def _tests(suite):
    stack = [suite]
    while stack:
        at = stack.pop()
        try:
            stack.extend(at)
        except TypeError:
            yield at


def _watch_loader():
    original = unittest.TestLoader.loadTestsFromModule

    def watched(self, module, *rest, **named):
        suite = original(self, module, *rest, **named)
        path = getattr(module, "__file__", None)
        if path is not None:
            # A class that the module imports runs as the module's own.
            path = os.path.abspath(path)
            _at(path)
            for test in _tests(suite):
                test._owed_file = path
        return suite

    unittest.TestLoader.loadTestsFromModule = watched


def _watch(name, note):
    original = getattr(unittest.TestResult, name)

    def watched(self, test, *rest):
        note(test, *rest)
        return original(self, test, *rest)

    setattr(unittest.TestResult, name, watched)


def _count(key):
    def note(test, *rest):
        into = _of(test)
        if into is None:
            _ERRORS.append("%s: %s" % (test, rest))
        else:
            into[key] += 1

    return note


def _error(test, err):
    into = _of(test)
    said = "%s: %s" % (test, err[1])
    if into is None:
        _ERRORS.append(said)
    else:
        into["failed"] += 1
        into["errors"].append(said)


def _subtest(test, subtest, err):
    if err is not None:
        into = _of(test)
        if into is not None:
            into["failed"] += 1


def _start(test):
    global _MODULES
    if not _STARTED and not _MODULES:
        # Everything is collected.
        _LOADED.stop()
        _MODULES = _LOADED.names()
    _STARTED[id(test)] = time.monotonic()


def _stop(test):
    into = _of(test)
    begun = _STARTED.pop(id(test), None)
    if into is not None and begun is not None:
        into["ms"] += (time.monotonic() - begun) * 1000
    global _MODULES
    now = _LOADED.names()
    if len(now) != len(_MODULES):
        path = _file(test)
        if path is not None:
            _LOADED.ran(path, _MODULES)
        _MODULES = now


def _write(interrupted):
    _LOADED.write(list(_FILES))
    with open(_PLACE, "w", encoding="utf-8") as out:
        out.write(json.dumps({"start": {"runner": "unittest", "version": sys.version.split()[0]}}) + "\n")
        for into in _FILES.values():
            into["ms"] = round(into["ms"])
            into["state"] = "fail" if into["failed"] or into["errors"] else "pass"
            out.write(json.dumps(into) + "\n")
        out.write(json.dumps({"end": {
            "files": len(_FILES), "interrupted": interrupted, "snapshots": 0, "errors": _ERRORS,
        }}) + "\n")


def _main():
    _LOADED.start()
    _watch_loader()
    _watch("startTest", _start)
    _watch("stopTest", _stop)
    _watch("addSuccess", _count("passed"))
    _watch("addFailure", _count("failed"))
    _watch("addError", _error)
    _watch("addSkip", _count("skipped"))
    _watch("addExpectedFailure", _count("passed"))
    _watch("addUnexpectedSuccess", _count("failed"))
    _watch("addSubTest", _subtest)
    interrupted = False
    status = 1
    try:
        if _PROGRAM is not None:
            sys.argv = sys.argv[2:]
            runpy.run_path(_PROGRAM, run_name="__main__")
            status = 0
        else:
            sys.argv[0] = "python -m unittest"
            unittest.main(module=None)
    except SystemExit as end:
        status = end.code
    except KeyboardInterrupt:
        interrupted = True
        status = 130
    _write(interrupted)
    sys.exit(status)


if __name__ == "__main__":
    _main()
