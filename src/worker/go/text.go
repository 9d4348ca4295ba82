package codemode

import (
	"bytes"
	"encoding/json"
	"strings"
)

// dataIn finds the data that a tool's text holds, as JSON: JSON itself, also under a heading, JSON lines, a Python literal, a Markdown table or CSV, whose
// rows become objects of texts. It evaluates nothing, and takes time in proportion to the text.
func dataIn(text string) ([]byte, bool) {
	trimmed := strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if trimmed == "" {
		return nil, false
	}
	if strings.ContainsRune("{[(", rune(trimmed[0])) {
		if json.Valid([]byte(trimmed)) {
			return []byte(trimmed), true
		}
		if data, ok := jsonLines(trimmed); ok {
			return data, true
		}
		data := pythonAsJSON(trimmed)
		return data, json.Valid(data)
	}
	if data, ok := jsonUnderHeading(trimmed); ok {
		return data, true
	}
	if rows, ok := markdownRows(trimmed); ok {
		return rowsAsJSON(rows)
	}
	if rows, ok := csvRows(trimmed); ok {
		return rowsAsJSON(rows)
	}
	return nil, false
}

// Longer headings are texts of their own.
const maxHeadingBytes = 1_000

// jsonUnderHeading finds `Found 2 issues:`, and below it one JSON value to the end, or in one block of code.
func jsonUnderHeading(text string) ([]byte, bool) {
	for at := strings.IndexByte(text, '\n'); at >= 0 && at < maxHeadingBytes; {
		below := strings.TrimSpace(text[at:])
		if strings.HasPrefix(below, "{") || strings.HasPrefix(below, "[") {
			return []byte(below), json.Valid([]byte(below))
		}
		if strings.HasPrefix(below, "```") {
			_, inside, _ := strings.Cut(below, "\n")
			inside, behind, isClosed := strings.Cut(inside, "```")
			inside = strings.TrimSpace(inside)
			isData := strings.HasPrefix(inside, "{") || strings.HasPrefix(inside, "[")
			return []byte(inside), isClosed && behind == "" && isData && json.Valid([]byte(inside))
		}
		next := strings.IndexByte(text[at+1:], '\n')
		if next < 0 {
			break
		}
		at += 1 + next
	}
	return nil, false
}

func jsonLines(text string) ([]byte, bool) {
	var values []string
	for _, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if !json.Valid([]byte(line)) {
			return nil, false
		}
		values = append(values, line)
	}
	return []byte("[" + strings.Join(values, ",") + "]"), true
}

// pythonAsJSON writes what Python's repr prints as JSON: strings in either quotes, tuples, None, True, False, commas at the end.
func pythonAsJSON(text string) []byte {
	var out []byte
	for at := 0; at < len(text); {
		switch character := text[at]; {
		case character == '\'' || character == '"':
			value, end := pythonString(text, at)
			quoted, _ := json.Marshal(value)
			out = append(out, quoted...)
			at = end
		case character == '(':
			out = append(out, '[')
			at++
		case character == ')' || character == ']' || character == '}':
			out = bytes.TrimSuffix(bytes.TrimRight(out, " \n\t"), []byte{','})
			if character == ')' {
				character = ']'
			}
			out = append(out, character)
			at++
		case isLetter(character):
			end := at
			for end < len(text) && isLetter(text[end]) {
				end++
			}
			word := text[at:end]
			if known, ok := pythonWords[word]; ok {
				word = known
			}
			out = append(out, word...)
			at = end
		default:
			out = append(out, character)
			at++
		}
	}
	return out
}

var pythonWords = map[string]string{"None": "null", "True": "true", "False": "false"}

var pythonEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r'}

func pythonString(text string, start int) (value string, end int) {
	var out strings.Builder
	for at := start + 1; at < len(text); at++ {
		switch {
		case text[at] == text[start]:
			return out.String(), at + 1
		case text[at] == '\\' && at+1 < len(text):
			at++
			if escaped, ok := pythonEscapes[text[at]]; ok {
				out.WriteByte(escaped)
			} else {
				out.WriteByte(text[at])
			}
		default:
			out.WriteByte(text[at])
		}
	}
	return out.String(), len(text)
}

func isLetter(character byte) bool {
	return character >= 'a' && character <= 'z' || character >= 'A' && character <= 'Z'
}

// markdownRows reads the first table of a text, its header first.
func markdownRows(text string) ([][]string, bool) {
	var rows [][]string
	lines := strings.Split(text, "\n")
	for at := 1; at < len(lines); at++ {
		if !isRule(lines[at]) || !strings.Contains(lines[at-1], "|") {
			continue
		}
		rows = append(rows, tableCells(lines[at-1]))
		for _, line := range lines[at+1:] {
			if !strings.Contains(line, "|") {
				break
			}
			rows = append(rows, tableCells(line))
		}
		return rows, len(rows[0]) > 1
	}
	return nil, false
}

func isRule(line string) bool {
	return strings.Contains(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "-:| \t\r") == ""
}

func tableCells(line string) []string {
	line = strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(line), "|"), "|")
	cells := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
	for at := range cells {
		cells[at] = strings.ReplaceAll(strings.TrimSpace(cells[at]), "\x00", "|")
	}
	return cells
}

// csvRows reads rows under a header, with commas, tabs or semicolons between cells. Every row has as many cells as the header.
func csvRows(text string) ([][]string, bool) {
	first, _, _ := strings.Cut(text, "\n")
	delimiter := byte(0)
	for _, each := range []byte{',', '\t', ';'} {
		if delimiter == 0 || strings.Count(first, string(each)) > strings.Count(first, string(delimiter)) {
			delimiter = each
		}
	}
	rows := [][]string{nil}
	var cell []byte
	isQuoted := false
	endCell := func() {
		rows[len(rows)-1] = append(rows[len(rows)-1], string(cell))
		cell = cell[:0]
	}
	for at := 0; at < len(text); at++ {
		switch character := text[at]; {
		case character == '"' && isQuoted && at+1 < len(text) && text[at+1] == '"':
			cell = append(cell, '"')
			at++
		case character == '"':
			isQuoted = !isQuoted
		case isQuoted:
			cell = append(cell, character)
		case character == delimiter:
			endCell()
		case character == '\n':
			endCell()
			rows = append(rows, nil)
		case character != '\r':
			cell = append(cell, character)
		}
	}
	endCell()
	if len(rows) < 2 || len(rows[0]) < 2 || isQuoted {
		return nil, false
	}
	for _, row := range rows {
		if len(row) != len(rows[0]) {
			return nil, false
		}
	}
	return rows, true
}

func rowsAsJSON(rows [][]string) ([]byte, bool) {
	objects := make([]map[string]string, 0, len(rows)-1)
	for _, row := range rows[1:] {
		object := make(map[string]string, len(row))
		for at, name := range rows[0] {
			if at < len(row) {
				object[name] = row[at]
			}
		}
		objects = append(objects, object)
	}
	data, err := json.Marshal(objects)
	return data, err == nil
}
