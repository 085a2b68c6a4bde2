"""Hashed maps and sets: the part "Maps and sets" of FORMAT.md."""

M64 = (1 << 64) - 1
SEED, FACTOR, LAST = 0x243F6A8885A308D3, 0x13198A2E03707345, 0xA4093822299F31D1
FEW = 8


def words_of(key):
    """What is hashed of a key: words, and bytes."""
    if isinstance(key, str):
        return [key.encode(), 0xFF]
    return [key & M64]


def fold(a, b):
    product = a * b
    return product & M64 ^ product >> 64


def ends(part):
    """Two words that hold all of up to sixteen bytes."""
    for size in (8, 4):
        if len(part) >= size:
            return int.from_bytes(part[:size], "little"), int.from_bytes(part[-size:], "little")
    return int.from_bytes(part[:1], "little"), int.from_bytes(part[1:], "little")


def first(key):
    """The hash to find a bucket by."""
    state = SEED
    for part in words_of(key):
        if isinstance(part, int):
            state = fold(state ^ part, FACTOR)
            continue
        rest = part
        while len(rest) > 16:
            a, b = ends(rest[:16])
            state = fold(state ^ a, FACTOR ^ b)
            rest = rest[16:]
        a, b = ends(rest)
        state = fold(state ^ a, (FACTOR + len(part) & M64) ^ b)
    return fold(state, LAST)


def second(key):
    """The hash to tell keys of one bucket apart: SipHash-2-4 of a key of zeroes."""
    data = b"".join(
        part.to_bytes(8, "little") if isinstance(part, int) else part for part in words_of(key)
    )
    rotl = lambda n, by: (n << by | n >> (64 - by)) & M64
    v = [0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0], v[2] = v[0] + v[1] & M64, v[2] + v[3] & M64
            v[1], v[3] = rotl(v[1], 13) ^ v[0], rotl(v[3], 16) ^ v[2]
            v[0] = rotl(v[0], 32)
            v[2], v[0] = v[2] + v[1] & M64, v[0] + v[3] & M64
            v[1], v[3] = rotl(v[1], 17) ^ v[2], rotl(v[3], 21) ^ v[0]
            v[2] = rotl(v[2], 32)

    whole = len(data) // 8 * 8
    words = [int.from_bytes(data[at : at + 8], "little") for at in range(0, whole, 8)]
    words.append(int.from_bytes(data[whole:], "little") | (len(data) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def bucket_of(hash, buckets):
    return hash * buckets >> 64


def arranged(keys):
    """The order of the keys, and where each bucket begins and the last one ends."""
    few = len(keys) <= FEW
    buckets = 1 if few else len(keys)
    by_bucket = {}
    for key in keys:
        by_bucket.setdefault(bucket_of(first(key), buckets), []).append(key)
    order, starts = [], []
    for bucket in range(buckets):
        starts.append(len(order))
        inside = by_bucket.get(bucket, [])
        many = len(inside) > FEW
        by_hash = (lambda key: (second(key), first(key))) if many else lambda key: first(key)
        # Of keys with one first hash the second decides.
        inside.sort(key=lambda key: (by_hash(key), second(key)))
        order += inside
    return order, [] if few else starts + [len(order)]
