"""The shape of the bytes between host and worker; src/wire/frames.ts has the other end, src/wire/golden the examples.

    u32 length of what follows | u32 length of the head | head: JSON | body: bytes

all numbers little-endian.
"""

import json
import os
import struct

PREFIX = struct.Struct("<II")
MAX_HEAD_BYTES = 256 * 1024
MAX_FRAME_BYTES = 512 * 1024 * 1024


class FrameError(Exception):
    """The other end does not speak this format: the channel is over."""


def encode_frame(head: dict, body: bytes = b"") -> bytes:
    text = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    if len(text) > MAX_HEAD_BYTES:
        raise FrameError(f"a head of {len(text)} bytes is too long to send")
    return PREFIX.pack(4 + len(text) + len(body), len(text)) + text + body


def read_frame(descriptor: int) -> "tuple[dict, bytes] | None":
    """The next frame, or None when the other end is gone. Waits for it."""
    prefix = _read_exactly(descriptor, PREFIX.size)
    if prefix is None:
        return None
    frame_bytes, head_bytes = PREFIX.unpack(prefix)
    if frame_bytes > MAX_FRAME_BYTES or head_bytes > MAX_HEAD_BYTES or head_bytes + 4 > frame_bytes:
        raise FrameError(f"a head of {head_bytes} bytes was announced in a frame of {frame_bytes}")
    rest = _read_exactly(descriptor, frame_bytes - 4)
    if rest is None:
        return None
    return json.loads(rest[:head_bytes]), rest[head_bytes:]


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_exactly(descriptor: int, count: int) -> "bytes | None":
    # Grows with what has arrived, not with what was announced.
    parts = bytearray()
    while len(parts) < count:
        chunk = os.read(descriptor, min(count - len(parts), 1024 * 1024))
        if not chunk:
            return None
        parts += chunk
    return bytes(parts)
