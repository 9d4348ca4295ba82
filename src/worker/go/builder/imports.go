package main

import (
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"
)

// Of packages with the same name, the one that a program means when it does not say.
var preferred = map[string]string{
	"rand": "math/rand", "template": "text/template", "scanner": "text/scanner", "pprof": "runtime/pprof", "list": "container/list",
}

// resolveImports decides what the generated file imports: what the code imports and uses, and what it uses without
// having imported it. Nothing that it does not use, so that an unused import is no error.
func resolveImports(p *program, declared map[string]bool, isPackage func(string) bool, packages []string) ([]imported, *mistake) {
	var chosen []imported
	taken := map[string]bool{}
	for _, each := range p.imports {
		if each.path == "C" {
			return nil, &mistake{each.line, each.column, `import "C" is not available: programs are pure Go`, ""}
		}
		if !isPackage(each.path) {
			return nil, &mistake{each.line, each.column, fmt.Sprintf("package %s is not in the standard library", each.path), "Only the standard library and the declared tools are available."}
		}
		name := each.name
		if name == "" {
			name = packageName(each.path)
		}
		_, isUsed := p.unresolved[name]
		if (isUsed || name == "." || name == "_") && !taken[each.name+" "+each.path] && (name == "." || name == "_" || !taken[name]) {
			taken[each.name+" "+each.path], taken[name] = true, true
			chosen = append(chosen, each)
		}
	}
	byName := map[string]string{}
	for _, each := range packages {
		name := packageName(each)
		if byName[name] == "" || preferred[name] == each {
			byName[name] = each
		}
	}
	for name, known := range preferred {
		if isPackage(known) {
			byName[name] = known
		}
	}
	for name := range p.unresolved {
		if found := byName[name]; found != "" && !taken[name] && !declared[name] {
			chosen = append(chosen, imported{path: found})
		}
	}
	sort.Slice(chosen, func(i, j int) bool { return chosen[i].path+chosen[i].name < chosen[j].path+chosen[j].name })
	return chosen, nil
}

func packageName(importPath string) string {
	name := path.Base(importPath)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(importPath))
	}
	return name
}

// render is the file that is compiled: the agent's lines are those of /program.go, everything else is ours.
func render(p *program, imports []imported) string {
	var text strings.Builder
	text.WriteString("package main\n\nimport codemodeContext \"context\"\n")
	for _, each := range imports {
		fmt.Fprintf(&text, "import %s %s\n", each.name, strconv.Quote(each.path))
	}
	text.WriteString("\nfunc Run(ctx codemodeContext.Context) error {\n//line /program.go:1:1\n")
	text.WriteString(p.body)
	text.WriteString("\n//line /generated.go:1\n\treturn nil\n}\n")
	return text.String()
}
