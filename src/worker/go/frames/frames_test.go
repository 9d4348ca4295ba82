package frames

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// The frames of src/wire/golden are what every language reads and writes.
func TestGoldenFrames(t *testing.T) {
	files, _ := filepath.Glob(os.Getenv("CODEMODE_GOLDEN") + "/*.json")
	if len(files) == 0 {
		t.Skip("CODEMODE_GOLDEN names no folder of golden frames")
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var golden struct {
			Head         json.RawMessage
			BodyEncoding string
			Body, Hex    string
		}
		if err := json.Unmarshal(text, &golden); err != nil {
			t.Fatal(err)
		}
		frame, err := hex.DecodeString(golden.Hex)
		if err != nil {
			t.Fatal(err)
		}
		head, body, err := Read(bytes.NewReader(frame))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if golden.BodyEncoding == "utf8" && string(body) != golden.Body {
			t.Errorf("%s: the body is %q", file, body)
		}
		var message any
		switch head.Type {
		case "worker/ready", "call/request", "process/file":
			message = head
		case "process/end":
			var ended Ended
			if err := json.Unmarshal(golden.Head, &ended); err != nil {
				t.Fatal(err)
			}
			message = ended
		default:
			continue
		}
		written, err := Encode(message, body)
		if err != nil || !bytes.Equal(written, frame) {
			t.Errorf("%s: written as %q, %v", file, written, err)
		}
	}
}
