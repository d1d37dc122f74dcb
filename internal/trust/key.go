package trust

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	keyFile = "key"
	// keyBytes is the length of the key, and of the file: a longer file is not our key.
	keyBytes = 32
	// seedDomain derives the key of signatures. It never changes: others know the public half.
	seedDomain = "bmad-mcp: seed of the Ed25519 key\n"
)

// signer is a workflow.Signer. A closure holds the key, so that printing a signer does not print it.
type signer struct {
	signature.Signer
	mac func(message string) string
}

// MAC implements workflow.Signer, with the hexadecimal HMAC-SHA256.
func (s signer) MAC(message string) string { return s.mac(message) }

func newSigner(key []byte) (workflow.Signer, error) {
	seed := hmac.New(sha256.New, key)
	_, _ = seed.Write([]byte(seedDomain)) // a hash takes everything
	signs, err := signature.NewSigner(ed25519.NewKeyFromSeed(seed.Sum(nil)))
	return signer{signs, func(message string) string {
		mac := hmac.New(sha256.New, key)
		_, _ = mac.Write([]byte(message)) // a hash takes everything
		return hex.EncodeToString(mac.Sum(nil))
	}}, err
}

// Signer returns a signer with the folder's key, which is created if there is none. An unreadable
// or invalid key is an error and stays as it is: nothing could be signed with it any more.
// Ask once in a process; the signer itself costs nothing.
func (u UserState) Signer(ctx context.Context) (signer workflow.Signer, err error) {
	err = u.withFolder(func(d dir) error {
		key, err := d.ensureKey(ctx)
		if err == nil {
			signer, err = newSigner(key)
		}
		return err
	})
	return signer, err
}

// ReadSigner is like Signer for checks: it creates nothing, and returns nil if there is no key.
func (u UserState) ReadSigner() (signer workflow.Signer, err error) {
	err = u.withExisting(func(d dir) error {
		key, err := d.readKey()
		if err == nil && key != nil {
			signer, err = newSigner(key)
		}
		return err
	})
	return signer, err
}

// CanSign reports whether there is a key, or a place to make one.
func (u UserState) CanSign() bool {
	return u != "" && u.withExisting(func(d dir) error { _, err := d.readKey(); return err }) == nil
}

// readKey returns the key, or nil if there is none.
func (d dir) readKey() ([]byte, error) {
	key, there, err := d.readIfExists(keyFile)
	switch {
	case !there:
		return nil, nil
	case err != nil:
		err = fault.New(fault.Storage, "the signing key %s cannot be read: %w", d.Join(keyFile), err)
	case len(key) != keyBytes:
		err = fault.New(fault.Storage, "the signing key %s is broken: it has %d bytes and should have %d", d.Join(keyFile), len(key), keyBytes)
	default:
		return key, nil
	}
	return nil, fault.From(err).WithHint("make it readable for you, or restore it from a backup; when it is moved away, " +
		"a new one is made, and histories that were signed with the old one no longer count as yours")
}

// ensureKey returns the key, creating it if there is none, once the file's name is on the disk.
func (d dir) ensureKey(ctx context.Context) ([]byte, error) {
	key, err := d.readKey()
	if err != nil {
		return nil, err
	}
	if key == nil {
		if key, err = d.makeKey(ctx); err != nil {
			return nil, err
		}
	}
	// This also matters for an existing key: the process that created it may not have got this far.
	if err := d.SyncDir("."); err != nil {
		return nil, &durable.UnconfirmedError{Name: keyFile, Err: err}
	}
	return key, nil
}

// makeKey creates the key, or returns the key of another process that was first.
func (d dir) makeKey(ctx context.Context) (key []byte, err error) {
	lock, err := d.Lock(ctx, lockName)
	if err != nil {
		return nil, err
	}
	defer func() { _ = lock.Unlock() }()
	if key, err = d.readKey(); err != nil || key != nil {
		return key, err
	}
	key = make([]byte, keyBytes)
	_, _ = rand.Read(key) // it never fails: https://pkg.go.dev/crypto/rand#Read
	temp := durable.TempName(keyFile)
	if err := d.CreateUnsynced(temp, key); err != nil {
		return nil, err
	}
	// A link is complete as soon as it is visible, and never replaces another, not even if locks do not work, for
	// example in a home folder shared by several machines.
	err = d.link(temp, keyFile)
	switch {
	case err == nil:
		return key, d.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		first, readErr := d.readKey()
		if first == nil && readErr == nil {
			readErr = err // it is gone again: somebody deletes keys, and must not cause new ones
		}
		return first, errors.Join(readErr, d.Remove(temp))
	}
	// The file system has no links: rely on the lock.
	if err := d.Rename(temp, keyFile); err != nil {
		return nil, errors.Join(err, d.Remove(temp))
	}
	return key, nil
}
