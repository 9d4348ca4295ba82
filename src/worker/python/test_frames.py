"""The golden files of src/wire, read by the Python end. Run by golden-python.test.ts: python3 test_frames.py FOLDER"""

import base64
import json
import os
import pathlib
import sys
import unittest

import codemode_client
import frames

FOLDER = pathlib.Path(sys.argv.pop())
GOLDEN = {file.name: json.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.json"))}


def body_of(golden: dict) -> bytes:
    return base64.b64decode(golden["body"]) if golden["bodyEncoding"] == "base64" else golden["body"].encode()


class Frames(unittest.TestCase):
    def test_every_golden_frame_is_what_is_sent(self):
        self.assertTrue(GOLDEN)
        for name, golden in GOLDEN.items():
            with self.subTest(name):
                self.assertEqual(frames.encode_frame(golden["head"], body_of(golden)).hex(), golden["hex"])

    def test_every_golden_frame_is_what_is_read(self):
        for name, golden in GOLDEN.items():
            with self.subTest(name):
                self.assertEqual(read(bytes.fromhex(golden["hex"])), (golden["head"], body_of(golden)))

    def test_a_frame_that_cannot_be_one_is_refused(self):
        for prefix in (frames.PREFIX.pack(4, 1), frames.PREFIX.pack(2**32 - 1, 1), frames.PREFIX.pack(2**20, 2**19)):
            with self.assertRaises(frames.FrameError):
                read(prefix)

    def test_half_a_frame_is_the_end_of_the_channel(self):
        whole = frames.encode_frame({"type": "x"}, b"body")
        for length in range(len(whole)):
            self.assertIsNone(read(whole[:length]))

    def test_a_call_is_the_golden_request(self):
        golden = GOLDEN["call-request.json"]
        reader, writer = os.pipe()
        connection = codemode_client.Connection(writer, golden["head"]["execution"])
        connection._reader = object()  # nobody answers
        connection.call("github", "list_issues", json.loads(golden["body"])[0])
        os.close(writer)
        head, body = frames.read_frame(reader)
        os.close(reader)
        self.assertEqual((head, json.loads(body)), (golden["head"], json.loads(golden["body"])))

    def test_an_end_is_the_golden_end(self):
        for name in ("process-end.json", "process-end-failed.json"):
            golden = GOLDEN[name]
            head = golden["head"]
            reader, writer = os.pipe()
            codemode_client.Connection(writer, head["execution"]).end(head["failure"], head["exitCode"], body_of(golden))
            os.close(writer)
            with open(reader, "rb") as written:
                self.assertEqual(written.read().hex(), golden["hex"])


def read(data: bytes):
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    try:
        return frames.read_frame(reader)
    finally:
        os.close(reader)


if __name__ == "__main__":
    unittest.main()
