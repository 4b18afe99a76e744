"""Notes which files of Python each test file imports, for ``loaded.jsonl`` beside this file.

While tests are collected every ``import`` statement is seen with the module that it stands
in, so that what was loaded before for another file is known to be this one's as well. While
they run only modules that are new are noted: an import in a function costs nothing more than
it does without this."""

import builtins
import json
import os
import sys

_PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "loaded.jsonl")
_EDGES = {}
_NEW = {}
_ORIGINAL = builtins.__import__


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    if globals is not None:
        importer = globals.get("__name__")
        if importer is not None:
            try:
                _EDGES.setdefault(importer, set()).add(
                    (globals.get("__package__"), name, level, tuple(fromlist or ()))
                )
            except TypeError:
                pass
    return _ORIGINAL(name, globals, locals, fromlist, level)


def start():
    if builtins.__import__ is _ORIGINAL:
        builtins.__import__ = _import


def stop():
    """The end of collection: whoever has patched ``__import__`` since keeps his own."""
    if builtins.__import__ is _import:
        builtins.__import__ = _ORIGINAL


def names():
    return set(sys.modules)


def ran(path, before):
    """What is loaded now and was not before is what the tests of ``path`` loaded."""
    new = set(sys.modules) - before
    if new:
        _NEW.setdefault(path, set()).update(new)


def _file(name):
    module = sys.modules.get(name)
    path = getattr(module, "__file__", None)
    return os.path.abspath(path) if isinstance(path, str) and path.endswith(".py") else None


def _targets(package, name, level, fromlist):
    if level:
        parts = (package or "").split(".")
        base = ".".join(parts[: len(parts) - level + 1])
        name = base + "." + name if name and base else name or base
    found = []
    at = name
    while at:
        found.append(at)
        at = at.rpartition(".")[0]
    found.extend(name + "." + item for item in fromlist if isinstance(item, str))
    return [at for at in found if at in sys.modules]


def _closure(modules):
    seen = set()
    stack = [name for name in modules if name in sys.modules]
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file(name)
        # What is installed is known by its bytes; nothing of the project is behind it.
        if path is not None and ("site-packages" in path or "dist-packages" in path):
            continue
        for edge in _EDGES.get(name, ()):
            stack.extend(_targets(*edge))
    return seen


def write(files):
    """One line for each of the test files."""
    by_path = {}
    for name in list(sys.modules):
        path = _file(name)
        if path is not None:
            by_path.setdefault(path, []).append(name)
    with open(_PLACE, "w", encoding="utf-8") as out:
        for path in files:
            modules = _closure(by_path.get(path, []))
            modules |= _NEW.get(path, set())
            loaded = sorted({at for at in map(_file, modules) if at is not None})
            out.write(json.dumps({"file": path, "loaded": loaded, "whole": False}) + "\n")
