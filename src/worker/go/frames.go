package codemode

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// The shape of the bytes is described in src/wire/frames.ts: two lengths, a head in JSON, a body.
const (
	prefixBytes   = 8
	maxHeadBytes  = 256 * 1024
	maxFrameBytes = 512 * 1024 * 1024
)

// head has the fields of every message that is sent or read here.
type head struct {
	Type      string `json:"type"`
	Protocol  int    `json:"protocol,omitempty"`
	Build     string `json:"build,omitempty"`
	Role      string `json:"role,omitempty"`
	Execution string `json:"execution,omitempty"`
	Call      int    `json:"call,omitempty"`
	Target    string `json:"target,omitempty"`
}

// ended is the one message with fields that are said even when they are empty.
type ended struct {
	Type      string   `json:"type"`
	Execution string   `json:"execution"`
	Failure   *failure `json:"failure"`
	ExitCode  int      `json:"exitCode"`
}

func encodeFrame(head any, body []byte) ([]byte, error) {
	text, err := json.Marshal(head)
	if err != nil {
		return nil, err
	}
	if len(text) > maxHeadBytes || 4+len(text)+len(body) > maxFrameBytes {
		return nil, fmt.Errorf("a message of %d bytes is too long to send", len(text)+len(body))
	}
	frame := make([]byte, prefixBytes, prefixBytes+len(text)+len(body))
	binary.LittleEndian.PutUint32(frame, uint32(4+len(text)+len(body)))
	binary.LittleEndian.PutUint32(frame[4:], uint32(len(text)))
	return append(append(frame, text...), body...), nil
}

func readFrame(from io.Reader) (head, []byte, error) {
	var prefix [prefixBytes]byte
	if _, err := io.ReadFull(from, prefix[:]); err != nil {
		return head{}, nil, err
	}
	frameBytes := binary.LittleEndian.Uint32(prefix[:])
	headBytes := binary.LittleEndian.Uint32(prefix[4:])
	if frameBytes > maxFrameBytes || headBytes > maxHeadBytes || headBytes+4 > frameBytes {
		return head{}, nil, fmt.Errorf("a head of %d bytes was announced in a frame of %d", headBytes, frameBytes)
	}
	rest := make([]byte, frameBytes-4)
	if _, err := io.ReadFull(from, rest); err != nil {
		return head{}, nil, err
	}
	var read head
	if err := json.Unmarshal(rest[:headBytes], &read); err != nil {
		return head{}, nil, err
	}
	return read, rest[headBytes:], nil
}
