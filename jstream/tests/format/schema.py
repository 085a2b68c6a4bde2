"""Schemas: the part "Schemas and descriptors" of FORMAT.md."""

from xxh3 import xxh3_64

VERSION = 1
MAX_BYTES = 1 << 20
LEAF, TEXT, STRUCT, ENUM, OPTION, ARRAY, REFERENCE, SLICE, RESULT, SHARED, CELL, DYNAMIC = range(12)

# The size of each leaf that the page names, where it is the same with every compiler.
INTEGERS = {f"{sign}{8 * size}": size for sign in "ui" for size in (1, 2, 4, 8, 16)}
INTEGERS |= {"usize": 8, "isize": 8}
NON_ZERO = {f"NonZero{name.capitalize()}": name for name in INTEGERS}


class SchemaError(Exception):
    """What is wrong, and the byte of the schema where it is."""

    def __init__(self, what, at):
        super().__init__(f"invalid schema: {what} at byte {at}")
        self.what, self.at = what, at


class Type:
    """A type: `fields` of a struct are (name, offset, type); `variants` of an enum (name,
    discriminant, fields); `of` the types that other kinds are made of, `count` an array's length."""

    def __init__(self, name, size, align):
        self.name, self.size, self.align = name, size, align
        self.kind, self.fields, self.variants, self.of = LEAF, [], [], []
        self.count = self.tag = 0

    def is_pointer(self):
        return self.kind in (REFERENCE, SLICE, SHARED)


class Schema:
    """The types of a schema; the root is the first."""

    def __init__(self, data):
        if len(data) > MAX_BYTES:
            raise SchemaError("more than a mebibyte", MAX_BYTES)
        self.data, self.at = data, 0
        if self.byte() != VERSION:
            raise SchemaError("another version", 0)
        self.count = self.number()
        if not 0 < self.count < 1 << 32:
            raise SchemaError("invalid number of types", self.at)
        # A type has four bytes at least, so that a wrong number ends with the bytes.
        self.types = []
        while len(self.types) < self.count:
            self.types.append(self.type())
        end = self.at
        # The rules of conversion, which this reader does not use, and their check.
        if end != len(data) and xxh3_64(data[:-8]) != int.from_bytes(data[-8:], "little"):
            raise SchemaError("trailing bytes after the last type", end)
        self.root = self.types[0]
        self.descriptor = xxh3_64(data[:end])
        for of in self.types:
            self.link(of)
        for of in self.types:
            self.check(of, ())

    def byte(self):
        if self.at >= len(self.data):
            raise SchemaError("unexpected end", self.at)
        self.at += 1
        return self.data[self.at - 1]

    def number(self, bits=64):
        n = shift = 0
        while True:
            byte = self.byte()
            n |= (byte & 0x7F) << shift
            if n >> bits or (byte == 0 and shift > 0):
                raise SchemaError("invalid number", self.at)
            if byte < 0x80:
                return n
            shift += 7

    def name(self):
        size = self.number()
        name = self.data[self.at : self.at + size]
        try:
            name = name.decode() if len(name) == size else None
        except UnicodeDecodeError:
            name = None
        # Control characters: the Unicode category Cc.
        if name is None or any(ord(c) < 32 or 127 <= ord(c) < 160 for c in name):
            raise SchemaError("name with invalid UTF-8 or control characters", self.at)
        self.at += size
        return name

    def index(self):
        index = self.number()
        if index >= self.count:
            raise SchemaError("type index out of range", self.at)
        return index

    def list_of(self, element):
        return [element() for _ in counted(self.number())]

    def field(self):
        return self.name(), self.number(), self.index()

    def variant(self):
        name, n = self.name(), self.number(128)
        return name, (n >> 1) ^ -(n & 1), self.list_of(self.field)

    def type(self):
        new = Type(self.name(), self.number(), self.number())
        new.kind = self.byte()
        if new.kind == STRUCT:
            new.fields = self.list_of(self.field)
        elif new.kind == ENUM:
            new.tag = self.number()
            new.variants = self.list_of(self.variant)
        elif new.kind == ARRAY:
            new.of, new.count = [self.index()], self.number()
        elif new.kind == RESULT:
            new.of = [self.index(), self.index()]
        elif new.kind in (OPTION, REFERENCE, SLICE, SHARED, CELL):
            new.of = [self.index()]
        elif new.kind not in (LEAF, TEXT, DYNAMIC):
            raise SchemaError("unknown kind of type", self.at)
        return new

    def link(self, of):
        """Puts types in the place of their numbers."""
        named = lambda fields: [(name, at, self.types[field]) for name, at, field in fields]
        of.of = [self.types[part] for part in of.of]
        of.fields = named(of.fields)
        of.variants = [(name, tag, named(fields)) for name, tag, fields in of.variants]

    def check(self, of, around):
        """A type must be as large as its parts, and must not stand in itself."""

        def must(be):
            if not be:
                raise SchemaError(f"{of.name} can't be laid out so", len(self.data))

        if getattr(of, "checked", False):
            return
        must(of not in around)
        around += (of,)
        must(of.align in (1, 2, 4, 8, 16, 32, 64, 128))
        must(of.size % of.align == 0 or is_archive(of))
        parts = list(of.fields)
        for _, _, fields in of.variants:
            parts += fields
        if of.kind in (OPTION, RESULT):
            parts = [(None, 0, part) for part in of.of]
        for _, at, part in parts:
            must(not is_archive(part))
            self.check(part, around)
            must(at % part.align == 0 and at + part.size <= of.size)
        if of.kind == ENUM:
            must(of.tag in (1, 2, 4, 8) and place_of_tag(of) + of.tag <= of.size)
        elif of.kind == LEAF:
            known = INTEGERS.get(NON_ZERO.get(of.name, of.name), of.size)
            must(of.size == {"f32": 4, "f64": 8, "bool": 1, "char": 4}.get(of.name, known))
        elif of.kind == ARRAY:
            self.check(of.of[0], around)
            must(not is_archive(of.of[0]))
            must(of.size == of.of[0].size * of.count)
        elif of.kind == REFERENCE:
            must(of.size == (16 if of.of[0].kind == DYNAMIC else 8) and of.align == 8)
        elif of.kind == SLICE:
            must(of.size == 16 and of.align == 8)
        elif of.kind in (SHARED, CELL):
            inner = (REFERENCE, SLICE) if of.kind == SHARED else (SHARED,)
            must(of.of[0].kind in inner and of.size == of.of[0].size and of.align == 8)
        of.checked = True


def is_archive(of):
    """Whether a slice of these is an archive of rkyv."""
    return of.kind == LEAF and of.size == 1 and of.name.startswith("rkyv<")


def counted(n):
    """0 up to `n`, without an object of that length: `n` may be anything."""
    i = 0
    while i < n:
        yield i
        i += 1


def place_of_tag(of):
    """Where the tag of an enum stands: before its fields, or, of a `Bound`, behind them."""
    first = [part.size for _, _, fields in of.variants for _, at, part in fields if at == 0]
    return max(first, default=0)


def most_of(of):
    """The largest value of a type of one byte whose values are 0 up to it, else None."""
    if of.kind == LEAF and of.name == "bool":
        return 1
    if of.kind == STRUCT and of.name in ("Wrapping", "Saturating"):
        return most_of(of.fields[0][2])
    if of.kind == OPTION:
        return none_of(of) or None
    tags = {tag for _, tag, _ in of.variants}
    fieldless = not any(fields for _, _, fields in of.variants)
    if of.kind == ENUM and of.size == 1 and fieldless and tags == set(range(len(tags))):
        return len(tags) - 1
    return None


def none_of(of):
    """The number that is `None` in an option without a tag, else None."""
    part = of.of[0]
    if part.size != of.size:
        return None
    if part.kind == LEAF and part.name in NON_ZERO:
        return 0
    most = most_of(part) if of.size == 1 else None
    return None if most in (None, 255) else most + 1


def is_flat(of):
    """Whether nothing outside the slot belongs to it."""
    if of.kind == STRUCT:
        return all(is_flat(part) for _, _, part in of.fields)
    if of.kind == ENUM:
        return all(is_flat(part) for _, _, fields in of.variants for _, _, part in fields)
    if of.kind == ARRAY:
        return of.count == 0 or is_flat(of.of[0])
    if of.kind == OPTION and none_of(of) is not None:
        return True
    if of.kind in (OPTION, RESULT):
        return has_room(of) and all(is_flat(part) for part in of.of)
    return of.kind == LEAF


def has_room(of):
    """Whether the tag of an option or result stands in its slot."""
    return not of.of[0].is_pointer() and of.size > max(part.size for part in of.of)
