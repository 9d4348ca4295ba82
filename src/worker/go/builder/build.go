package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"codemode/frames"
)

// order is what the host asks for: ProcessStart of src/wire/messages.ts.
type order struct {
	Source string      `json:"source"`
	Files  [][2]string `json:"files"`
}

type builder struct {
	tools, packages, workspace, build string
}

// maxErrors is how many complaints of the compiler are passed on.
const maxErrors = 10

// compile makes a program of the agent's code and the declared tools, or tells why not.
func (b *builder) compile(request order) ([]byte, *frames.Failure) {
	prepared, wrong := prepare(request.Source)
	if wrong != nil {
		return nil, wrong.failure()
	}
	known, err := readLines(filepath.Join(b.packages, "standard"))
	if err == nil {
		err = b.writeImportcfg()
	}
	if err != nil {
		return nil, internal(err)
	}
	isKnown := map[string]bool{}
	for _, each := range known {
		isKnown[each] = true
	}
	declared := map[string]bool{}
	files := [][2]string{{"main.go", fmt.Sprintf("package main\n\nimport \"codemode\"\n\nfunc main() {\n\tcodemode.Main(Run, %q)\n}\n", b.build)}}
	for _, file := range request.Files {
		files = append(files, file)
		for _, match := range declaration.FindAllStringSubmatch(file[1], -1) {
			declared[match[1]] = true
		}
	}
	imports, wrong := resolveImports(prepared, declared, func(path string) bool { return isKnown[path] }, known)
	if wrong != nil {
		return nil, wrong.failure()
	}
	// There are no files in the jail that the time zones could be read from.
	if strings.Contains(prepared.body, "LoadLocation") && isKnown[zones] {
		imports = append(imports, imported{name: "_", path: zones})
	}
	var missing []string
	for _, each := range imports {
		if _, err := os.Stat(b.archive(each.path)); err != nil && each.path != "unsafe" {
			missing = append(missing, each.path)
		}
	}
	if len(missing) > 0 {
		return nil, &frames.Failure{Kind: "import", Name: "PackageNotCompiled", Message: strings.Join(missing, " ")}
	}
	// A name that is both a package and a variable in different places may still leave an import unused.
	for {
		binary, complaints := b.attempt(append(files, [2]string{"program.go", render(prepared, imports)}))
		rest := withoutUnused(imports, complaints)
		if binary != nil || len(rest) == len(imports) {
			return binary, compileFailure(complaints)
		}
		imports = rest
	}
}

// zones is the package that has the time zones in it.
const zones = "time/tzdata"

var declaration = regexp.MustCompile(`(?m)^(?:func|type|const|var) ([\p{L}_][\p{L}\p{Nd}_]*)`)
var unused = regexp.MustCompile(`"([^"]+)" imported (?:as \S+ )?(?:and|but) not used`)

func withoutUnused(imports []imported, complaints string) []imported {
	isUnused := map[string]bool{}
	for _, match := range unused.FindAllStringSubmatch(complaints, -1) {
		isUnused[match[1]] = true
	}
	var rest []imported
	for _, each := range imports {
		if !isUnused[each.path] {
			rest = append(rest, each)
		}
	}
	return rest
}

func (b *builder) archive(path string) string {
	return filepath.Join(b.packages, strings.ReplaceAll(path, "/", "~")+".a")
}

func (b *builder) importcfg() string {
	return filepath.Join(b.workspace, "importcfg")
}

// writeImportcfg tells compiler and linker where the archive of every package is.
func (b *builder) writeImportcfg() error {
	archives, err := filepath.Glob(filepath.Join(b.packages, "*.a"))
	if err != nil {
		return err
	}
	var text strings.Builder
	for _, archive := range archives {
		path := strings.ReplaceAll(strings.TrimSuffix(filepath.Base(archive), ".a"), "~", "/")
		fmt.Fprintf(&text, "packagefile %s=%s\n", path, archive)
	}
	return os.WriteFile(b.importcfg(), []byte(text.String()), 0o600)
}

func (b *builder) attempt(files [][2]string) (binary []byte, complaints string) {
	arguments := []string{"-p", "main", "-importcfg", b.importcfg(), "-o", filepath.Join(b.workspace, "main.a"), "-complete", "-pack"}
	for _, file := range files {
		path := filepath.Join(b.workspace, filepath.Base(file[0]))
		if err := os.WriteFile(path, []byte(file[1]), 0o600); err != nil {
			return nil, err.Error()
		}
		arguments = append(arguments, path)
	}
	if complaints := b.run("compile", arguments); complaints != "" {
		return nil, complaints
	}
	out := filepath.Join(b.workspace, "program")
	complaints = b.run("link", []string{"-importcfg", b.importcfg(), "-buildmode=exe", "-s", "-w", "-o", out, filepath.Join(b.workspace, "main.a")})
	if complaints != "" {
		return nil, complaints
	}
	binary, err := os.ReadFile(out)
	if err != nil {
		return nil, err.Error()
	}
	return binary, ""
}

func (b *builder) run(tool string, arguments []string) string {
	command := exec.Command(filepath.Join(b.tools, tool), arguments...)
	command.Dir = b.workspace
	command.Env = []string{"TMPDIR=" + b.workspace, "GOROOT=", "GOGC=400"}
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	err := runToEnd(command)
	if err == nil {
		return ""
	}
	var exit *exec.ExitError
	if text := output.String(); text != "" && errors.As(err, &exit) {
		return text
	}
	return fmt.Sprintf("%s: %v", tool, err)
}

var complaint = regexp.MustCompile(`^(?:\S*/)?(program|tools)\.go:(\d+)(?::(\d+))?: (.*)$`)

// compileFailure is what the compiler said about the agent's lines, and where the first of it is.
func compileFailure(complaints string) *frames.Failure {
	if complaints == "" {
		return nil
	}
	var kept []string
	var first *frames.Position
	for _, line := range strings.Split(complaints, "\n") {
		match := complaint.FindStringSubmatch(line)
		if match == nil || match[1] != "program" {
			if strings.HasPrefix(line, "\t") && len(kept) > 0 {
				kept[len(kept)-1] += "\n" + line
			}
			continue
		}
		if first == nil {
			first = &frames.Position{Line: number(match[2]), Column: number(match[3])}
		}
		kept = append(kept, strings.TrimPrefix(line, "/"))
	}
	if first == nil {
		return internal(errors.New(complaints))
	}
	if len(kept) > maxErrors {
		kept = append(kept[:maxErrors], fmt.Sprintf("and %d more", len(kept)-maxErrors))
	}
	return &frames.Failure{Kind: "syntax", Name: "CompileError", Message: cut(strings.Join(kept, "\n")), Position: first}
}

func (m *mistake) failure() *frames.Failure {
	message := fmt.Sprintf("program.go:%d:%d: %s", m.line, m.column, m.message)
	return &frames.Failure{Kind: "syntax", Name: "CompileError", Message: cut(message), Hint: m.hint, Position: &frames.Position{Line: m.line, Column: m.column}}
}

func internal(err error) *frames.Failure {
	return &frames.Failure{Kind: "worker_lost", Name: "CompilerError", Message: cut("the compiler failed: " + err.Error())}
}

func cut(text string) string {
	if len(text) > frames.MaxText {
		text = strings.ToValidUTF8(text[:frames.MaxText], "")
	}
	return text
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		return 1
	}
	return value
}

func readLines(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	return strings.Fields(string(text)), err
}

func readOrder(body []byte) (request order) {
	if err := json.Unmarshal(body, &request); err != nil {
		os.Exit(70)
	}
	return request
}

const setParentDeathSignal = 1 // PR_SET_PDEATHSIG

// runToEnd runs a command that dies with the builder. A jail ends all that is in it, and refuses the call that says so
// once more; without a jail a compiler would outlive the host and the builder.
func runToEnd(command *exec.Cmd) error {
	// The kernel ties it to the thread that starts the child.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if _, _, refused := syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, uintptr(syscall.SIGKILL), 0); refused == 0 {
		command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	return command.Run()
}
