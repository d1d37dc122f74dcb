package vfs

import (
	"encoding/base64"
	"errors"
	"fmt"
	"unicode/utf8"
)

// Snapshot is the content of a file system, for saving.
type Snapshot struct {
	Entries []Entry `json:"entries"`
}

// Entry is a file or folder of a [Snapshot].
type Entry struct {
	Info
	// Text is the content if it is UTF-8, else Base64 is.
	Text   string `json:"text,omitempty"`
	Base64 string `json:"base64,omitempty"`
	// Base is the SHA-256 of the file replaced by an [Overlay], in hex.
	Base string `json:"base_sha256,omitempty"`
}

// Snapshot returns all files and folders, sorted by path; of an [Overlay], the changes.
func (l *layer) Snapshot() Snapshot {
	s := Snapshot{Entries: []Entry{}}
	for _, n := range l.sortedNodes() {
		e := Entry{Info: n.info, Base: n.below}
		switch {
		case n.read != nil:
			continue
		case utf8.Valid(n.data):
			e.Text = string(n.data)
		default:
			e.Base64 = base64.StdEncoding.EncodeToString(n.data)
		}
		s.Entries = append(s.Entries, e)
	}
	return s
}

// Restore replaces all files and folders; of an [Overlay], the changes. If the snapshot is not valid,
// nothing is changed.
func (l *layer) Restore(s Snapshot) error {
	fresh := newLayer(nothing{}, l.clock)
	for _, e := range s.Entries {
		if err := fresh.restoreEntry(e); err != nil {
			return fmt.Errorf("the entry %q of the snapshot cannot be used: %w", e.Path, err)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.nodes, l.size = fresh.nodes, fresh.size
	return nil
}

// restoreEntry adds an entry to a layer not in use yet.
func (l *layer) restoreEntry(e Entry) error {
	data, err := e.decodeData()
	if err != nil {
		return err
	}
	if e.Path, err = l.checkFree(e.Path, e.Dir); err != nil {
		return err
	}
	if e.Dir {
		err = l.Mkdir(e.Path)
	} else {
		err = l.putFile(e.Path, data, e.Base, e.Given)
	}
	if err == nil {
		e.Size = int64(len(data))
		l.nodes[e.Path].info = e.Info
	}
	return err
}

func (e Entry) decodeData() ([]byte, error) {
	if e.Base64 == "" {
		return []byte(e.Text), nil
	}
	if e.Text != "" {
		return nil, errors.New("it has two contents")
	}
	return base64.StdEncoding.DecodeString(e.Base64)
}
