package suite

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/proctor-evals/proctor/harness/task"
)

const atLeastOne = "List should have at least 1 item"

// assertions reads a task's list.
func (d *decoder) assertions(v *value, loc string, config JudgeConfig) []Assertion {
	if v.kind != isList {
		d.add(v.at, loc, "must be a list", "")
		return nil
	}
	var out []Assertion
	for i, item := range v.items {
		if a, ok := d.assertion(item, loc+index(i), config); ok {
			out = append(out, a)
		}
	}
	return out
}

func (d *decoder) assertion(v *value, loc string, config JudgeConfig) (Assertion, bool) {
	if v.kind != isMap {
		d.add(v.at, loc, "an assertion must be a mapping", "write `- type: value`")
		return Assertion{}, false
	}
	var types []field
	for _, f := range v.fields {
		if f.name != "known_issue" && f.name != "providers" {
			types = append(types, f)
		}
	}
	meta := &object{d, v, loc}
	a := Assertion{KnownIssue: meta.note("known_issue"), Providers: d.providers(meta, "providers")}
	if len(types) != 1 {
		var names []string
		for _, f := range types {
			names = append(names, f.name)
		}
		what := "there is none"
		if len(names) > 0 {
			what = "there are " + strings.Join(names, ", ")
		}
		d.add(v.at, loc, "an assertion has exactly one type key; "+what, "write one entry for each")
		return a, false
	}
	f := types[0]
	kind, ok := kinds()[f.name]
	if _, isText := f.key.(string); !ok || !isText {
		known := slices.Sorted(maps.Keys(kinds()))
		fix := "the types are " + strings.Join(known, ", ")
		if near := task.Near(f.name, known); near != "" {
			fix = fmt.Sprintf("did you mean %s?", near)
		}
		d.add(f.at, loc, "unknown assertion type "+quoted(f.name), fix)
		return a, false
	}
	a.Type, a.Raw, a.At = f.name, f.value.json(), f.at.Place
	before := len(d.problems)
	a.Check = kind.read(&assertionReader{d.wrapped(f.value, loc+"."+f.name, kind), config})
	return a, len(d.problems) == before
}

// wrapped is the mapping form of an assertion's value.
func (d *decoder) wrapped(v *value, loc string, kind kindOf) *object {
	if v.kind != isMap && kind.short != "" {
		v = &value{at: v.at, kind: isMap, fields: []field{{kind.short, kind.short, v.at, v}}}
	}
	if v.isNull() && kind.short == "" && len(kind.keys) == 0 {
		v = &value{at: v.at, kind: isMap}
	}
	return d.object(v, loc, kind.keys...)
}

// providers reads a list of harness names, which may not be empty.
func (d *decoder) providers(o *object, key string) []string {
	v := o.given(key)
	if v == nil {
		return nil
	}
	if v.kind != isList || len(v.items) == 0 {
		d.add(v.at, o.at(key), "must be a non-empty list of harness names", "remove the key to mean all")
		return nil
	}
	var out []string
	for i, item := range v.items {
		out = append(out, d.harnessName(item, o.at(key)+index(i)))
	}
	return out
}

// verdicts reads pass_on, in upper case.
func (d *decoder) verdicts(o *object, key string, mayBeEmpty bool) []string {
	if o.get(key) == nil || !mayBeEmpty && o.given(key) == nil {
		return nil
	}
	v := o.get(key)
	var out []string
	for i, item := range o.list(key) {
		loc := o.at(key) + index(i)
		if s, ok := item.scalar.(string); ok && strings.TrimSpace(s) == "" {
			d.add(item.at, loc, "must be a non-empty string", "")
			continue
		}
		upper := *item
		if s, ok := item.scalar.(string); ok {
			upper.scalar = strings.ToUpper(strings.TrimSpace(s))
		}
		out = append(out, d.choice(&upper, loc, "YES", "NO", "UNCLEAR"))
	}
	if v.kind == isList && len(v.items) == 0 && !mayBeEmpty {
		d.add(v.at, o.at(key), atLeastOne, "")
	}
	return out
}

// name is a required text of at least one character.
func (r *assertionReader) name(key string) string {
	v := r.need(key)
	if v == nil {
		return ""
	}
	s, ok := r.d.text(v, r.at(key))
	if ok && strings.TrimSpace(s) == "" {
		r.d.add(v.at, r.at(key), "String should have at least 1 character", "")
	}
	return s
}

// path is a path in the working directory.
func (r *assertionReader) path(needed bool) string {
	v := r.given("path")
	if needed {
		v = r.need("path")
	}
	if v == nil {
		return ""
	}
	s, ok := r.d.text(v, r.at("path"))
	if !ok {
		return s
	}
	clean := path.Clean(s)
	switch {
	case s == "" || clean == ".":
		r.d.add(v.at, r.at("path"), "the path names no file", "")
	case strings.HasPrefix(s, "/") || clean == ".." || strings.HasPrefix(clean, "../") || strings.ContainsAny(s, "\x00"):
		r.d.add(v.at, r.at("path"), "the path "+quoted(s)+" leaves the working directory", "name a file in it")
	}
	return clean
}

// regexp compiles a value's text; nil when it is missing.
func (r *assertionReader) regexp(v *value, loc string) *Regexp {
	if v == nil {
		return nil
	}
	s, ok := r.d.text(v, loc)
	if !ok {
		return nil
	}
	re, err := Compile(s)
	if err != nil {
		r.d.add(v.at, loc, err.Error(), "")
	}
	return re
}

func (r *assertionReader) pattern(empty bool) (string, *Regexp) {
	v := r.need("pattern")
	asRegexp := r.strictBool("regex", false)
	if v == nil {
		return "", nil
	}
	s, ok := r.d.text(v, r.at("pattern"))
	if ok && s == "" && !empty {
		r.d.add(v.at, r.at("pattern"), "String should have at least 1 character", "every answer contains the empty text")
	}
	if !asRegexp || !ok {
		return s, nil
	}
	return s, r.regexp(v, r.at("pattern"))
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

func quoted(s string) string { return strconv.Quote(s) }
