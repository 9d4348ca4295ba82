// Package codemode is what every generated Go program is linked with: it calls tools over the channel to the host.
package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"

	"codemode/frames"
)

// maxArgumentsBytes is MAX_VALUE_BYTES of src/wire/messages.ts: the host ends a program that sends more.
const maxArgumentsBytes = 32 * 1024 * 1024

// ToolError is a tool call that failed. The message says what happened, the hint what to do next.
type ToolError struct {
	Tool    string
	Kind    string
	Message string
	Hint    string
	Fields  map[string]any
}

// Error is the tool's own text where the tool reported the error. Everything else has a hint.
func (e *ToolError) Error() string {
	if e.Hint == "" {
		return e.Message
	}
	return e.Tool + ": " + e.Message + " (" + e.Hint + ")"
}

var errClosed = errors.New("the channel to the host was closed")

type reply struct {
	kind string
	body []byte
}

// channel is the program's end of the connection. One goroutine reads the answers while calls are open, so calls work from
// every other.
type channel struct {
	file      *os.File
	execution string
	time      *deadline

	lock    sync.Mutex
	last    int
	open    map[int]chan reply
	reading bool
	closed  bool
}

var host *channel

// Call calls a tool and decodes its result into output. function is the name that the program knows it by.
func Call(ctx context.Context, function, target string, input, output any) error {
	body, err := Raw(ctx, function, target, input)
	if err != nil {
		return err
	}
	return decode(function, body, output)
}

// Raw calls a tool and gives the JSON of its result.
func Raw(ctx context.Context, function, target string, input any) (json.RawMessage, error) {
	arguments, err := encodeArguments(input)
	if err != nil {
		return nil, fmt.Errorf("%s: the input cannot be sent: %w", function, err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", function, err)
	}
	answer, err := host.request(target, arguments)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", function, err)
	}
	// The program's own context ends by what the host says, without a timer.
	var done <-chan struct{} = host.time.done
	if ctx != context.Context(host.time) {
		done = ctx.Done()
	}
	select {
	case got, ok := <-answer:
		if !ok {
			return nil, fmt.Errorf("%s: %w", function, errClosed)
		}
		if got.kind == "call/result" {
			return got.body, nil
		}
		return nil, toolError(function, got.body)
	case <-done:
		// The call continues; its answer is dropped.
		return nil, fmt.Errorf("%s: %w", function, ctx.Err())
	}
}

func toolError(function string, body []byte) error {
	var said struct {
		ErrorClass string         `json:"errorClass"`
		Message    string         `json:"message"`
		Hint       string         `json:"hint"`
		Fields     map[string]any `json:"fields"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return fmt.Errorf("%s: the host's answer could not be read", function)
	}
	return &ToolError{Tool: function, Kind: said.ErrorClass, Message: said.Message, Hint: said.Hint, Fields: said.Fields}
}

// request sends a call. Numbers must arrive in order, so a number is given where its frame is written.
func (c *channel) request(target string, arguments []byte) (<-chan reply, error) {
	if len(arguments) > maxArgumentsBytes {
		return nil, fmt.Errorf("the input has %d bytes of JSON; the most is %d", len(arguments), maxArgumentsBytes)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closed {
		return nil, errClosed
	}
	head := frames.Head{Type: "call/request", Execution: c.execution, Call: c.last + 1, Target: target}
	if c.last < maxLocatedCalls {
		head.Line = programLine()
	}
	frame, err := frames.Encode(head, arguments)
	if err != nil {
		return nil, err
	}
	c.last++
	answer := make(chan reply, 1)
	c.open[c.last] = answer
	if _, err := c.file.Write(frame); err != nil {
		leaveWithoutHost(err)
		delete(c.open, c.last)
		return nil, errClosed
	}
	if !c.reading {
		c.reading = true
		go c.read(c.file)
	}
	return answer, nil
}

// maxLocatedCalls is how many calls the host is told the line of, maxCallFrames how far each is looked for. Later ones are
// known by their number.
const (
	maxLocatedCalls = 50
	maxCallFrames   = 32
)

// programLine is the innermost line of the agent's code that led here, 0 where there is none.
func programLine() int {
	var counters [maxCallFrames]uintptr
	callers := runtime.CallersFrames(counters[:runtime.Callers(3, counters[:])])
	for {
		frame, more := callers.Next()
		if frame.File == programFile {
			return frame.Line
		}
		if !more {
			return 0
		}
	}
}

// leaveWithoutHost ends the program where the other end of the channel is gone. A channel that the program has closed
// itself is another error, and costs it only its calls.
func leaveWithoutHost(err error) {
	for _, gone := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.EPIPE, syscall.ECONNRESET} {
		if errors.Is(err, gone) {
			os.Exit(hostGone)
		}
	}
}

// hostGone is the exit status of a program whose host is gone. Nobody is there to read it.
const hostGone = 70

// read delivers answers until no call is open, or the channel is closed; everything that still waits is told then.
func (c *channel) read(from io.Reader) {
	for {
		message, body, err := frames.Read(from)
		if err != nil {
			leaveWithoutHost(err)
			break
		}
		if message.Type == "process/time" {
			c.time.told(message)
			continue
		}
		if message.Type != "call/result" && message.Type != "call/error" {
			continue
		}
		c.lock.Lock()
		answer := c.open[message.Call]
		delete(c.open, message.Call)
		if answer != nil {
			answer <- reply{message.Type, body}
		}
		if len(c.open) == 0 {
			c.reading = false
			c.lock.Unlock()
			return
		}
		c.lock.Unlock()
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	c.closed = true
	for number, answer := range c.open {
		delete(c.open, number)
		close(answer)
	}
	c.time.end(context.Canceled)
}
