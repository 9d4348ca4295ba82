// Command builder turns an agent's code into a program, in a jail of its own: one order, one answer, then it is over.
package main

import (
	"os"
	"path/filepath"

	"codemode/frames"
)

func main() {
	// warm BUILD WORKSPACE GO KNOWN PACKAGE...   or   compile BUILD WORKSPACE TOOLS PACKAGES
	mode, build, workspace, place := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	channel, execution, body := frames.Open("go-build", build)
	give := func(name string, content []byte) {
		frames.Say(channel, frames.Head{Type: "process/file", Execution: execution, Name: name}, content)
	}
	var failed *frames.Failure
	if mode == "warm" {
		failed = warm(place, workspace, os.Args[5], os.Args[6:], give)
	} else {
		b := &builder{tools: place, packages: os.Args[5], workspace: filepath.Join(workspace, "build"), build: build}
		if err := os.MkdirAll(b.workspace, 0o700); err != nil {
			failed = internal(err)
		} else {
			var binary []byte
			binary, failed = b.compile(readOrder(body))
			if failed == nil {
				give("program", binary)
			}
		}
	}
	code := 0
	if failed != nil {
		code = 1
	}
	frames.Say(channel, frames.Ended{Type: "process/end", Execution: execution, Failure: failed, ExitCode: code}, nil)
	os.Exit(code)
}
