package harness

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/BurntSushi/toml"
)

// ConfigFile is the configuration file in the evals root. Relative paths in it are relative to it.
const ConfigFile = "proctor.toml"

type fileConfig struct {
	DenyRead       []string `toml:"deny_read"`
	Scratch        string   `toml:"scratch"`
	Results        string   `toml:"results"`
	Jobs           *int     `toml:"jobs"`
	Client         string   `toml:"client"`
	Model          string   `toml:"model"`
	Configurations []string `toml:"configurations"`
	Limits         struct {
		OutputBytes *int64 `toml:"output_bytes"`
		DiskBytes   *int64 `toml:"disk_bytes"`
		Files       *int64 `toml:"files"`
	} `toml:"limits"`
}

// mergeFile takes from proctor.toml what the caller left open. A missing file is fine.
func (o *Options) mergeFile(path string) error {
	var f fileConfig
	meta, err := toml.DecodeFile(path, &f)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return fmt.Errorf("%s:%d:%d: %s", path, parse.Position.Line, parse.Position.Col, parse.Message)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var problems []error
	for _, key := range meta.Undecoded() {
		problems = append(problems, fmt.Errorf("%s: unknown key %q; the keys are deny_read, scratch, results, jobs, client, model, configurations, limits.output_bytes, limits.disk_bytes, limits.files", path, key.String()))
	}
	if f.Jobs != nil && *f.Jobs < 1 {
		problems = append(problems, fmt.Errorf("%s: jobs = %d: give a whole number of at least 1", path, *f.Jobs))
	}
	limits := []struct {
		name  string
		value *int64
		field *int64
	}{
		{"output_bytes", f.Limits.OutputBytes, &o.MaxOutput},
		{"disk_bytes", f.Limits.DiskBytes, &o.MaxDisk},
		{"files", f.Limits.Files, &o.MaxFiles},
	}
	for _, l := range limits {
		if l.value != nil && *l.value < 1 {
			problems = append(problems, fmt.Errorf("%s: limits.%s = %d: give a number of at least 1", path, l.name, *l.value))
		}
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	dir := filepath.Dir(path)
	local := func(p string) string {
		if p == "" || filepath.IsAbs(p) {
			return p
		}
		return filepath.Join(dir, p)
	}
	setDefault(&o.Scratch, local(f.Scratch))
	setDefault(&o.Results, local(f.Results))
	setDefault(&o.Client, f.Client)
	setDefault(&o.Model, f.Model)
	if len(o.Configurations) == 0 {
		o.Configurations = f.Configurations
	}
	if o.Jobs == 0 && f.Jobs != nil {
		o.Jobs = *f.Jobs
	}
	for _, l := range limits {
		if *l.field == 0 && l.value != nil {
			*l.field = *l.value
		}
	}
	for _, p := range f.DenyRead {
		o.DenyRead = append(o.DenyRead, local(p))
	}
	return nil
}

func setDefault(field *string, value string) {
	if *field == "" {
		*field = value
	}
}
