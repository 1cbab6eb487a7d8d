package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/proctor-evals/proctor/harness/client"
	"github.com/proctor-evals/proctor/harness/gateway"
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

// listError are the problems of the items of a list, each with the item as it is written.
type listError []itemError

type itemError struct {
	text string
	err  error
}

func (l listError) Error() string {
	var lines []string
	for _, item := range l {
		lines = append(lines, item.err.Error())
	}
	return strings.Join(lines, "\n")
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

// amount takes a number above 0.
func amount(field func(*Options) *float64) func(*Options, func(any) error, func(string) string) error {
	return func(o *Options, decode func(any) error, _ func(string) string) error {
		var n float64
		if err := decode(&n); err != nil {
			return err
		}
		if !(n > 0) || math.IsInf(n, 0) {
			return errBelowOne
		}
		if f := field(o); *f == 0 {
			*f = n
		}
		return nil
	}
}

// endpoint takes a text of an API's endpoint.
func endpoint(api string, path bool, field func(*EndpointOptions) *string) func(*Options, func(any) error, func(string) string) error {
	return func(o *Options, decode func(any) error, local func(string) string) error {
		e := o.Endpoints[api]
		at := func(*Options) *string { return field(&e) }
		if err := text(at, path)(o, decode, local); err != nil {
			return err
		}
		if o.Endpoints = maps.Clone(o.Endpoints); o.Endpoints == nil {
			o.Endpoints = map[string]EndpointOptions{}
		}
		o.Endpoints[api] = e
		return nil
	}
}

func endpointURL(e *EndpointOptions) *string     { return &e.URL }
func endpointKeyFile(e *EndpointOptions) *string { return &e.KeyFile }

const (
	formText   = `a text in quotes`
	formNumber = `a whole number of at least 1`
	formAmount = `a number above 0`
	formPaths  = `a list of paths, absolute or from this file's folder, such as ["/srv/plugins"]`
	formList   = `a list of texts, such as ["one", "two"]`
)

var configKeys = []configKey{
	{"deny_read", formPaths, func(o *Options, decode func(any) error, local func(string) string) error {
		var paths []string
		if err := decode(&paths); err != nil {
			return err
		}
		var problems listError
		for _, p := range paths {
			path := filepath.Clean(local(p))
			if err := checkDenied(p, path); err != nil {
				problems = append(problems, itemError{p, err})
			}
			o.DenyRead = append(o.DenyRead, path)
		}
		if problems != nil {
			return problems
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
	{"models", formList, func(o *Options, decode func(any) error, _ func(string) string) error {
		var names []string
		if err := decode(&names); err != nil {
			return err
		}
		o.Models = append(o.Models, names...)
		return nil
	}},
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
	{"limits.run_max_tokens", formNumber, number(func(o *Options) *int64 { return &o.MaxTokens })},
	{"limits.run_max_cost", formAmount, amount(func(o *Options) *float64 { return &o.MaxCost })},
	{"limits.trial_max_tokens", formNumber, number(func(o *Options) *int64 { return &o.TrialMaxTokens })},
	{"limits.trial_max_cost", formAmount, amount(func(o *Options) *float64 { return &o.TrialMaxCost })},
	{"limits.wait_secs", formNumber, number(func(o *Options) *int64 { return &o.MaxWaitSecs })},
	{"endpoints.anthropic.url", formText, endpoint(client.APIAnthropic, false, endpointURL)},
	{"endpoints.anthropic.key_file", formText, endpoint(client.APIAnthropic, true, endpointKeyFile)},
	{"endpoints.openai.url", formText, endpoint(client.APIOpenAI, false, endpointURL)},
	{"endpoints.openai.key_file", formText, endpoint(client.APIOpenAI, true, endpointKeyFile)},
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
			if slices.Contains(configTables, name) && meta.Type(key...) == "Hash" {
				continue
			}
			if key[0] == "prices" {
				if err := o.takePrice(key, meta.Type(key...), lookup(values, key)); err != nil {
					problems = append(problems, fmt.Errorf("%s: %w", at, err))
				}
				continue
			}
			problems = append(problems, fmt.Errorf("%s: unknown key %q; the keys are %s", at, name, keyNames()))
			continue
		}
		k := configKeys[i]
		value := lookup(values, key)
		err := k.take(o, func(into any) error { return convert(value, into) }, local)
		if items := (listError)(nil); errors.As(err, &items) {
			for _, item := range items {
				problems = append(problems, fmt.Errorf("%s: %w", itemPosition(string(data), key, item.text), item.err))
			}
			continue
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %s must be %s", at, name, k.form))
		}
	}
	for _, model := range slices.Sorted(maps.Keys(o.Prices)) {
		table, _ := lookup(values, toml.Key{"prices", model}).(map[string]any)
		for _, field := range priceFields {
			if _, ok := table[field]; !ok && table != nil {
				problems = append(problems, fmt.Errorf("%s: prices.%q has no %s; what is not said would cost nothing", keyPosition(string(data), toml.Key{"prices", model}), model, field))
			}
		}
	}
	return errors.Join(problems...)
}

// configTables are the keys that only hold others.
var configTables = []string{"limits", "endpoints", "endpoints.anthropic", "endpoints.openai", "prices"}

// priceFields are what a model's price has, in US dollars for a million tokens.
var priceFields = []string{"input", "output", "cache_read", "cache_write"}

// takePrice takes [prices.MODEL] and its fields.
func (o *Options) takePrice(key toml.Key, typ string, value any) error {
	if len(key) == 2 && typ == "Hash" {
		if o.Prices = maps.Clone(o.Prices); o.Prices == nil {
			o.Prices = map[string]gateway.Price{}
		}
		o.Prices[key[1]] = gateway.Price{}
		return nil
	}
	if len(key) != 3 || !slices.Contains(priceFields, key[2]) {
		return fmt.Errorf("unknown key %q; a price is a table [prices.\"MODEL\"] with %s", key.String(), strings.Join(priceFields, ", "))
	}
	var n float64
	if err := convert(value, &n); err != nil || !(n >= 0) || math.IsInf(n, 0) {
		return fmt.Errorf("%s must be a number of at least 0, in US dollars for a million tokens", key.String())
	}
	p := o.Prices[key[1]]
	*map[string]*float64{"input": &p.Input, "output": &p.Output, "cache_read": &p.CacheRead, "cache_write": &p.CacheWrite}[key[2]] = n
	o.Prices[key[1]] = p
	return nil
}

func keyNames() string {
	var names []string
	for _, k := range configKeys {
		names = append(names, k.name)
	}
	names = append(names, "prices")
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

// convert puts a decoded TOML value into *string, *int, *int64, *float64 or *[]string.
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
	case *float64:
		switch n := value.(type) {
		case float64:
			*into = n
		case int64:
			*into = float64(n)
		default:
			return wrong
		}
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

// itemPosition is the place of a text in the list of a key, or the key's where it is spelled otherwise.
func itemPosition(data string, key toml.Key, item string) string {
	at := keyPosition(data, key)
	var first int
	if _, err := fmt.Sscanf(strings.TrimPrefix(at, ConfigFile), ":%d:", &first); err != nil {
		return at
	}
	for i, line := range strings.Split(data, "\n") {
		for _, quote := range []string{`"`, "'"} {
			if col := strings.Index(line, quote+item+quote); i+1 >= first && col >= 0 {
				return fmt.Sprintf("%s:%d:%d", ConfigFile, i+1, col+1)
			}
		}
	}
	return at
}
