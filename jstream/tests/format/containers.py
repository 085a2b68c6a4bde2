"""Streams and files: the parts of these names of FORMAT.md."""

import struct

from read import ALIGNMENT, HEADER, MAGIC, Refused, align_up
from schema import MAX_BYTES, Schema, SchemaError
from xxh3 import xxh3_64

PADDING = b"jsp\x01"
LEAST_ALIGNMENT = 16

FILE = b"jstfile\x01"
SECTOR = 512
BLOCKS = 3 * SECTOR
COMMIT = struct.Struct("<6Q")
DIRECTORY, CHUNK = b"jss\x01", b"jsx\x01"
MOST_SCHEMAS = 1 << 16


def message_len(data, at):
    """The length of the message at `at` by its header alone, or None."""
    if len(data) - at < HEADER.size:
        return None
    magic, bulk_align, _, objects_end, bulk_len, text_len = HEADER.unpack_from(data, at)
    if magic != MAGIC or objects_end < HEADER.size or bulk_align not in (1, 2, 4, 8, 16, 32, 64, 128):
        return None
    length = align_up(objects_end, bulk_align) + bulk_len + text_len
    return length if length <= len(data) - at else None


def messages_of_stream(data):
    """The messages of a stream: where each begins, its bytes, and what types may be aligned to."""
    end = 0
    while end < len(data):
        at = align_up(end, LEAST_ALIGNMENT)
        if any(data[end:at]) or at >= len(data):
            raise Refused("framing", at, "no zeroes, or no message, behind the last item")
        if data[at : at + 4] == PADDING:
            length = int.from_bytes(data[at + 4 : at + 8], "little")
            to = align_up(at, ALIGNMENT)
            if at + length != to or any(data[at + 8 : to]) or length == 0:
                raise Refused("framing", at, "padding that is not as it must be")
            at = to
        length = message_len(data, at)
        if length is None:
            raise Refused("framing", at, "no message")
        yield at, data[at : at + length], ALIGNMENT if at % ALIGNMENT == 0 else LEAST_ALIGNMENT
        end = at + length


class File:
    """A file's commit, index and schemas."""

    def __init__(self, data):
        self.data = data
        if data[:8] != FILE:
            raise Refused("magic", 0)
        if len(data) < BLOCKS:
            raise Refused("truncated", len(data))
        for at in range(8, SECTOR):
            if data[at]:
                raise Refused("damaged", at, "a reserved byte")
        commits = [self.commit(at) for at in (SECTOR, 2 * SECTOR)]
        commits = [commit for commit in commits if commit]
        if not commits:
            raise Refused("no commit", SECTOR)
        _, self.end, index, schemas, self.count, _ = max(commits)
        if self.end > len(data):
            raise Refused("truncated", len(data))
        if self.end < BLOCKS or (index == 0) != (self.count == 0):
            raise Refused("damaged", SECTOR, "a commit")
        self.chunks = self.read_chunks(index)
        self.schemas = self.read_directory(schemas) if schemas else {}

    def commit(self, at):
        sector = self.data[at : at + SECTOR]
        words = COMMIT.unpack_from(sector)
        sound = xxh3_64(sector[:40]) == words[5] and not any(sector[COMMIT.size :])
        return words if sound else None

    def block(self, place, size, end):
        """The bytes of a block, which must lie before `end`."""
        if place < BLOCKS or place % ALIGNMENT or place + size > end:
            raise Refused("damaged", place, "no block may stand here")
        return self.data[place : place + size]

    def read_chunks(self, place):
        """Of each chunk, the newest first: place, number of its first object, and of its objects."""
        chunks, end, objects = [], self.end, self.count
        while place:
            header = self.block(place, 40, end)
            magic, zero, previous, first, count, check = struct.unpack("<4sIQQQQ", header)
            sound = (magic, zero, check) == (CHUNK, 0, xxh3_64(header[:32])) and count > 0
            enough = not chunks or count >= 2 * chunks[-1][2]
            if not sound or not enough or first + count != objects:
                raise Refused("damaged", place, "a chunk of the index")
            self.block(place, 40 + 40 * count, end)
            chunks.append((place, first, count))
            place, end, objects = previous, place, first
        if objects:
            raise Refused("damaged", end, "the index does not have all objects")
        return chunks

    def read_directory(self, place):
        magic, zero, count = struct.unpack("<4sIQ", self.block(place, 16, self.end))
        if (magic, zero) != (DIRECTORY, 0) or count > MOST_SCHEMAS:
            raise Refused("damaged", place, "the schema directory")
        size = 16 + 24 * count
        whole = self.block(place, size + 8, self.end)
        if xxh3_64(whole[:size]) != int.from_bytes(whole[size:], "little"):
            raise Refused("damaged", place, "the schema directory")
        schemas = {}
        for descriptor, at, length in struct.iter_unpack("<QQQ", whole[16:size]):
            stored = self.block(at, length, place)
            try:
                schema = Schema(stored) if length <= MAX_BYTES else None
            except SchemaError:
                schema = None
            if schema is None or schema.descriptor != descriptor:
                raise Refused("damaged", at, "a schema")
            schemas[descriptor] = schema
        return schemas

    def messages(self):
        """Where each object begins, its bytes, and what types may be aligned to."""
        for place, first, count in reversed(self.chunks):
            for number in range(first, first + count):
                at = place + 40 + 40 * (number - first)
                entry = self.data[at : at + 40]
                start, length, descriptor, hash, check = struct.unpack("<5Q", entry)
                if xxh3_64(number.to_bytes(8, "little") + entry[:32]) != check:
                    raise Refused("damaged", at, "an entry of the index")
                message = self.block(start, length, place)
                if length < HEADER.size:
                    raise Refused("damaged", start, "shorter than any message")
                if xxh3_64(message) != hash:
                    raise Refused("checksum", start, "of an object")
                if int.from_bytes(message[8:16], "little") != descriptor:
                    raise Refused("damaged", start, "an object of another type")
                yield start, message, ALIGNMENT
