// Package frames is the Go side of src/wire: messages between a process in the jail and the host.
package frames

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"syscall"
)

const (
	// Descriptor is that of the channel to the host.
	Descriptor = 3
	// Protocol is PROTOCOL of src/wire/messages.ts.
	Protocol = 5
	// MaxText is what fits into one text of a failure.
	MaxText = 8000
)

// The shape of the bytes is described in src/wire/frames.ts: two lengths, a head in JSON, a body.
const (
	prefixBytes   = 8
	maxHeadBytes  = 256 * 1024
	maxFrameBytes = 512 * 1024 * 1024
)

// Head has the fields of every message that is sent or read here.
type Head struct {
	Type      string `json:"type"`
	Protocol  int    `json:"protocol,omitempty"`
	Build     string `json:"build,omitempty"`
	Role      string `json:"role,omitempty"`
	Execution string `json:"execution,omitempty"`
	Call      int    `json:"call,omitempty"`
	Target    string `json:"target,omitempty"`
	Line      int    `json:"line,omitempty"`
	Name      string `json:"name,omitempty"`
	LeftMs    int    `json:"leftMs,omitempty"`
	IsHeld    bool   `json:"isHeld,omitempty"`
}

// Ended is the last message of a process. Its fields are said even when they are empty.
type Ended struct {
	Type      string   `json:"type"`
	Execution string   `json:"execution"`
	Failure   *Failure `json:"failure"`
	ExitCode  int      `json:"exitCode"`
}

// Failure is Failure of src/domain/run.ts.
type Failure struct {
	Kind     string    `json:"kind"`
	Name     string    `json:"name"`
	Message  string    `json:"message"`
	Hint     string    `json:"hint,omitempty"`
	Stack    string    `json:"stack,omitempty"`
	Position *Position `json:"position,omitempty"`
}

// Position is a place in the agent's own code, counted from 1.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Marshal is json.Marshal that leaves <, > and & as they are: what a program prints is read by people and models.
func Marshal(value any) ([]byte, error) {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimSuffix(buffer.Bytes(), []byte("\n")), err
}

// Encode makes one frame.
func Encode(head any, body []byte) ([]byte, error) {
	text, err := Marshal(head)
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

// Read takes the next frame from the host.
func Read(from io.Reader) (Head, []byte, error) {
	var prefix [prefixBytes]byte
	if _, err := io.ReadFull(from, prefix[:]); err != nil {
		return Head{}, nil, err
	}
	frameBytes := binary.LittleEndian.Uint32(prefix[:])
	headBytes := binary.LittleEndian.Uint32(prefix[4:])
	if frameBytes > maxFrameBytes || headBytes > maxHeadBytes || headBytes+4 > frameBytes {
		return Head{}, nil, fmt.Errorf("a head of %d bytes was announced in a frame of %d", headBytes, frameBytes)
	}
	rest := make([]byte, frameBytes-4)
	if _, err := io.ReadFull(from, rest); err != nil {
		return Head{}, nil, err
	}
	var read Head
	if err := json.Unmarshal(rest[:headBytes], &read); err != nil {
		return Head{}, nil, err
	}
	return read, rest[headBytes:], nil
}

// Open says hello on the channel and waits for the order to start. It gives the channel, the execution, and what to do.
func Open(role, build string) (*os.File, string, []byte) {
	syscall.CloseOnExec(Descriptor)
	file := os.NewFile(Descriptor, "channel")
	Say(file, Head{Type: "worker/ready", Protocol: Protocol, Build: build, Role: role}, nil)
	for {
		message, body, err := Read(file)
		switch {
		case err != nil, message.Type == "host/hello" && (message.Protocol != Protocol || message.Build != build):
			os.Exit(70)
		case message.Type == "process/start":
			return file, message.Execution, body
		}
	}
}

// Say sends a message; a host that cannot be reached ends the process.
func Say(file *os.File, message any, body []byte) {
	frame, err := Encode(message, body)
	if err == nil {
		_, err = file.Write(frame)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the host cannot be reached:", err)
		os.Exit(70)
	}
}
