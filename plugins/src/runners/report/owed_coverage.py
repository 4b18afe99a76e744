"""Measures with coverage.py when ``coverage.on`` lies beside this file: the settings are the
project's, the data and the report lie in ``coverage`` beside this file, so that nothing of the
caller's is touched. Where it cannot, ``coverage/unmeasured`` says why."""

import importlib.machinery
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))
_PLACE = os.path.join(_HERE, "coverage")
_RUNNING = None


def _unmeasured(why):
    with open(os.path.join(_PLACE, "unmeasured"), "w", encoding="utf-8") as out:
        out.write(why + "\n")


def is_on():
    return _RUNNING is not None


def start():
    global _RUNNING
    if not os.path.exists(os.path.join(_HERE, "coverage.on")):
        return
    # A folder of that name in the project is no package that is installed.
    project = ("", os.getcwd(), _HERE, sys.path[0])
    spec = importlib.machinery.PathFinder.find_spec("coverage", [at for at in sys.path if at not in project])
    if spec is None or spec.origin is None:
        _unmeasured("coverage.py is not installed for this interpreter")
        return
    try:
        import coverage

        measure = coverage.Coverage(data_file=os.path.join(_PLACE, "data"), data_suffix=False)
        omit = measure.get_option("run:omit") or []
        measure.set_option("run:omit", list(omit) + [os.path.join(_HERE, "*")])
        measure.start()
    except Exception as error:
        _unmeasured("coverage.py did not start: %s" % error)
        return
    _RUNNING = measure


def finish():
    if _RUNNING is None:
        return
    try:
        _RUNNING.stop()
        _RUNNING.save()
        _RUNNING.json_report(outfile=os.path.join(_PLACE, "coverage.json"))
    except Exception as error:
        _unmeasured("coverage.py left no report: %s" % error)
