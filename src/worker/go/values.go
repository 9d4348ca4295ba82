package codemode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Convert turns a value of a union (maps, lists, numbers) into a type of its own, or what a text holds.
func Convert(value, output any) error {
	if text, isText := value.(string); isText {
		_, takesAnything := output.(*any)
		if takesAnything || !takesText(output) {
			if data, isData := dataIn(text); isData {
				return decode("convert", data, output)
			}
		}
	}
	text, err := encodeValue(value)
	if err != nil {
		return err
	}
	return decode("convert", text, output)
}

// decode reads a result. What does not fit is an error that names the field; everything that fits is still there.
func decode(function string, body []byte, output any) error {
	isText := len(body) > 0 && body[0] == '"'
	if text, ok := output.(*string); ok {
		if isText {
			return json.Unmarshal(body, text)
		}
		*text = string(body)
		return nil
	}
	if raw, ok := output.(*json.RawMessage); ok {
		*raw = append((*raw)[:0], body...)
		return nil
	}
	if isText && !takesText(output) {
		// A server that declares a structure and answers with text sends its JSON in it.
		var text string
		if err := json.Unmarshal(body, &text); err == nil && json.Valid([]byte(text)) {
			body = []byte(text)
		}
	}
	err := json.Unmarshal(body, output)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		place := "the result"
		if mismatch.Field != "" {
			place = fmt.Sprintf("field %q of the result", mismatch.Field)
		}
		return fmt.Errorf("%s: %s should be %s, but the tool sent %s", function, place, mismatch.Type, mismatch.Value)
	}
	if err != nil {
		return fmt.Errorf("%s: the result could not be read: %w", function, err)
	}
	return nil
}

// takesText tells whether a string can be decoded into what output points to.
func takesText(output any) bool {
	kind := fmt.Sprintf("%T", output)
	return kind == "*interface {}" || json.Unmarshal([]byte(`""`), output) == nil
}

func encodeArguments(input any) ([]byte, error) {
	if input == nil {
		return []byte("[{}]"), nil
	}
	text, err := encodeValue(input)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(text, []byte("null")) {
		return []byte("[{}]"), nil
	}
	return append(append([]byte{'['}, text...), ']'), nil
}

// tagOf splits a field's tag into its name and its options.
func tagOf(tag string) (name string, isOmitted, isNullable, isPlain bool) {
	parts := strings.Split(tag, ",")
	isPlain = true
	for _, option := range parts[1:] {
		switch option {
		case "omitempty":
			isOmitted = true
		case "nullable":
			isNullable = true
		default:
			isPlain = false
		}
	}
	return parts[0], isOmitted, isNullable, isPlain
}
