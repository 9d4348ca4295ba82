package codemode

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
)

const (
	channelDescriptor = 3
	protocol          = 2
	// programFile is what `//line` calls the agent's code.
	programFile = "/program.go"
	maxText     = 8000
)

// failure is Failure of src/domain/execution.ts.
type failure struct {
	Kind     string    `json:"kind"`
	Name     string    `json:"name"`
	Message  string    `json:"message"`
	Stack    string    `json:"stack,omitempty"`
	Position *position `json:"position,omitempty"`
}

type position struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Main says hello, waits for the order to start, runs the program once, and tells what it came to.
func Main(run func(context.Context) error, build string) {
	syscall.CloseOnExec(channelDescriptor)
	file := os.NewFile(channelDescriptor, "channel")
	say(file, head{Type: "worker/ready", Protocol: protocol, Build: build, Role: "go"})
	execution := awaitStart(file, build)
	ctx, cancel := context.WithCancel(context.Background())
	host = &channel{file: file, execution: execution, open: map[int]chan reply{}}
	go host.read(cancel, file)
	// In a goroutine of its own: a program that ends its goroutine (runtime.Goexit) must not end this one.
	done := make(chan *failure, 1)
	go execute(ctx, run, done)
	failed := <-done
	exitCode := 0
	if failed != nil {
		exitCode = 1
	}
	host.lock.Lock()
	say(file, ended{Type: "process/end", Execution: execution, Failure: failed, ExitCode: exitCode})
	os.Exit(exitCode)
}

func say(file *os.File, message any) {
	frame, err := encodeFrame(message, nil)
	if err == nil {
		_, err = file.Write(frame)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "the host cannot be reached:", err)
		os.Exit(70)
	}
}

func awaitStart(file *os.File, build string) string {
	for {
		message, _, err := readFrame(file)
		switch {
		case err != nil, message.Type == "host/hello" && (message.Protocol != protocol || message.Build != build):
			os.Exit(70)
		case message.Type == "process/start":
			return message.Execution
		}
	}
}

// execute runs the program; a panic of its own goroutine is told like an error, with the program's lines.
func execute(ctx context.Context, run func(context.Context) error, done chan<- *failure) {
	var err error
	hasReturned := false
	defer func() {
		switch {
		case !hasReturned:
			done <- panicked(recover(), string(debug.Stack()))
		case err != nil:
			done <- &failure{Kind: "exception", Name: "error", Message: cut(err.Error())}
		default:
			done <- nil
		}
	}()
	err = run(ctx)
	hasReturned = true
}

func panicked(reason any, trace string) *failure {
	lines, first := ownLines(trace)
	failed := &failure{Kind: "exception", Name: "panic", Message: cut(fmt.Sprint(reason)), Stack: cut(lines)}
	if reason == nil {
		failed.Message = "the program ended its own goroutine"
	}
	if first > 0 {
		failed.Position = &position{Line: first, Column: 1}
	}
	return failed
}

// ownLines are those of a trace that lie in the agent's code, and the number of the first of them.
func ownLines(trace string) (text string, first int) {
	var kept []string
	for _, line := range strings.Split(trace, "\n") {
		rest, isOwn := cutPrefix(strings.TrimSpace(line), programFile+":")
		if !isOwn {
			continue
		}
		digits := rest
		if end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }); end >= 0 {
			digits = rest[:end]
		}
		if number, err := strconv.Atoi(digits); err == nil {
			if first == 0 {
				first = number
			}
			kept = append(kept, "program.go:"+digits)
		}
	}
	return strings.Join(kept, "\n"), first
}

// cutPrefix is strings.CutPrefix, which Go 1.19 does not have.
func cutPrefix(text, prefix string) (string, bool) {
	return strings.TrimPrefix(text, prefix), strings.HasPrefix(text, prefix)
}

func cut(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}
