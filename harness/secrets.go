package harness

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"

	"github.com/proctor-evals/proctor/internal/redact"
)

// secretName is what the names of variables that hold secrets have in them, between underscores.
var secretName = regexp.MustCompile(`(?i)(^|_)(API_?KEY|APIKEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|CREDENTIALS?|AUTH)(_|$)`)

// secrets are the values that nothing kept may hold: those of the environment's variables with a
// secret's name, and the contents of the key files. environ is like os.Environ's.
func (o Options) secrets(environ []string) *redact.Set {
	var values []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if secretName.MatchString(name) && !strings.HasPrefix(name, "PROCTOR_") && looksSecret(value) {
			values = append(values, value)
		}
	}
	for _, file := range o.keyFiles() {
		// One that cannot be read is said where the key is needed.
		if data, err := os.ReadFile(file); err == nil {
			values = append(values, string(data))
		}
	}
	return redact.New(values...)
}

// looksSecret leaves out paths, numbers and plain words: a variable with such a value says where a
// secret is, or how many, and the records have words of their own that must stay.
func looksSecret(value string) bool {
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "/") {
		return false
	}
	letters := strings.ContainsFunc(value, func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' })
	more := strings.ContainsFunc(value, func(r rune) bool { return r < 'a' || r > 'z' })
	return letters && more
}

// filter takes the runner's secrets out of what goes to a kept file.
func (t *trial) filter(w io.Writer) io.WriteCloser {
	return t.run.secrets.Writer(w, &t.removed)
}

// clean is filter for a text that is there whole.
func (t *trial) clean(text []byte) []byte {
	cleaned := t.run.secrets.Clean(text)
	if !bytes.Equal(cleaned, text) {
		t.removed.Add(1)
	}
	return cleaned
}

// tellRemoved notes that the trial had a secret to write.
func (t *trial) tellRemoved() {
	if n := t.removed.Load(); n > 0 {
		t.find("secret_removed", fmt.Sprintf("%d times a secret of the runner's stood in what the trial wrote; it is not in what is kept", n))
	}
}
