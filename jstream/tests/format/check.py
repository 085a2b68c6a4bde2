"""Reads all vectors by read.py, and compares; with --damaged, messages from the standard input. Ends with
1 if any of them is not as expected."""

import glob
import json
import os
import sys

from read import Message, Refused, read_all
from schema import Schema
from tables import arranged

VECTORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "vectors")


def load(name):
    with open(os.path.join(VECTORS, name), "rb") as file:
        return file.read()


def schemas_of(name):
    classes = sorted(glob.glob(os.path.join(VECTORS, f"{name}.class*.schema")))
    names = [f"{name}.schema"] + [os.path.basename(path) for path in classes]
    schemas = [Schema(load(name)) for name in names]
    return schemas[0], schemas[1:]


def same(found, expected):
    """Numbers of one type with one value: 1 is not 1.0 nor True, and -0.0 not 0.0."""
    return json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)


def tables(found):
    """What is wrong with the tables of hashed maps and sets."""
    if "table" in found:
        order, starts = arranged(found["elements"])
        places = [found["elements"].index(key) for key in order] if starts else []
        if (places, starts) != (found["table"], found["starts"]):
            yield f"{found}: not the table of its hashes"
    elif "starts" in found:
        if arranged(sorted(found["elements"])) != (found["elements"], found["starts"]):
            yield f"{found}: not in the order of its hashes"
    else:
        for part in found.values():
            if isinstance(part, dict):
                yield from tables(part)


def damaged():
    """Messages from the standard input, each with its vector, and what another reader says of it."""
    wrong, known, count = [], {}, 0
    for line in sys.stdin.read().splitlines():
        name, message, expected = line.split(";")
        if name not in known:
            known[name] = schemas_of(name)
        try:
            Message(bytes.fromhex(message), *known[name]).read()
            found = "read"
        except Refused as error:
            offset = "None" if error.offset is None else f"Some({error.offset})"
            found = f"{error.kind}:{offset}"
        # Which of several targets on a circle is named does not matter.
        circle = found.startswith("circle:") and expected.startswith("circle:")
        if found != expected and not circle:
            wrong.append(f"{name}: found {found}, expected {expected}: {message}")
        count += 1
    print(f"{count} damaged messages")
    if wrong or not count:
        sys.exit("\n".join(wrong) or "no messages")


def main():
    sys.setrecursionlimit(20_000)
    if sys.argv[1:] == ["--damaged"]:
        return damaged()
    wrong, vectors, refused = [], 0, 0
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.bin"))):
        name = os.path.basename(path)[: -len(".bin")]
        expected = json.loads(load(f"{name}.json"))
        vectors += 1
        try:
            found = Message(load(f"{name}.bin"), *schemas_of(name)).read()
        except Refused as error:
            wrong.append(f"{name}: {error}")
            continue
        if name in ("maps", "indexmap"):
            wrong += tables(found)
        if not same(found, expected):
            wrong.append(f"{name}: found {json.dumps(found)}\nexpected {json.dumps(expected)}")
    for path in sorted(glob.glob(os.path.join(VECTORS, "*.stream")) + glob.glob(VECTORS + "/*.file")):
        name = os.path.basename(path)
        expected = json.loads(load(f"{name}.json"))
        # A file has its schemas.
        known = expected["of"] if name.endswith(".stream") else []
        schemas = [Schema(load(f"{of}.schema")) for of in known]
        vectors += 1
        try:
            found = list(read_all(load(name), schemas))
            kind, offset = None, None
        except Refused as error:
            found, kind, offset = None, error.kind, error.offset
        wanted = [json.loads(load(f"{of}.json")) for of in expected["of"]]
        refusal = expected.get("kind"), expected.get("offset")
        if (kind, offset) != refusal or (kind is None and not same(found, wanted)):
            wrong.append(f"{name}: found {found} {kind} {offset}, expected {expected}")
    for path in sorted(glob.glob(os.path.join(VECTORS, "refused", "*.bin"))):
        name = os.path.join("refused", os.path.basename(path)[: -len(".bin")])
        expected = json.loads(load(f"{name}.json"))
        refused += 1
        try:
            Message(load(f"{name}.bin"), *schemas_of(expected["of"])).read()
            found = None, None
        except Refused as error:
            found = error.kind, error.offset
        if found != (expected["kind"], expected["offset"]):
            wrong.append(f"{name}: found {found}, expected {expected}")
    print(f"{vectors} vectors read, {refused} refused")
    if wrong or not vectors or not refused:
        sys.exit("\n".join(wrong) or "no vectors")


if __name__ == "__main__":
    main()
