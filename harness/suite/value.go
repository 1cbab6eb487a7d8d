package suite

import (
	"math"
	"math/big"

	"github.com/proctor-evals/proctor/harness/task"
)

// value is a YAML value with its place. A mapping has fields, a sequence items, else scalar is it.
type value struct {
	at     spot
	kind   valueKind
	scalar any // see the function scalar
	items  []*value
	fields []field // in the order of the file; of the same key only the last
}

type valueKind int

const (
	isScalar valueKind = iota
	isList
	isMap
)

type field struct {
	key   any // a scalar
	name  string
	at    spot // of the key
	value *value
}

// spot is a place in one of the files.
type spot struct {
	file string
	Place
}

func (s spot) problem(message, fix string) task.Problem {
	return task.Problem{File: s.file, Line: s.Line, Col: s.Col, Message: message, Fix: fix}
}

// get is the value of a key, or nil.
func (v *value) get(name string) *value {
	for _, f := range v.fields {
		if f.name == name {
			return f.value
		}
	}
	return nil
}

func (v *value) isNull() bool { return v.kind == isScalar && v.scalar == nil }

// merged is over laid on base: mappings merge, and of anything else over is the value.
func merged(base, over *value) *value {
	if base.kind != isMap || over.kind != isMap {
		return over
	}
	out := &value{at: base.at, kind: isMap, fields: append([]field(nil), base.fields...)}
	for _, f := range over.fields {
		found := false
		for i, b := range out.fields {
			if identity(b.key) == identity(f.key) {
				out.fields[i] = field{f.key, f.name, f.at, merged(b.value, f.value)}
				found = true
			}
		}
		if !found {
			out.fields = append(out.fields, f)
		}
	}
	return out
}

// json is the value as encoding/json prints it; a float that JSON has not is its text.
func (v *value) json() any {
	switch v.kind {
	case isList:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.json()
		}
		return out
	case isMap:
		out := make(map[string]any, len(v.fields))
		for _, f := range v.fields {
			out[f.name] = f.value.json()
		}
		return out
	}
	switch s := v.scalar.(type) {
	case *big.Int:
		if s.IsInt64() {
			return s.Int64()
		}
		return s
	case float64:
		if math.IsNaN(s) || math.IsInf(s, 0) {
			return pythonFloat(s)
		}
		return s
	case stamp:
		return string(s)
	}
	return v.scalar
}
