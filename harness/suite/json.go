package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/proctor-evals/proctor/harness/task"
)

// maxJSONDepth bounds how deep values stand in each other.
const maxJSONDepth = 200

// jsonReader makes a value of JSON, with places.
type jsonReader struct {
	file string
	data []byte
	dec  *json.Decoder
}

func parseJSON(file string, data []byte) (*value, task.Problems) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := &jsonReader{file, data, json.NewDecoder(bytes.NewReader(data))}
	r.dec.UseNumber()
	if !utf8.Valid(data) {
		return nil, task.Problems{(spot{file: file}).problem("the file is not UTF-8 text", "save it as UTF-8")}
	}
	v, err := r.value(0)
	if err == nil {
		if _, again := r.dec.Token(); !errors.Is(again, io.EOF) {
			err = errors.New("more follows after the value")
		}
	}
	if err != nil {
		at := r.next()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && syntax.Offset > r.dec.InputOffset() { // within the token
			at = r.spot(syntax.Offset - 1)
		}
		return nil, task.Problems{at.problem("this is no JSON: "+err.Error(), "correct the syntax")}
	}
	return v, nil
}

// spot is the place of a byte.
func (r *jsonReader) spot(offset int64) spot {
	before := r.data[:min(int(offset), len(r.data))]
	line := bytes.Count(before, []byte("\n"))
	return spot{r.file, Place{line + 1, len(before) - bytes.LastIndexByte(before, '\n')}}
}

// next is where the next token begins.
func (r *jsonReader) next() spot {
	at := r.dec.InputOffset()
	rest := r.data[at:]
	return r.spot(at + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n,:"))))
}

func (r *jsonReader) value(depth int) (*value, error) {
	if depth > maxJSONDepth {
		return nil, fmt.Errorf("values stand more than %d deep in each other", maxJSONDepth)
	}
	v := &value{at: r.next()}
	token, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("the file ends too early")
	}
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		return v, r.container(v, token, depth)
	case json.Number:
		if n, ok := new(big.Int).SetString(token.String(), 10); ok && len(token) < maxDigits && !strings.HasPrefix(token.String(), "-0") {
			v.scalar = n
		} else if v.scalar, err = token.Float64(); err != nil {
			return nil, fmt.Errorf("the number %.40s is too large", token)
		}
	default:
		v.scalar = token
	}
	return v, nil
}

func (r *jsonReader) container(v *value, open json.Delim, depth int) error {
	v.kind = isList
	if open == '{' {
		v.kind = isMap
	}
	for r.dec.More() {
		if v.kind == isList {
			item, err := r.value(depth + 1)
			if err != nil {
				return err
			}
			v.items = append(v.items, item)
			continue
		}
		at := r.next()
		key, err := r.dec.Token()
		if err != nil {
			return err
		}
		name, _ := key.(string) // the decoder takes nothing else here
		val, err := r.value(depth + 1)
		if err != nil {
			return err
		}
		v.fields = append(dropKey(v.fields, name), field{name, name, at, val})
	}
	_, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		return errors.New("the file ends too early")
	}
	return err
}

// dropKey removes an earlier field of the same name: the last one counts.
func dropKey(fields []field, name string) []field {
	for i, f := range fields {
		if f.name == name {
			return append(fields[:i:i], fields[i+1:]...)
		}
	}
	return fields
}
