package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Apart is the scratch for trials that no sandbox of Proctor's holds (exploratory ones): the same but
// for a store of its own, so that no file they run is one that enforced trials run too.
func (s *Scratch) Apart() *Scratch {
	return &Scratch{Dir: s.Dir, PrivateTmp: s.PrivateTmp, apart: true}
}

// stores are the names of the two stores.
var stores = []string{"store", "store-exploratory"}

func (s *Scratch) storeDir() string {
	if s.apart {
		return filepath.Join(s.Dir, stores[1])
	}
	return filepath.Join(s.Dir, stores[0])
}

// openStore makes the store where it is missing, and returns it.
func (s *Scratch) openStore() (string, error) {
	dir := s.storeDir()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// replaced keeps that a stored copy was not what it should be. The scratch is locked, by this process
// too.
func (s *Scratch) replaced(name, stored string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.anew = append(s.anew, fmt.Sprintf("the copy of %s in the scratch (%s) was no longer what was installed, and was made anew; what ran before may have run the changed one", name, stored))
}

// Replaced says which stored copies were found changed and made anew, since the scratch was opened.
func (s *Scratch) Replaced() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.anew)
}
