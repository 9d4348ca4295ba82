package codemode

import (
	"encoding/json"
	"fmt"
)

// DecodeOpen decodes an object that may have keys beside those of its struct: names are the struct's own, all other keys
// go to additional, which points to a map. fields must have no UnmarshalJSON of its own.
func DecodeOpen(data []byte, fields, additional any, names ...string) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		return json.Unmarshal(data, fields)
	}
	own := map[string]json.RawMessage{}
	for _, name := range names {
		if value, isThere := all[name]; isThere {
			own[name] = value
			delete(all, name)
		}
	}
	if err := decodeFrom(own, fields); err != nil {
		return err
	}
	if len(all) == 0 {
		return nil
	}
	return decodeFrom(all, additional)
}

func decodeFrom(values map[string]json.RawMessage, output any) error {
	text, err := json.Marshal(values)
	if err != nil {
		return fmt.Errorf("the object could not be read: %w", err)
	}
	return json.Unmarshal(text, output)
}

// EncodeOpen is the JSON of such an object. fields must have no MarshalJSON of its own.
func EncodeOpen(fields any) ([]byte, error) {
	return encodeValue(fields)
}
