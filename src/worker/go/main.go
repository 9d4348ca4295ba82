package codemode

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"codemode/frames"
)

// programFile is what `//line` calls the agent's code.
const programFile = "/program.go"

// Main waits for the order to start, runs the program once, and tells what it came to.
func Main(run func(context.Context) error, build string) {
	file, execution, body := frames.Open("go", build)
	mergeOutput()
	ctx := newDeadline(timeIn(body))
	host = &channel{file: file, execution: execution, open: map[int]chan reply{}, time: ctx}
	// In a goroutine of its own: a program that ends its goroutine (runtime.Goexit) must not end this one.
	done := make(chan *frames.Failure, 1)
	go execute(ctx, run, done)
	failed := <-done
	exitCode := 0
	if failed != nil {
		exitCode = 1
	}
	host.lock.Lock()
	frames.Say(file, frames.Ended{Type: "process/end", Execution: execution, Failure: failed, ExitCode: exitCode}, nil)
	os.Exit(exitCode)
}

// mergeOutput sends a program's output and its logs to the same descriptor, so that both stay in order. Only the Go
// runtime's own output (a crash, the built-in println) goes to stderr, which the host reads separately.
func mergeOutput() {
	os.Stderr = os.Stdout
	log.SetOutput(os.Stdout)
}

// timeIn is how long the program may take, as the order to start says.
func timeIn(body []byte) time.Duration {
	var order struct {
		LeftMs int `json:"leftMs"`
	}
	if err := json.Unmarshal(body, &order); err != nil || order.LeftMs <= 0 {
		return math.MaxInt64 / 2
	}
	return time.Duration(order.LeftMs) * time.Millisecond
}

// execute runs the program; a panic of its own goroutine is told like an error, with the program's lines.
func execute(ctx context.Context, run func(context.Context) error, done chan<- *frames.Failure) {
	var err error
	hasReturned := false
	defer func() {
		switch {
		case !hasReturned:
			done <- panicked(recover(), string(debug.Stack()))
		case err != nil:
			message := err.Error()
			if errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil {
				message += "; the time of the run is over"
			}
			done <- &frames.Failure{Kind: "exception", Name: "error", Message: cut(message)}
		default:
			done <- nil
		}
	}()
	err = run(ctx)
	hasReturned = true
}

func panicked(reason any, trace string) *frames.Failure {
	lines, first := ownLines(trace)
	failed := &frames.Failure{Kind: "exception", Name: "panic", Message: cut(fmt.Sprint(reason)), Stack: cut(lines)}
	if reason == nil {
		failed.Message = "the program ended its own goroutine"
	}
	if first > 0 {
		failed.Position = &frames.Position{Line: first, Column: 1}
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
	if len(text) > frames.MaxText {
		text = strings.ToValidUTF8(text[:frames.MaxText], "")
	}
	return text
}
