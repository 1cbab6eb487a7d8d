package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/google/renameio/v2/maybe"
)

// fileHash is the SHA-256 of a file and what the file looked like when it was
// hashed. While that is unchanged, the hash is taken as still true.
type fileHash struct {
	Size    int64  `json:"size"`
	MTimeNS int64  `json:"mtime_ns"` // since 1970
	Inode   uint64 `json:"inode"`
	SHA256  string `json:"sha256"`
}

// hashes remembers file hashes in a JSON file, so that a 250 MB client is not
// read at every start. It is a cache: an unreadable file counts as empty, and
// failing to write it costs time only.
type hashes struct {
	path    string
	files   map[string]fileHash
	changed bool
}

type hashesFile struct {
	SchemaVersion int                 `json:"schema_version"`
	Files         map[string]fileHash `json:"files"`
}

func loadHashes(path string) *hashes {
	h := &hashes{path: path, files: map[string]fileHash{}}
	b, err := readSmall(path, 16<<20)
	if err != nil {
		return h
	}
	if files := parseHashes(b); files != nil {
		h.files = files
	}
	return h
}

// parseHashes returns nil for a file that is not a hash file of this version.
func parseHashes(b []byte) map[string]fileHash {
	var f hashesFile
	if json.Unmarshal(b, &f) != nil || f.SchemaVersion != 1 {
		return nil
	}
	return f.Files
}

// save writes the file if something changed and its folder exists.
func (h *hashes) save() {
	if !h.changed {
		return
	}
	b, err := json.MarshalIndent(hashesFile{1, h.files}, "", "  ")
	if err != nil {
		return
	}
	if maybe.WriteFile(h.path, append(b, '\n'), 0o644) == nil {
		h.changed = false
	}
}

// file returns the SHA-256 of a regular file, in hex, remembered under key.
func (h *hashes) file(key, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	now := fileHash{Size: info.Size(), MTimeNS: info.ModTime().UnixNano(), Inode: inode(info)}
	if known, ok := h.files[key]; ok {
		now.SHA256 = known.SHA256
		if now == known && len(known.SHA256) == hex.EncodedLen(sha256.Size) {
			return known.SHA256, nil
		}
	}
	if now.SHA256, err = hashFile(path); err != nil {
		return "", err
	}
	h.files[key], h.changed = now, true
	return now.SHA256, nil
}

// tree returns the SHA-256 of a folder as [Tool] defines it for srt. Keys are
// paths relative to root. Other kinds of files than regular ones, folders and
// links are an error.
func (h *hashes) tree(root, folder string) (string, error) {
	var lines []string
	err := filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(filepath.Join(root, folder), path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		var sum string
		switch {
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			sum = "link:" + target
		case d.Type().IsRegular():
			if sum, err = h.file(filepath.ToSlash(folder)+"/"+rel, path); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s is neither a file nor a folder nor a link", path)
		}
		lines = append(lines, rel+"\x00"+sum+"  "+rel+"\n")
		return nil
	})
	if err != nil {
		return "", err
	}
	sort.Strings(lines) // by path; a NUL sorts before all a path can hold
	sum := sha256.New()
	for _, l := range lines {
		_, line, _ := strings.Cut(l, "\x00")
		io.WriteString(sum, line)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func hashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// readSmall reads a file of at most limit bytes.
func readSmall(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return b, nil
}
