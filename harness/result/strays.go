package result

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
)

// strays are the fields of a record this version has no place for, at any depth. A record that is
// read and written again keeps them, so that an older Proctor does not strip what a newer one wrote.
type strays struct {
	own     map[string]json.RawMessage // of this object
	in      map[string]strays          // of the objects in it, by name
	at      map[int]strays             // of the elements of this array
	foreign bool                       // something is kept here or below
}

var timeType = reflect.TypeFor[time.Time]()

// straysOf compares data, valid JSON, with the Go type it is decoded into.
func straysOf(data json.RawMessage, t reflect.Type) strays {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	var s strays
	switch {
	case t == timeType:
	case t.Kind() == reflect.Slice:
		var elements []json.RawMessage
		if json.Unmarshal(data, &elements) != nil {
			return s
		}
		for i, e := range elements {
			if sub := straysOf(e, t.Elem()); sub.foreign {
				if s.at == nil {
					s.at = map[int]strays{}
				}
				s.at[i], s.foreign = sub, true
			}
		}
	case t.Kind() == reflect.Map || t.Kind() == reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(data, &members) != nil {
			return s
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			value := members[name]
			own, typ := memberOf(t, name)
			if typ == nil {
				if s.own == nil {
					s.own = map[string]json.RawMessage{}
				}
				s.own[name], s.foreign = value, true
				continue
			}
			if sub := straysOf(value, typ); sub.foreign {
				if s.in == nil {
					s.in = map[string]strays{}
				}
				s.in[own], s.foreign = sub, true
			}
		}
	}
	return s
}

// memberOf is the name and type of the member encoding/json decodes name into, or a nil type. It
// matches names whatever their case, so a name that differs in case only is no stray.
func memberOf(t reflect.Type, name string) (string, reflect.Type) {
	if t.Kind() == reflect.Map {
		return name, t.Elem()
	}
	for f := range t.Fields() {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if tag != "" && strings.EqualFold(tag, name) {
			return tag, f.Type
		}
	}
	return "", nil
}

// into puts the strays back into an encoded value. An object or element that is gone takes its
// strays with it.
func (s strays) into(encoded json.RawMessage) (json.RawMessage, error) {
	if !s.foreign {
		return encoded, nil
	}
	switch encoded[0] {
	case '[':
		return s.intoArray(encoded)
	case '{':
		return s.intoObject(encoded)
	default:
		return encoded, nil
	}
}

func (s strays) intoArray(encoded json.RawMessage) (json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(encoded, &elements); err != nil {
		return nil, err
	}
	for i := range elements {
		e, err := s.at[i].into(elements[i])
		if err != nil {
			return nil, err
		}
		elements[i] = e
	}
	return json.Marshal(elements)
}

// intoObject goes by tokens, which keeps the order of the members.
func (s strays) intoObject(encoded json.RawMessage) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(encoded))
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	member := func(name string, value json.RawMessage) error {
		key, err := json.Marshal(name)
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return nil, err
		}
		if value, err = s.in[name].into(value); err != nil {
			return nil, err
		}
		if err := member(name, value); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.own)) {
		if err := member(name, s.own[name]); err != nil {
			return nil, err
		}
	}
	return slices.Concat([]byte("{"), out.Bytes(), []byte("}")), nil
}

// encode is the record with its strays. plain must be the record as a type without MarshalJSON.
func (s strays) encode(plain any) ([]byte, error) {
	b, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	return s.into(b)
}

// MarshalJSON keeps the fields of a newer writer.
func (t Trial) MarshalJSON() ([]byte, error) {
	type plain Trial
	return t.strays.encode(plain(t))
}

// MarshalJSON keeps the fields of a newer writer.
func (b Benchmark) MarshalJSON() ([]byte, error) {
	type plain Benchmark
	return b.strays.encode(plain(b))
}

// MarshalJSON keeps the fields of a newer writer.
func (r Run) MarshalJSON() ([]byte, error) {
	type plain Run
	return r.strays.encode(plain(r))
}
