package trust

import (
	"context"
	"crypto/hmac"
	"path"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	derivedFolder = "derived"
	// derivedDomain prevents the signature from being valid for anything else.
	derivedDomain = "bmad-mcp: derived data\n"
	// maxDerived bounds a file of derived data, in bytes, and derivedFiles their number.
	maxDerived, derivedFiles = 64 << 20, 16
	// signed is the length of a signature, with which the file begins.
	signed = 64
)

// Derived returns the data given to KeepDerived under a name; nil if there is none, or if anybody else has written
// it.
func (u UserState) Derived(name string) (data []byte) {
	signer, err := u.ReadSigner()
	if err != nil || signer == nil {
		return nil
	}
	_ = u.withExisting(func(d dir) error { // what cannot be read is derived again
		file, err := d.ReadFile(derivedFile(name), maxDerived)
		if err == nil && len(file) >= signed && hmac.Equal(file[:signed], []byte(signDerived(signer, name, file[signed:]))) {
			data = file[signed:]
		}
		return err
	})
	return data
}

// KeepDerived keeps data that the program could derive again. Of too many names the oldest go.
func (u UserState) KeepDerived(name string, data []byte) error {
	signer, err := u.Signer(context.Background())
	if err != nil {
		return err
	}
	return u.withFolder(func(d dir) error {
		if _, err := d.MkdirAll(derivedFolder); err != nil {
			return err
		}
		if err := d.Replace(derivedFile(name), append([]byte(signDerived(signer, name, data)), data...)); err != nil {
			return err
		}
		return d.RemoveOldest(derivedFolder, derivedFiles)
	})
}

// DropDerived removes the data of a name, if there is any.
func (u UserState) DropDerived(name string) error {
	return u.withExisting(func(d dir) error {
		if !d.Exists(derivedFile(name)) {
			return nil
		}
		return d.Remove(derivedFile(name))
	})
}

func derivedFile(name string) string {
	return path.Join(derivedFolder, workflow.Hash([]byte(name))[:32])
}

func signDerived(signer workflow.Signer, name string, data []byte) string {
	return signer.MAC(derivedDomain + workflow.Hash([]byte(name)) + "\n" + workflow.Hash(data))
}
