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
	// maxList bounds the file, in bytes, and maxKeys the passkeys in use.
	maxList = 4 << 20
	maxKeys = 20
)

// Key is a passkey of the list. Its values are base64url without padding.
type Key struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// PublicKey checks its signatures (COSE).
	PublicKey string    `json:"public_key"`
	Added     time.Time `json:"added"`
	// By names the permission for its enrolment.
	By      string    `json:"by"`
	Used    time.Time `json:"used,omitzero"`
	Removed time.Time `json:"removed,omitzero"`
	// SignCount is the last number of signatures that it reported. Many passkeys always report 0.
	SignCount uint32 `json:"sign_count,omitempty"`
	// Synced is true if its authenticator copies it to other devices.
	Synced     bool     `json:"synced,omitempty"`
	Transports []string `json:"transports,omitempty"`
}

// Short returns the beginning of its id, by which people name it.
func (key Key) Short() string { return key.ID[:min(len(key.ID), 8)] }

// byPasskey begins [Key.By] if a passkey in use allowed the new one. The beginning of its id follows.
const byPasskey = "passkey:"

// Allower returns the beginning of the id of the passkey that allowed this one. ok is false if the
// person allowed it at a terminal.
func (key Key) Allower() (id string, ok bool) { return strings.CutPrefix(key.By, byPasskey) }

// list is the content of the file. Removed keys stay in it, so that their signatures can still be
// checked.
type list struct {
	// User is the handle that authenticators keep with the passkeys.
	User string `json:"user"`
	Keys []Key  `json:"keys"`
}

func (l list) inUse() []Key {
	return slices.DeleteFunc(slices.Clone(l.Keys), func(key Key) bool { return !key.Removed.IsZero() })
}

// List returns the passkeys in use, the oldest first.
func (k *Keys) List() ([]Key, error) {
	l, err := k.read()
	return l.inUse(), err
}

// Recent returns the passkeys in use that were added within a day. When people decide, they should
// notice if they did not add one themselves.
func (k *Keys) Recent() ([]Key, error) {
	l, err := k.read()
	since := k.now().Add(-recent)
	return slices.DeleteFunc(l.inUse(), func(key Key) bool { return key.Added.Before(since) }), err
}

// Remove takes a passkey out of use. It is named by its name, or by the beginning of its id.
func (k *Keys) Remove(ctx context.Context, name string) (removed Key, err error) {
	l, err := k.read()
	if err == nil {
		_, err = l.find(name)
	}
	if err != nil {
		return removed, err
	}
	err = k.change(ctx, func(l *list) error {
		key, err := l.find(name)
		if err != nil {
			return err
		}
		key.Removed = k.now().UTC()
		removed = *key
		return nil
	})
	return removed, err
}

// find returns the passkey in use that people call by a name or the beginning of an id.
func (l list) find(name string) (found *Key, err error) {
	for i, key := range l.Keys {
		hasName := key.Name == name
		hasID := len(name) >= 4 && strings.HasPrefix(key.ID, name)
		switch {
		case !key.Removed.IsZero(), !hasName && !hasID:
		case found != nil:
			return nil, fault.New(fault.InvalidArgument, "%q can mean more than one passkey", name).WithHint("give more of its id, which bmad-mcp dashboard passkeys --json shows")
		default:
			found = &l.Keys[i]
		}
	}
	if found == nil {
		return nil, fault.New(fault.NotFound, "no passkey in use has the name or id %q", name).WithHint("bmad-mcp dashboard passkeys lists them")
	}
	return found, nil
}

// read returns the list, which is empty if there is no file.
func (k *Keys) read() (l list, err error) {
	if k.folder == "" {
		return l, nil
	}
	d, err := durable.OpenPrivateDir(k.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return l, trouble(err)
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

// change changes the list under its lock, unless do returns an error. If the list cannot be read, it is
// left to the person.
func (k *Keys) change(ctx context.Context, do func(*list) error) error {
	if k.folder == "" {
		return fault.New(fault.Storage, "there is no state folder to keep passkeys in").
			WithHint("set HOME, or XDG_STATE_HOME to an absolute path, where the program is started")
	}
	if err := os.MkdirAll(k.folder, 0o700); err != nil {
		return trouble(err)
	}
	d, err := durable.OpenPrivateDir(k.folder)
	if err != nil {
		return trouble(err)
	}
	defer func() { _ = d.Close() }()
	lock, err := d.Lock(ctx, lockFile)
	if err != nil {
		return trouble(err)
	}
	defer func() { _ = lock.Unlock() }()
	l, err := readList(d)
	if err != nil {
		return err
	}
	if l.User == "" {
		l.User = random()
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
	return trouble(d.Replace(listFile, data.Bytes()))
}

// trouble gives an error of the disk its code and a hint.
func trouble(err error) error {
	var coded *fault.Error
	if err == nil || errors.As(err, &coded) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fault.New(fault.Storage, "the list of passkeys cannot be read or written: %w", err).
		WithHint("make the state folder one that you can read and write, with free space, then repeat it")
}
