package passkey

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

const (
	listFile = "passkeys.json"
	lockFile = "passkeys.lock"
	// maxList bounds the file, in bytes. maxKeys bounds the passkeys in use.
	maxList = 4 << 20
	maxKeys = 20
)

// Key is a passkey of the list. Binary values are base64url without padding.
type Key struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// PublicKey is the key to check signatures with (COSE).
	PublicKey string    `json:"public_key"`
	Added     time.Time `json:"added"`
	// By names the permission for the enrolment: "pairing", or byPasskey with an id.
	By      string    `json:"by"`
	Used    time.Time `json:"used,omitzero"`
	Removed time.Time `json:"removed,omitzero"`
	// SignCount is the last number of signatures reported by the passkey. Many passkeys always report 0.
	SignCount uint32 `json:"sign_count,omitempty"`
	// Synced reports whether the authenticator copies the passkey to other devices.
	Synced     bool     `json:"synced,omitempty"`
	Transports []string `json:"transports,omitempty"`
}

// Short returns the beginning of the id, the form for people.
func (key Key) Short() string { return key.ID[:min(len(key.ID), 8)] }

// byPasskey begins [Key.By] if a passkey in use allowed the new one. The short id of the former follows.
const byPasskey = "passkey:"

// Allower returns the short id of the passkey that allowed this one. ok is false if the person allowed it at
// a terminal.
func (key Key) Allower() (id string, ok bool) { return strings.CutPrefix(key.By, byPasskey) }

// list is the content of the file. Removed keys stay in the file, because their signatures are still checked.
type list struct {
	// User is the person's handle, which authenticators keep with the passkeys.
	User string `json:"user"`
	Keys []Key  `json:"keys"`
}

func (l list) inUse() []Key {
	return slices.DeleteFunc(slices.Clone(l.Keys), func(key Key) bool { return !key.Removed.IsZero() })
}

// List returns the passkeys in use, the oldest first.
func (k *Keys) List() ([]Key, error) {
	l, err := k.readKeys()
	return l.inUse(), err
}

// Recent returns the passkeys in use added within a day. Pages show them at each decision, so that people
// notice a key they have not added themselves.
func (k *Keys) Recent() ([]Key, error) {
	l, err := k.readKeys()
	since := k.now().Add(-recent)
	return slices.DeleteFunc(l.inUse(), func(key Key) bool { return key.Added.Before(since) }), err
}

// Remove takes a passkey out of use. name is the passkey's name, or the beginning of the id.
func (k *Keys) Remove(ctx context.Context, name string) (removed Key, err error) {
	l, err := k.readKeys()
	if err == nil {
		_, err = l.findByName(name)
	}
	if err != nil {
		return removed, err
	}
	err = k.updateList(ctx, func(l *list) error {
		key, err := l.findByName(name)
		if err != nil {
			return err
		}
		key.Removed = k.now().UTC()
		removed = *key
		return nil
	})
	return removed, err
}

// findByName returns the passkey in use with a name, or with the beginning of an id.
func (l list) findByName(name string) (found *Key, err error) {
	for i, key := range l.Keys {
		hasName := key.Name == name
		hasID := len(name) >= 4 && strings.HasPrefix(key.ID, name)
		switch {
		case !key.Removed.IsZero(), !hasName && !hasID:
		case found != nil:
			return nil, fault.New(fault.InvalidArgument, "%q can mean more than one passkey", name).
				WithHint("give more of its id, which bmad-mcp dashboard passkeys --json shows")
		default:
			found = &l.Keys[i]
		}
	}
	if found == nil {
		return nil, fault.New(fault.NotFound, "no passkey in use has the name or id %q", name).WithHint("bmad-mcp dashboard passkeys lists them")
	}
	return found, nil
}

// readKeys returns the list, or an empty one without a file.
func (k *Keys) readKeys() (l list, err error) {
	if k.folder == "" {
		return l, nil
	}
	d, err := durable.OpenPrivateDir(k.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, diskError(err)
	}
	defer func() { _ = d.Close() }()
	return readList(d)
}

func readList(d *durable.Dir) (l list, err error) {
	data, err := d.ReadFile(listFile, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &l)
	}
	if err != nil {
		return list{}, fault.New(fault.Storage, "the list of passkeys %s cannot be read: %w", d.Join(listFile), err).
			WithHint("correct it, or move it away and enrol your passkeys again")
	}
	return l, nil
}

// updateList has do change the list under the lock of the file, and saves the list unless do returns an
// error. A file that cannot be read is left to the person.
func (k *Keys) updateList(ctx context.Context, do func(*list) error) error {
	if k.folder == "" {
		return fault.New(fault.Storage, "there is no state folder to keep passkeys in").
			WithHint("set HOME, or XDG_STATE_HOME to an absolute path, where the program is started")
	}
	if err := os.MkdirAll(k.folder, 0o700); err != nil {
		return diskError(err)
	}
	d, err := durable.OpenPrivateDir(k.folder)
	if err != nil {
		return diskError(err)
	}
	defer func() { _ = d.Close() }()
	lock, err := d.Lock(ctx, lockFile)
	if err != nil {
		return diskError(err)
	}
	defer func() { _ = lock.Unlock() }()
	l, err := readList(d)
	if err != nil {
		return err
	}
	if l.User == "" {
		l.User = randomName()
	}
	if err := do(&l); err != nil {
		return err
	}
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetIndent("", "  ")
	if err := enc.Encode(l); err != nil {
		return err
	}
	return diskError(d.Replace(listFile, data.Bytes()))
}

// diskError gives an error of the disk a code and a hint. Coded errors and the end of a context stay as they
// are.
func diskError(err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.Storage, "the list of passkeys cannot be read or written: %w", err).
		WithHint("make the state folder one that you can read and write, with free space, then repeat it")
}
