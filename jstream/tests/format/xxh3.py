"""XXH3-64 without a seed: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md"""

M32 = (1 << 32) - 1
M64 = (1 << 64) - 1

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, P5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5


def u32(data, at):
    return int.from_bytes(data[at : at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at : at + 8], "little")


def swap(n):
    return int.from_bytes(n.to_bytes(8, "little"), "big")


def rotl(n, by):
    return (n << by | n >> (64 - by)) & M64


def fold(a, b):
    product = a * b
    return product & M64 ^ product >> 64


def avalanche(n):
    n = (n ^ n >> 37) * 0x165667919E3779F9 & M64
    return n ^ n >> 32


def avalanche_64(n):
    n = (n ^ n >> 33) * P2 & M64
    n = (n ^ n >> 29) * P3 & M64
    return n ^ n >> 32


def mix16(data, at, secret):
    return fold(u64(data, at) ^ u64(SECRET, secret), u64(data, at + 8) ^ u64(SECRET, secret + 8))


def up_to_16(data):
    n = len(data)
    if n > 8:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, n - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        return avalanche((n + swap(low) + high + fold(low, high)) & M64)
    if n >= 4:
        keyed = u32(data, n - 4) + (u32(data, 0) << 32) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        keyed ^= rotl(keyed, 49) ^ rotl(keyed, 24)
        keyed = keyed * 0x9FB21C651E98DF25 & M64
        keyed = (keyed ^ (keyed >> 35) + n) * 0x9FB21C651E98DF25 & M64
        return keyed ^ keyed >> 28
    if n > 0:
        all_three = data[0] << 16 | data[n >> 1] << 24 | data[n - 1] | n << 8
        return avalanche_64(all_three ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    return avalanche_64(u64(SECRET, 56) ^ u64(SECRET, 64))


def up_to_128(data):
    n = len(data)
    acc = n * P1
    for i in reversed(range((n - 1) // 32 + 1)):
        acc += mix16(data, 16 * i, 32 * i) + mix16(data, n - 16 * (i + 1), 32 * i + 16)
    return avalanche(acc & M64)


def up_to_240(data):
    n = len(data)
    acc = n * P1 + sum(mix16(data, 16 * i, 16 * i) for i in range(8))
    acc = avalanche(acc & M64)
    acc += sum(mix16(data, 16 * i, 16 * (i - 8) + 3) for i in range(8, n // 16))
    return avalanche((acc + mix16(data, n - 16, 136 - 17)) & M64)


def accumulate(acc, data, at, secret):
    for i in range(8):
        value = u64(data, at + 8 * i)
        key = value ^ u64(SECRET, secret + 8 * i)
        acc[i ^ 1] = acc[i ^ 1] + value & M64
        acc[i] = acc[i] + (key & M32) * (key >> 32) & M64


def longer(data):
    n = len(data)
    acc = [P32_3, P1, P2, P3, P4, P32_2, P5, P32_1]
    stripes = (len(SECRET) - 64) // 8
    block = 64 * stripes
    blocks = (n - 1) // block
    for of in range(blocks):
        for i in range(stripes):
            accumulate(acc, data, of * block + 64 * i, 8 * i)
        for i in range(8):
            key = u64(SECRET, len(SECRET) - 64 + 8 * i)
            acc[i] = (acc[i] ^ acc[i] >> 47 ^ key) * P32_1 & M64
    for i in range((n - 1 - block * blocks) // 64):
        accumulate(acc, data, blocks * block + 64 * i, 8 * i)
    accumulate(acc, data, n - 64, len(SECRET) - 64 - 7)
    result = n * P1
    for i in range(4):
        low, high = u64(SECRET, 11 + 16 * i), u64(SECRET, 19 + 16 * i)
        result += fold(acc[2 * i] ^ low, acc[2 * i + 1] ^ high)
    return avalanche(result & M64)


def xxh3_64(data):
    for limit, function in ((16, up_to_16), (128, up_to_128), (240, up_to_240)):
        if len(data) <= limit:
            return function(data)
    return longer(data)
