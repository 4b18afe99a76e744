"""The functions of a Python file, their tokens, and its imports, by CPython's own `ast` and
`tokenize`.

Every token counts that `tokenize` yields, but comments, line ends, indentation, markers and
docstrings.
"""

import ast
import base64
import codecs
import io
import json
import re
import tokenize
import warnings
from bisect import bisect_left

warnings.simplefilter("ignore")

NONE = {
    tokenize.ENCODING, tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE,
    tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DOCUMENTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def measure(path, source):
    source = base64.b64decode(source)
    answer = {"path": path, "fault": None, "line": None, "functions": [], "imports": []}
    try:
        tree = ast.parse(source, path)
        compile(source, path, "exec", dont_inherit=True)
    except SyntaxError as fault:
        answer["fault"], answer["line"] = fault.msg, fault.lineno
        return json.dumps(answer)
    except (ValueError, RecursionError, MemoryError) as fault:
        answer["fault"] = repr(fault)
        return json.dumps(answer)
    try:
        answer["functions"], answer["imports"] = facts(tree, source)
    except (SyntaxError, tokenize.TokenError) as fault:
        answer["fault"] = "tokenize: " + str(fault)
    return json.dumps(answer)


def facts(tree, source):
    encoding, _ = tokenize.detect_encoding(io.BytesIO(source).readline)
    text = source.decode(encoding)
    mark = len(codecs.BOM_UTF8) if source.startswith(codecs.BOM_UTF8) else 0
    text = text.removeprefix("\ufeff")
    # Places are those of the text as written, in UTF-8.
    pieces = re.split("(\r\n|\r|\n)", text)
    lines, ends = pieces[::2], pieces[1::2]
    starts = [mark]
    for line, end in zip(lines, ends + [""]):
        starts.append(starts[-1] + len(line.encode()) + len(end))
    text = "\n".join(lines)

    def of_characters(row, column):
        return starts[row - 1] + len(lines[row - 1][:column].encode())

    def of_bytes(row, column):
        return starts[row - 1] + column

    # The tokenizer keeps the end of file apart; a last line without a break is fine.
    tokens = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NONE:
            tokens.append((of_characters(*token.start), token.type == tokenize.STRING, token.string))
    places = [token[0] for token in tokens]
    documented = set()
    found = []
    imports = []
    stack = [(tree, -1)]
    while stack:
        node, parent = stack.pop()
        if isinstance(node, DOCUMENTED) and node.body:
            first = node.body[0]
            if (isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
                    and isinstance(first.value.value, str)):
                value = first.value
                begin = bisect_left(places, of_bytes(value.lineno, value.col_offset))
                end = bisect_left(places, of_bytes(value.end_lineno, value.end_col_offset))
                documented.update(at for at in range(begin, end) if tokens[at][1])
        if isinstance(node, ast.Import):
            for alias in node.names:
                imports.append([of_bytes(alias.lineno, alias.col_offset),
                                of_bytes(alias.end_lineno, alias.end_col_offset), alias.name])
        if isinstance(node, ast.ImportFrom):
            imports.append([of_bytes(node.lineno, node.col_offset),
                            of_bytes(node.end_lineno, node.end_col_offset),
                            "." * node.level + (node.module or "")])
        if isinstance(node, FUNCTIONS):
            start = of_bytes(node.lineno, node.col_offset)
            end = of_bytes(node.end_lineno, node.end_col_offset)
            found.append([start, end, parent])
            parent = len(found) - 1
        children = list(ast.iter_child_nodes(node))
        # Decorators are of the function around.
        decorators = {id(it) for it in getattr(node, "decorator_list", [])}
        for child in reversed(children):
            around = found[parent][2] if id(child) in decorators and isinstance(node, FUNCTIONS) else parent
            stack.append((child, around))
    before = [0]
    for at in range(len(tokens)):
        before.append(before[-1] + (at not in documented))
    totals = []
    for start, end, _ in found:
        totals.append(before[bisect_left(places, end)] - before[bisect_left(places, start)])
    own = list(totals)
    for at, (_, _, parent) in enumerate(found):
        if parent >= 0:
            own[parent] -= totals[at]
    answer = [[start, end, own[at], totals[at]] for at, (start, end, _) in enumerate(found)]
    return sorted(answer, key=lambda it: (it[0], -it[1])), sorted(imports)
