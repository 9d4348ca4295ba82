package codemode

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"sort"

	"codemode/frames"
)

// maxDepth ends a value that contains itself before the stack does.
const maxDepth = 1000

// encodeValue is encoding/json with another meaning of empty lists, which programs rely on: an optional list is left out
// when it is nil, and sent when it is empty ("remove all labels"); a required one is never null unless the tool takes null.
func encodeValue(value any) ([]byte, error) {
	var buffer bytes.Buffer
	if err := appendValue(&buffer, reflect.ValueOf(value), maxDepth); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

var (
	jsonMarshaler = reflect.TypeOf((*json.Marshaler)(nil)).Elem()
	textMarshaler = reflect.TypeOf((*encoding.TextMarshaler)(nil)).Elem()
)

func appendValue(to *bytes.Buffer, value reflect.Value, depth int) error {
	if depth == 0 {
		return fmt.Errorf("a value is nested more than %d deep, or contains itself", maxDepth)
	}
	if !value.IsValid() {
		to.WriteString("null")
		return nil
	}
	kind := value.Kind()
	if kind == reflect.Pointer || kind == reflect.Interface {
		if value.IsNil() {
			to.WriteString("null")
			return nil
		}
		return appendValue(to, value.Elem(), depth-1)
	}
	if marshals(value.Type()) {
		return appendPlain(to, value)
	}
	switch {
	case kind == reflect.Struct && isOrdinary(value.Type()):
		return appendStruct(to, value, depth-1)
	case kind == reflect.Slice && value.Type().Elem().Kind() != reflect.Uint8, kind == reflect.Array:
		return appendList(to, value, depth-1)
	case kind == reflect.Map && value.Type().Key().Kind() == reflect.String && !marshals(value.Type().Key()):
		return appendMap(to, value, depth-1)
	}
	return appendPlain(to, value)
}

// marshals tells whether a type, or a pointer to it, says itself what its JSON is.
func marshals(kind reflect.Type) bool {
	pointer := reflect.PointerTo(kind)
	return pointer.Implements(jsonMarshaler) || pointer.Implements(textMarshaler)
}

// isOrdinary tells whether a struct has nothing but fields of its own with options that are known here.
func isOrdinary(kind reflect.Type) bool {
	for index := 0; index < kind.NumField(); index++ {
		field := kind.Field(index)
		if _, _, _, isPlain := tagOf(field.Tag.Get("json")); field.Anonymous || !isPlain {
			return false
		}
	}
	return true
}

func appendPlain(to *bytes.Buffer, value reflect.Value) error {
	// A method on the pointer counts as well.
	pointer := reflect.New(value.Type())
	pointer.Elem().Set(value)
	text, err := frames.Marshal(pointer.Interface())
	if err == nil {
		to.Write(text)
	}
	return err
}

func appendStruct(to *bytes.Buffer, value reflect.Value, depth int) error {
	to.WriteByte('{')
	isFirst := true
	known := map[string]bool{}
	var others reflect.Value
	for index := 0; index < value.NumField(); index++ {
		field, member := value.Type().Field(index), value.Field(index)
		tag := field.Tag.Get("json")
		name, isOmitted, isNullable, _ := tagOf(tag)
		if field.Tag.Get("codemode") == "additional" {
			others = member
			continue
		}
		known[name] = true
		if !field.IsExported() || tag == "-" || isOmitted && isAbsent(member) {
			continue
		}
		if name == "" {
			name = field.Name
		}
		if !isFirst {
			to.WriteByte(',')
		}
		isFirst = false
		if err := appendKey(to, name); err != nil {
			return err
		}
		if isNullable && isNil(member) {
			to.WriteString("null")
		} else if err := appendValue(to, member, depth); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if others.IsValid() && others.Kind() == reflect.Map {
		if err := appendOthers(to, others, known, isFirst, depth); err != nil {
			return err
		}
	}
	to.WriteByte('}')
	return nil
}

// appendOthers writes the keys that a struct keeps beside its fields; a field of the same name goes first.
func appendOthers(to *bytes.Buffer, others reflect.Value, known map[string]bool, isFirst bool, depth int) error {
	rest := reflect.MakeMap(others.Type())
	for _, key := range others.MapKeys() {
		if !known[key.String()] {
			rest.SetMapIndex(key, others.MapIndex(key))
		}
	}
	if rest.Len() == 0 {
		return nil
	}
	if !isFirst {
		to.WriteByte(',')
	}
	var text bytes.Buffer
	if err := appendMap(&text, rest, depth); err != nil {
		return err
	}
	to.Write(text.Bytes()[1 : text.Len()-1])
	return nil
}

func appendList(to *bytes.Buffer, value reflect.Value, depth int) error {
	to.WriteByte('[')
	for index := 0; index < value.Len(); index++ {
		if index > 0 {
			to.WriteByte(',')
		}
		if err := appendValue(to, value.Index(index), depth); err != nil {
			return err
		}
	}
	to.WriteByte(']')
	return nil
}

func appendMap(to *bytes.Buffer, value reflect.Value, depth int) error {
	keys := value.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	to.WriteByte('{')
	for index, key := range keys {
		if index > 0 {
			to.WriteByte(',')
		}
		if err := appendKey(to, key.String()); err != nil {
			return err
		}
		if err := appendValue(to, value.MapIndex(key), depth); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	to.WriteByte('}')
	return nil
}

func appendKey(to *bytes.Buffer, name string) error {
	text, err := frames.Marshal(name)
	to.Write(text)
	to.WriteByte(':')
	return err
}

// isAbsent is what `omitempty` leaves out: nothing, but not an empty list that somebody made.
func isAbsent(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Struct, reflect.Array:
		return false
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return value.IsNil()
	}
	return value.IsZero()
}

func isNil(value reflect.Value) bool {
	switch value.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return value.IsNil()
	}
	return false
}
