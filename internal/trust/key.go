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
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	keyFile = "key"
	// keyBytes is the length of the key, and of the file: a longer file is not our key.
	keyBytes = 32
	// keyDomain separates the key's name from every other hash of the key.
	keyDomain = "bmad-mcp: name of the signing key\n"
	// seedDomain derives the key of public seals. It never changes: members know the public half.
	seedDomain = "bmad-mcp: seed of the Ed25519 key\n"
	// keyName is the length of the key's name in hexadecimal digits.
	keyName = 16
)

// signer is a workflow.Signer. A closure holds the key, so that printing a signer does not.
type signer struct {
	name     string
	sign     func(message string) string
	public   ed25519.PublicKey
	notarize func(message string) []byte
}

// Key implements workflow.Signer: it names the key without revealing it.
func (s signer) Key() string { return s.name }

// Sign implements workflow.Signer, with the hexadecimal HMAC-SHA256.
func (s signer) Sign(message string) string { return s.sign(message) }

// Public implements workflow.Notary.
func (s signer) Public() ed25519.PublicKey { return s.public }

// Notarize implements workflow.Notary, with an Ed25519 key that follows from the folder's.
func (s signer) Notarize(message string) []byte { return s.notarize(message) }

func newSigner(key []byte) workflow.Signer {
	name := sha256.Sum256(append([]byte(keyDomain), key...))
	seed := hmac.New(sha256.New, key)
	_, _ = seed.Write([]byte(seedDomain)) // a hash takes everything
	private := ed25519.NewKeyFromSeed(seed.Sum(nil))
	return signer{
		public:   private.Public().(ed25519.PublicKey),
		notarize: func(message string) []byte { return ed25519.Sign(private, []byte(message)) },
		name:     hex.EncodeToString(name[:])[:keyName],
		sign: func(message string) string {
			mac := hmac.New(sha256.New, key)
			_, _ = mac.Write([]byte(message)) // a hash takes everything
			return hex.EncodeToString(mac.Sum(nil))
		},
	}
}

// Signer returns a signer with the folder's key, which is created if there is none. An unreadable
// or invalid key is an error and stays as it is: nothing else could check the seals made with it.
// Ask once in a process; the signer itself costs nothing.
func (u UserState) Signer(ctx context.Context) (signer workflow.Signer, err error) {
	err = u.withFolder(func(d dir) error {
		key, err := d.ensureKey(ctx)
		if err == nil {
			signer = newSigner(key)
		}
		return err
	})
	return signer, err
}

// ReadSigner is like Signer for checks: it creates nothing, and returns nil if there is no key.
func (u UserState) ReadSigner() (signer workflow.Signer, err error) {
	err = u.existing(func(d dir) error {
		key, err := d.readKey()
		if key != nil {
			signer = newSigner(key)
		}
		return err
	})
	return signer, err
}

// readKey returns the key, or nil if there is none.
func (d dir) readKey() ([]byte, error) {
	key, there, err := d.read(keyFile)
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
		"a new one is made, and histories that were sealed with the old one cannot be checked any more")
}

// ensureKey returns the key, creating it if there is none, once its name is on the disk.
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
	// For an existing one too: its creator may not have got this far.
	if err := d.SyncDir("."); err != nil {
		return nil, &durable.UnconfirmedError{Name: keyFile, Err: err}
	}
	return key, nil
}

// makeKey creates the key, or returns that of another process that was first.
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
	// A link is complete as soon as it is visible, and never replaces another, not even if locks do not work,
	// for example in a home folder that several machines share.
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
