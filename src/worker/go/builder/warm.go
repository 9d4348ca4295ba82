package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"codemode/frames"
)

// warm compiles packages of the standard library, and hands over the archives that are not in known yet, with what makes
// the next call compile nothing twice. The first call, where known is empty, hands over everything else as well: the list
// of what a program may import, the worker's own package, and the commands of jails.
func warm(goCommand, workspace, known string, packages []string, give func(string, []byte)) *frames.Failure {
	cache := filepath.Join(workspace, "cache")
	restored, err := restoreCache(cache, known)
	if err != nil {
		return internal(err)
	}
	if known == "" {
		if err := giveCommands(goCommand, workspace, give); err != nil {
			return internal(err)
		}
		packages = append(packages, "codemode")
	}
	list := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}}\t{{.Export}}"}, packages...)
	exports, err := run(goCommand, list...)
	if err != nil {
		return internal(err)
	}
	archives := map[string]string{}
	for _, line := range strings.Split(strings.TrimSpace(exports), "\n") {
		path, file, _ := strings.Cut(line, "\t")
		if file == "" {
			continue
		}
		name := strings.ReplaceAll(path, "/", "~") + ".a"
		archives[file] = name
		if _, err := os.Stat(filepath.Join(known, name)); known != "" && err == nil {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			return internal(err)
		}
		give(name, content)
	}
	if err := giveCache(cache, restored, archives, give); err != nil {
		return internal(err)
	}
	return nil
}

func giveCommands(goCommand, workspace string, give func(string, []byte)) error {
	standard, err := run(goCommand, "list", "std")
	if err != nil {
		return err
	}
	var importable []string
	for _, each := range strings.Fields(standard) {
		if !strings.Contains("/"+each+"/", "/internal/") && !strings.HasPrefix(each, "vendor/") && each != "runtime/cgo" {
			importable = append(importable, each)
		}
	}
	give("standard", []byte(strings.Join(importable, "\n")+"\n"))
	starter := filepath.Join(workspace, "starter")
	if _, err := run(goCommand, "build", "-ldflags=-s -w", "-o", starter, "codemode/starter"); err != nil {
		return err
	}
	for name, file := range map[string]string{"starter": starter, "builder": os.Args[0]} {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		give(name, content)
	}
	return nil
}

func run(name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var output, complaints bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaints
	if err := runToEnd(command); err != nil {
		return "", errors.New(strings.TrimSpace(complaints.String() + " " + err.Error()))
	}
	return output.String(), nil
}
