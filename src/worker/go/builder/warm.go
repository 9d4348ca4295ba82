package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"

	"codemode/frames"
)

// warm compiles packages of the standard library and the worker's own, and hands over their archives, the list of what a
// program may import, and this program itself.
func warm(goCommand string, packages []string, give func(string, []byte)) *frames.Failure {
	standard, err := run(goCommand, "list", "std")
	if err != nil {
		return internal(err)
	}
	var importable []string
	for _, each := range strings.Fields(standard) {
		if !strings.Contains("/"+each+"/", "/internal/") && !strings.HasPrefix(each, "vendor/") && each != "runtime/cgo" {
			importable = append(importable, each)
		}
	}
	give("standard", []byte(strings.Join(importable, "\n")+"\n"))
	list := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, append(packages, "codemode")...)
	exports, err := run(goCommand, list...)
	if err != nil {
		return internal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(exports), "\n") {
		path, file, _ := strings.Cut(line, "\t")
		if file == "" {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return internal(err)
		}
		give(strings.ReplaceAll(path, "/", "~")+".a", content)
	}
	own, err := os.ReadFile(os.Args[0])
	if err != nil {
		return internal(err)
	}
	give("builder", own)
	return nil
}

func run(name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var output, complaints bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaints
	if err := command.Run(); err != nil {
		return "", errors.New(strings.TrimSpace(complaints.String() + " " + err.Error()))
	}
	return output.String(), nil
}
