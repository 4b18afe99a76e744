"""Runs pytest as ``python -m pytest`` does, and writes what happened in each test file,
one JSON object a line, to ``report.jsonl`` beside this file. A report without its ``end``
line is truncated."""

import os
import sys

if not getattr(sys.flags, "safe_path", False):
    # What `python -m pytest` puts first, before anything is imported from there.
    sys.path[0] = os.getcwd()

import importlib.util
import json

_HERE = os.path.dirname(os.path.abspath(__file__))
_PLACE = os.path.join(_HERE, "report.jsonl")


def _beside(name):
    """Another file of the run, which is on no path."""
    spec = importlib.util.spec_from_file_location("_" + name, os.path.join(_HERE, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_LOADED = _beside("owed_loaded")


class _Report:
    def __init__(self):
        self.files = {}
        self.errors = []
        self.cases = {}
        self.interrupted = False
        self.root = None
        self.unmeasured = []
        self.modules = set()

    def _of(self, path):
        if path not in self.files:
            self.files[path] = {
                "file": path, "passed": 0, "failed": 0, "skipped": 0, "pending": 0,
                "retried": 0, "snapshots": 0, "ms": 0.0, "errors": [],
            }
        return self.files[path]

    def _path(self, nodeid, config_root):
        return os.path.normpath(os.path.join(config_root, nodeid.split("::", 1)[0]))

    def pytest_configure(self, config):
        self.root = str(getattr(config, "rootpath", None) or config.rootdir)
        self.version = sys.modules["pytest"].__version__
        # Workers of xdist share what a receipt would have to know apart.
        workers = getattr(config.option, "numprocesses", None)
        self.unmeasured = ["xdist"] if workers else []

    def pytest_collection_finish(self, session):
        _LOADED.stop()
        self.modules = _LOADED.names()

    def pytest_runtest_logfinish(self, nodeid, location):
        # Fixtures of a module are torn down with its last test, so this is after them.
        path = self._path(nodeid, self.root)
        now = _LOADED.names()
        if len(now) != len(self.modules):
            _LOADED.ran(path, self.modules)
            self.modules = now

    def pytest_collectreport(self, report):
        if report.failed:
            said = str(report.longrepr)
            if report.nodeid:
                self._of(self._path(report.nodeid, self.root))["errors"].append(said)
            else:
                self.errors.append(said)
        elif report.skipped and report.nodeid:
            self._of(self._path(report.nodeid, self.root))["skipped"] += 1

    def pytest_runtest_logreport(self, report):
        into = self._of(self._path(report.nodeid, self.root))
        into["ms"] += report.duration * 1000
        key = report.nodeid
        seen = self.cases.setdefault(key, {"setups": 0, "outcome": None})
        if report.when == "setup":
            seen["setups"] += 1
        if report.outcome == "rerun":
            seen["rerun"] = True
            return
        if report.failed:
            if report.when == "call":
                seen["outcome"] = "failed"
            else:
                into["errors"].append("%s: %s" % (report.when, report.longrepr))
                seen["outcome"] = seen["outcome"] or "error"
        elif report.skipped:
            # An expected failure that failed is skipped with a word of its own.
            seen["outcome"] = "passed" if hasattr(report, "wasxfail") else "skipped"
        elif report.when == "call" and seen["outcome"] != "failed":
            seen["outcome"] = "passed"

    def pytest_keyboard_interrupt(self, excinfo):
        self.interrupted = True

    def pytest_internalerror(self, excrepr):
        self.errors.append(str(excrepr))

    def finish(self, status):
        for nodeid, seen in self.cases.items():
            into = self._of(self._path(nodeid, self.root))
            if seen["outcome"] in ("passed", "failed", "skipped"):
                into[seen["outcome"]] += 1
            elif seen["outcome"] == "error":
                into["failed"] += 1
            elif seen["outcome"] is None:
                into["pending"] += 1
            if seen.get("rerun") or (seen["setups"] > 1):
                into["retried"] += 1
        _LOADED.write(list(self.files))
        with open(_PLACE, "w", encoding="utf-8") as out:
            out.write(json.dumps({"start": {"runner": "pytest", "version": getattr(self, "version", None)}}) + "\n")
            for into in self.files.values():
                into["ms"] = round(into["ms"])
                into["state"] = "fail" if into["failed"] or into["errors"] else "pass"
                out.write(json.dumps(into) + "\n")
            out.write(json.dumps({"end": {
                "files": len(self.files), "interrupted": self.interrupted or int(status) == 2,
                "snapshots": 0, "errors": self.errors, "unmeasured": self.unmeasured,
            }}) + "\n")


def _main():
    sys.argv[0] = "pytest"
    import pytest

    _LOADED.start()
    report = _Report()
    status = pytest.main(sys.argv[1:], plugins=[report])
    if report.root is not None:
        report.finish(status)
    sys.exit(int(status))


if __name__ == "__main__":
    _main()
