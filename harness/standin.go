package harness

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"strings"
)

// standInPrefix marks a program that only plays a part in a test.
const standInPrefix = "fake-"

func isStandIn(name string) bool { return strings.HasPrefix(name, standInPrefix) }

func fileSHA256(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
