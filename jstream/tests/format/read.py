"""A reader of jstream messages, streams and files, made from FORMAT.md alone.

    python3 read.py FILE [--schema SCHEMA]...

Prints the root of each message as a line of JSON. A SCHEMA is what `Schema::to_bytes` made of the type of
a root, or of a class of trait objects; files have their own. Ends with 1 and says what is wrong, and where,
if the bytes are not as they must be.
"""

import argparse
import json
import struct
import sys

from leaves import INVALID, leaf
from schema import (
    ARRAY, CELL, DYNAMIC, ENUM, LEAF, OPTION, REFERENCE, RESULT, SHARED, SLICE,
    STRUCT, TEXT, Schema, SchemaError, has_room, is_archive, is_flat, none_of, place_of_tag,
)

MAGIC = b"jst\x01"
HEADER = struct.Struct("<4sIQQQQ")
ORIGIN = 128
ALIGNMENT = 128
MARK = 1 << 63
ZERO_SIZED = 1 << 16
DEPTH = 1000


class Refused(Exception):
    """What is wrong with a message, and where: an offset from its start, or None."""

    def __init__(self, kind, offset=None, what=""):
        super().__init__(kind, offset, what)
        self.kind, self.offset, self.what = kind, offset, what

    def __str__(self):
        where = "" if self.offset is None else f" (at offset {self.offset:#x})"
        return f"{self.kind}{': ' if self.what else ''}{self.what}{where}"


def align_up(at, align):
    return (at + align - 1) // align * align


class Segment:
    """A part of the message with its own order of targets. Places count from `origin`."""

    def __init__(self, name, origin, cursor, end, align):
        self.name, self.origin, self.cursor, self.end, self.align = name, origin, cursor, end, align

    def claim(self, slot, place, align, size):
        """Where in the message the target of the pointer at `slot` stands."""
        at = align_up(self.cursor, align)
        if place != at:
            raise Refused("misplaced", slot, f"{place:#x}, where {at:#x} is next in {self.name}")
        if at + size > self.end or (align > 1 and align > self.align):
            raise Refused("past the end", slot, f"of {self.name}")
        self.cursor = at + size
        return self.origin + at


class Later:
    """The values of a target that is read when its turn comes."""

    value = None


class Message:
    def __init__(self, data, schema, classes=(), depth=DEPTH, align=ALIGNMENT):
        self.data, self.schema, self.most_depth, self.align = data, schema, depth, align
        self.classes = {of.descriptor: of.root for of in classes}
        self.zero_sized = ZERO_SIZED
        self.layout()
        # Claimed bytes up to which elements without size were counted.
        self.counted = self.objects.cursor + self.bulk.cursor
        # Claimed and not yet read: (place, count, type, depth, owner, where the values go).
        self.queue = []
        self.level = self.owner = 0
        # The pointers' kind, target's type, length or class, and place of all shared targets.
        self.shared = [(REFERENCE, schema.root, 0, self.objects.cursor)]
        self.edges, self.again = [], False

    def layout(self):
        """The header and the segments."""
        data, root = self.data, self.schema.root
        if len(data) < HEADER.size:
            raise Refused("short")
        magic, bulk_align, descriptor, objects_end, bulk_len, text_len = HEADER.unpack_from(data)
        if magic != MAGIC:
            raise Refused("magic")
        bulk_start = align_up(objects_end, bulk_align) if bulk_align else 0
        if bulk_align not in (1, 2, 4, 8, 16, 32, 64, 128):
            raise Refused("lengths")
        if bulk_start + bulk_len + text_len != len(data):
            raise Refused("lengths")
        if descriptor != self.schema.descriptor:
            raise Refused("descriptor")
        text_start = bulk_start + bulk_len
        try:
            data[text_start:].decode()
        except UnicodeDecodeError as error:
            raise Refused("not utf-8", text_start + error.start) from None
        start = align_up(HEADER.size, root.align)
        if start + root.size > objects_end:
            raise Refused("lengths")
        if root.align > self.align:
            raise Refused("misaligned")
        self.objects = Segment("objects", 0, start, objects_end, self.align)
        bulk_end, text_end = ORIGIN + bulk_len, ORIGIN + text_len
        self.bulk = Segment("bulk", bulk_start - ORIGIN, ORIGIN, bulk_end, min(bulk_align, self.align))
        self.text = Segment("text", text_start - ORIGIN, ORIGIN, text_end, 1)

    def read(self):
        """Checks everything, and gives the root."""
        root, start = self.schema.root, self.objects.cursor
        self.objects.cursor += root.size
        value = self.value(root, start)
        at = 0
        while at < len(self.queue):
            place, count, of, self.level, self.owner, later = self.queue[at]
            later.value = [self.value(of, place + i * of.size) for i in range(count)]
            at += 1
        self.assert_no_circle()
        for segment in (self.objects, self.bulk, self.text):
            if segment.cursor != segment.end:
                rest = segment.end - segment.cursor
                raise Refused("unused", None, f"{rest} bytes of {segment.name}")
        return resolved(value)

    def number(self, at, size, signed=False):
        return int.from_bytes(self.data[at : at + size], "little", signed=signed)

    def value(self, of, at):
        """Checks the value of type `of` at offset `at`, and claims what it points to."""
        kind = of.kind
        if kind == LEAF:
            return self.leaf(of, at)
        if kind == STRUCT:
            parts = lambda: {name: self.value(part, at + offset) for name, offset, part in of.fields}
            fields = self.within(at, parts) if of.name == "RangeInclusive" else parts()
            return list(fields.values()) if of.name == "()" else fields
        if kind == ENUM:
            return self.variant(of, at)
        if kind == ARRAY:
            part = of.of[0]
            return [self.value(part, at + i * part.size) for i in range(of.count)]
        if kind == OPTION:
            return self.option(of, at)
        if kind == RESULT:
            tag = self.tag(of, at)
            with_payload = lambda: self.value(of.of[tag], at)
            return {("Ok", "Err")[tag]: self.within(at, with_payload)}
        if kind == CELL:
            return None if self.number(at, 8) == 0 else self.shared_edge(of.of[0].of[0], at, True)
        if kind == SHARED:
            return self.shared_edge(of.of[0], at, False)
        if kind in (REFERENCE, SLICE):
            return self.edge(of, at)[0]
        raise Refused("invalid", at, f"a {of.name} stands behind pointers only")

    def variant(self, of, at):
        tag = self.number(at + place_of_tag(of), of.tag)
        for name, discriminant, fields in of.variants:
            if discriminant % (1 << 8 * of.tag) == tag:
                break
        else:
            raise Refused("invalid", at, f"{tag} is no {of.name}")
        parts = lambda: {name: self.value(part, at + offset) for name, offset, part in fields}
        # The tag of a `Bound` stands behind its payload.
        values = self.within(at, parts) if place_of_tag(of) else parts()
        return {name: values} if values else name

    def option(self, of, at):
        part = of.of[0]
        if part.is_pointer():
            return None if self.number(at, 8) == 0 else {"Some": self.value(part, at)}
        none = none_of(of)
        if none is not None:
            number = self.number(at, of.size)
            if none > 0 and number > none:
                raise Refused("invalid", at, of.name)
            return None if number == none else {"Some": self.value(part, at)}
        if not self.tag(of, at):
            return None
        return {"Some": self.within(at, lambda: self.value(part, at))}

    def tag(self, of, at):
        """The tag of an option or result: behind the payload, or the next byte of the text."""
        if has_room(of):
            tag = self.data[at + max(part.size for part in of.of)]
            if tag > 1:
                raise Refused("invalid", at, f"{tag} is no tag of an {of.name}")
            return tag
        if self.text.cursor >= self.text.end:
            raise Refused("past the end", at, "of text")
        tag = self.data[self.text.origin + self.text.cursor]
        self.text.cursor += 1
        if tag > 1:
            raise Refused("tag", at, f"{tag} is no tag of an {of.name}")
        return tag

    def within(self, at, read):
        """Reads a payload, whose faults count as those of the slot around it."""
        try:
            return read()
        except Refused as error:
            error.offset = at
            raise

    def edge(self, of, at, number=None):
        """Claims the target of the pointer of type `of` at `at`; gives its value and its place.

        `number` is that of a shared target."""
        place, meta = self.number(at, 8), self.number(at + 8, 8) if of.size == 16 else 0
        target = of.of[0]
        if target.kind == TEXT:
            if meta >= 1 << 63:
                raise Refused("past the end", at, "of text")
            start = self.text.claim(at, place, 1, meta)
            end = start + meta
            if end < len(self.data) and self.data[end] & 0xC0 == 0x80:
                raise Refused("split character", at)
            return self.data[start:end].decode(), start
        if target.kind == DYNAMIC:
            if meta not in self.classes:
                raise Refused("class", at, f"{meta:#018x}")
            target = self.classes[meta]
            value, start = self.targets(target, 1, at, place, number)
            return {"class": target.name, "is": Only(value)}, start
        if of.kind == SLICE:
            value, start = self.targets(target, meta, at, place, number)
            return "".join(value) if is_archive(target) else value, start
        value, start = self.targets(target, 1, at, place, number)
        return Only(value), start

    def targets(self, of, count, slot, place, number):
        """Claims `count` values of a type; gives their list, and where they stand."""
        size = count * of.size
        if size >= 1 << 63:
            raise Refused("past the end", slot)
        if of.size == 0:
            allowed = min(count, self.objects.cursor + self.bulk.cursor - self.counted)
            self.counted += allowed
            self.zero_sized -= count - allowed
            if self.zero_sized < 0:
                raise Refused("zero-sized", slot)
        segment = self.bulk if is_flat(of) else self.objects
        start = segment.claim(slot, place, of.align, size)
        if is_flat(of):
            return [self.value(of, start + i * of.size) for i in range(count)], start
        later = Later()
        later.value = []
        if count > 0:
            if self.level >= self.most_depth:
                raise Refused("depth", slot)
            owner = self.owner if number is None else number
            self.queue.append((start, count, of, self.level + 1, owner, later))
        return later, start

    def shared_edge(self, of, at, in_cell):
        """A pointer of type `of` to a shared target: the first, or one more."""
        place, meta = self.number(at, 8), self.number(at + 8, 8) if of.size == 16 else 0
        if place & MARK:
            number = place ^ MARK
            known = self.shared[number][:3] if number < len(self.shared) else None
            if known != (of.kind, of.of[0], meta):
                raise Refused("not shared", at)
            self.again = True
            if not in_cell:
                self.edges.append((self.owner, number))
            return {"shared": number}
        number = len(self.shared)
        self.shared.append((of.kind, of.of[0], meta, None))
        value, start = self.edge(of, at, number)
        self.shared[number] = (of.kind, of.of[0], meta, start)
        if not in_cell:
            self.edges.append((self.owner, number))
        return {"shared": number, "is": value}

    def assert_no_circle(self):
        """No target may be reached from itself but through a cell."""
        if not self.again:
            return
        left = set(range(len(self.shared)))
        while True:
            ends = left - {source for source, to in self.edges if to in left}
            if not ends:
                break
            left -= ends
        if left:
            # One that leads on to others of these leads to a circle in the end.
            one = min(left)
            for _ in left:
                one = next(to for source, to in self.edges if source == one and to in left)
            raise Refused("circle", self.shared[one][3])

    def leaf(self, of, at):
        """A leaf, of which its name says what it is."""
        value = leaf(of.name, self.data[at : at + of.size])
        if value is INVALID:
            raise Refused("invalid", at, f"no {of.name}")
        return value


class Only:
    """The only one of a target's values."""

    def __init__(self, values):
        self.values = values


def resolved(value):
    """The same with targets in the place of what stood for them."""
    if isinstance(value, Only):
        values = value.values.value if isinstance(value.values, Later) else value.values
        return resolved(values[0])
    if isinstance(value, Later):
        return resolved(value.value)
    if isinstance(value, list):
        return [resolved(one) for one in value]
    if isinstance(value, dict):
        return {name: resolved(one) for name, one in value.items()}
    return value


def read_all(data, schemas):
    """The values of a message, of all messages of a stream, or of all objects of a file. `schemas` are
    those of roots and classes; a file has its own."""
    from containers import FILE, File, messages_of_stream

    known = {of.descriptor: of for of in schemas}
    if data[:7] == FILE[:7]:
        file = File(data)
        known = file.schemas | known
        messages = file.messages()
    else:
        messages = messages_of_stream(data)
    for start, message, align in messages:
        schema = known.get(int.from_bytes(message[8:16], "little"))
        if schema is None:
            raise Refused("descriptor", start, "no schema is known of it")
        try:
            yield Message(message, schema, known.values(), align=align).read()
        except Refused as error:
            error.what += f", in the message at {start:#x}" if start else ""
            raise


def main():
    sys.setrecursionlimit(20_000)
    parser = argparse.ArgumentParser(description="reads jstream messages, streams and files")
    parser.add_argument("file")
    parser.add_argument("--schema", action="append", default=[])
    given = parser.parse_args()
    try:
        schemas = [Schema(open(path, "rb").read()) for path in given.schema]
        for value in read_all(open(given.file, "rb").read(), schemas):
            print(json.dumps(value, ensure_ascii=False))
    except (Refused, SchemaError, OSError) as error:
        sys.exit(f"{given.file}: {error}")


if __name__ == "__main__":
    # Else other modules would have another `Refused` than this one.
    sys.modules["read"] = sys.modules["__main__"]
    main()
