package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"sort"
	"strconv"
	"strings"
)

// mistake is something about the agent's code that is told before a compiler sees it.
type mistake struct {
	line, column int
	message      string
	hint         string
}

// program is the agent's code, taken apart.
type program struct {
	// body has the same lines and columns as the code; what must not be in it is blank.
	body    string
	imports []imported
	// unresolved are names that the body uses and does not declare, with where they are first used.
	unresolved map[string]token.Position
}

type imported struct {
	name, path   string
	line, column int
}

const (
	head = "package p; func _() {\n//line /program.go:1:1\n"
	foot = "\n}\n"
)

// prepare checks that the code is the body of one function and nothing else, whatever it tries to be.
func prepare(source string) (*program, *mistake) {
	prepared := &program{unresolved: map[string]token.Position{}}
	body, wrong := prepared.withoutImports(source)
	if wrong != nil {
		return nil, wrong
	}
	prepared.body = body
	files := token.NewFileSet()
	text := head + body + foot
	file, err := parser.ParseFile(files, "/generated.go", text, 0)
	if err != nil {
		return nil, parseMistake(err, source)
	}
	// Code that closes the function opens something else before it ends, or our own brace would be one too many.
	function, isFunction := file.Decls[0].(*ast.FuncDecl)
	if len(file.Decls) != 1 || !isFunction || function.Body == nil || files.Position(function.Body.Rbrace).Line <= strings.Count(body, "\n") {
		return nil, &mistake{line: 1, column: 1, message: "the code closes the function that it is the body of", hint: bodyHint}
	}
	for _, name := range file.Unresolved {
		if _, isKnown := prepared.unresolved[name.Name]; !isKnown {
			prepared.unresolved[name.Name] = files.Position(name.Pos())
		}
	}
	return prepared, nil
}

const bodyHint = "Write the statements of a function body. Functions are values: name := func(a int) int { ... }"

// withoutImports takes the imports off the top of the code and blanks every order to the compiler in its comments.
func (p *program) withoutImports(source string) (string, *mistake) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var tokens scanner.Scanner
	tokens.Init(file, []byte(source), func(token.Position, string) {}, scanner.ScanComments)
	body := []byte(source)
	blank := func(from, to int) {
		for ; from < to && from < len(body); from++ {
			if body[from] != '\n' {
				body[from] = ' '
			}
		}
	}
	isTop := true
	var begin, depth int
	var kind token.Token = token.SEMICOLON
	var alias string
	for {
		pos, tok, text := tokens.Scan()
		at := file.Offset(pos)
		// Not by way of files.Position: a `//line` of the agent's would be believed there.
		place := file.PositionFor(pos, false)
		switch {
		case tok == token.EOF:
			if kind == token.IMPORT {
				blank(begin, len(body))
			}
			return string(body), nil
		case tok == token.COMMENT:
			if isOrder(text) {
				blank(at, at+len(text))
			}
			continue
		case !isTop:
			continue
		case kind == token.IMPORT:
			switch tok {
			case token.LPAREN:
				depth++
			case token.RPAREN:
				depth--
			case token.IDENT, token.PERIOD:
				alias = text
				if tok == token.PERIOD {
					alias = "."
				}
			case token.STRING:
				path, err := strconv.Unquote(text)
				if err != nil || path == "" {
					return "", &mistake{place.Line, place.Column, "this is not an import path", ""}
				}
				p.imports = append(p.imports, imported{alias, path, place.Line, place.Column})
				alias = ""
			case token.SEMICOLON:
				if depth <= 0 {
					kind = token.SEMICOLON
					// A line break stands for the semicolon where there is none.
					end := at
					if text == ";" {
						end++
					}
					blank(begin, end)
				}
			default:
				return "", &mistake{place.Line, place.Column, fmt.Sprintf("unexpected %s in an import", tok), ""}
			}
		case tok == token.SEMICOLON:
		case tok == token.IMPORT:
			begin, depth, kind = at, 0, token.IMPORT
		case tok == token.PACKAGE:
			return "", &mistake{place.Line, place.Column, "the code is a whole file with a package clause", bodyHint + " Leave out `package main` and `func main`."}
		default:
			isTop = false
		}
	}
}

// isOrder tells whether a comment means something to the compiler.
func isOrder(comment string) bool {
	for _, start := range []string{"//line ", "/*line ", "//go:", "//export ", "//extern "} {
		if strings.HasPrefix(comment, start) {
			return true
		}
	}
	return strings.HasPrefix(comment, "//line\t") || strings.HasPrefix(comment, "/*line\t")
}

func parseMistake(err error, source string) *mistake {
	list, isList := err.(scanner.ErrorList)
	if !isList || len(list) == 0 {
		return &mistake{1, 1, err.Error(), ""}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Pos.Line < list[j].Pos.Line })
	first := list[0]
	last := strings.Count(source, "\n") + 1
	if first.Pos.Line > last || first.Pos.Filename != "/program.go" {
		return &mistake{last, 1, "the code ends too early, or closes more than it opens: " + first.Msg, "Look for a brace, parenthesis, quote or comment that is not closed."}
	}
	found := &mistake{first.Pos.Line, first.Pos.Column, first.Msg, ""}
	lines := strings.Split(source, "\n")
	if line := strings.TrimSpace(lines[first.Pos.Line-1]); strings.HasPrefix(line, "func ") {
		found.message = "a named function cannot be declared inside a function"
		found.hint = bodyHint
	} else if strings.HasPrefix(line, "import") {
		found.hint = "Imports stand at the top of the code; packages of the standard library need none."
	}
	return found
}
