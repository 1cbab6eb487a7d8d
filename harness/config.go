package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/internal/tomlspot"
)

// ConfigFile is the configuration file in the evals root. Relative paths in it are relative to it.
const ConfigFile = "proctor.toml"

// configKey is one key of proctor.toml. take decodes its value with the given function and puts it
// into options that the caller left open.
type configKey struct {
	name string
	form string // what a value looks like, for messages
	take func(o *Options, decode func(any) error, local func(string) string) error
}

var errBelowOne = errors.New("below 1")

func text(field func(*Options) *string, path bool) func(*Options, func(any) error, func(string) string) error {
	return func(o *Options, decode func(any) error, local func(string) string) error {
		var s string
		if err := decode(&s); err != nil {
			return err
		}
		if path {
			s = local(s)
		}
		if f := field(o); *f == "" {
			*f = s
		}
		return nil
	}
}

func number[T int | int64](field func(*Options) *T) func(*Options, func(any) error, func(string) string) error {
	return func(o *Options, decode func(any) error, _ func(string) string) error {
		var n T
		if err := decode(&n); err != nil {
			return err
		}
		if n < 1 {
			return errBelowOne
		}
		if f := field(o); *f == 0 {
			*f = n
		}
		return nil
	}
}

const (
	formText   = `a text in quotes`
	formNumber = `a whole number of at least 1`
	formList   = `a list of texts, such as ["one", "two"]`
)

var configKeys = []configKey{
	{"deny_read", formList, func(o *Options, decode func(any) error, local func(string) string) error {
		var paths []string
		if err := decode(&paths); err != nil {
			return err
		}
		for _, p := range paths {
			o.DenyRead = append(o.DenyRead, local(p))
		}
		return nil
	}},
	{"scratch", formText, text(func(o *Options) *string { return &o.Scratch }, true)},
	{"results", formText, text(func(o *Options) *string { return &o.Results }, true)},
	{"jobs", formNumber, number(func(o *Options) *int { return &o.Jobs })},
	{"client", formText, func(o *Options, decode func(any) error, _ func(string) string) error {
		var names string
		if err := decode(&names); err != nil {
			return err
		}
		if len(o.Clients) == 0 {
			o.Clients = SplitList(names)
		}
		return nil
	}},
	{"model", formText, text(func(o *Options) *string { return &o.Model }, false)},
	{"configurations", formList, func(o *Options, decode func(any) error, _ func(string) string) error {
		var names []string
		if err := decode(&names); err != nil {
			return err
		}
		if len(o.Configurations) == 0 {
			o.Configurations = names
		}
		return nil
	}},
	{"limits.output_bytes", formNumber, number(func(o *Options) *int64 { return &o.MaxOutput })},
	{"limits.disk_bytes", formNumber, number(func(o *Options) *int64 { return &o.MaxDisk })},
	{"limits.files", formNumber, number(func(o *Options) *int64 { return &o.MaxFiles })},
	{"limits.processes", formNumber, number(func(o *Options) *int64 { return &o.MaxProcesses })},
	{"limits.memory_bytes", formNumber, number(func(o *Options) *int64 { return &o.MaxMemory })},
}

// mergeFile takes from proctor.toml what the caller left open. A missing file is fine. All problems
// of the file are returned together, each with file:line:column.
func (o *Options) mergeFile(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var values map[string]any
	meta, err := toml.Decode(string(data), &values)
	var parse toml.ParseError
	if errors.As(err, &parse) {
		line, col := tomlspot.Of(string(data), parse)
		return fmt.Errorf("%s:%d:%d: %s", ConfigFile, line, col, parse.Message)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", ConfigFile, err)
	}
	local := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(filepath.Dir(path), p)
	}
	var problems []error
	for _, key := range meta.Keys() {
		name := key.String()
		at := keyPosition(string(data), key)
		i := slices.IndexFunc(configKeys, func(k configKey) bool { return k.name == name })
		if i < 0 {
			if name == "limits" && meta.Type("limits") == "Hash" {
				continue
			}
			problems = append(problems, fmt.Errorf("%s: unknown key %q; the keys are %s", at, name, keyNames()))
			continue
		}
		k := configKeys[i]
		value := lookup(values, key)
		err := k.take(o, func(into any) error { return convert(value, into) }, local)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s must be %s", at, name, k.form))
		}
	}
	return errors.Join(problems...)
}

func keyNames() string {
	var names []string
	for _, k := range configKeys {
		names = append(names, k.name)
	}
	return strings.Join(names, ", ")
}

func lookup(values map[string]any, key toml.Key) any {
	var v any = values
	for _, part := range key {
		table, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = table[part]
	}
	return v
}

// convert puts a decoded TOML value into *string, *int, *int64 or *[]string.
func convert(value, into any) error {
	wrong := errors.New("wrong type")
	switch into := into.(type) {
	case *string:
		s, ok := value.(string)
		if !ok {
			return wrong
		}
		*into = s
	case *int:
		n, ok := value.(int64)
		if !ok || int64(int(n)) != n {
			return wrong
		}
		*into = int(n)
	case *int64:
		n, ok := value.(int64)
		if !ok {
			return wrong
		}
		*into = n
	case *[]string:
		list, ok := value.([]any)
		if !ok {
			return wrong
		}
		for _, item := range list {
			s, ok := item.(string)
			if !ok {
				return wrong
			}
			*into = append(*into, s)
		}
	}
	return nil
}

// keyPosition is file:line:column of a key's first appearance. The TOML library tells positions of
// syntax errors only.
func keyPosition(data string, key toml.Key) string {
	last := key[len(key)-1]
	for i, line := range strings.Split(data, "\n") {
		rest := strings.TrimLeft(line, " \t[")
		for _, form := range []string{key.String(), last, `"` + last + `"`, "'" + last + "'"} {
			after, ok := strings.CutPrefix(rest, form)
			if after = strings.TrimLeft(after, " \t"); ok && (strings.HasPrefix(after, "=") || strings.HasPrefix(after, "]") || strings.HasPrefix(after, ".")) {
				return fmt.Sprintf("%s:%d:%d", ConfigFile, i+1, len(line)-len(rest)+1)
			}
		}
	}
	return ConfigFile
}
