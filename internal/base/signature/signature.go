// Package signature signs texts, and checks signatures, as OpenSSH signs files: `ssh-keygen -Y verify -n bmad-mcp`
// accepts each of them (https://github.com/openssh/openssh-portable/blob/master/PROTOCOL.sshsig).
package signature

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"
)

// Namespace is the namespace of every signature of this program: a signature for another purpose does not
// count.
const Namespace = "bmad-mcp"

// Key is a public key in the form of a line of an authorized_keys file, without options and comment: its
// type and its base64 form.
type Key string

func keyOf(public ssh.PublicKey) Key {
	return Key(public.Type() + " " + base64.StdEncoding.EncodeToString(public.Marshal()))
}

// Fingerprint names the key as `ssh-keygen -l` does: SHA256: and the hash in base64. It is "" if the key is not one.
func (k Key) Fingerprint() string {
	public, err := k.parseKey()
	if err != nil {
		return ""
	}
	return ssh.FingerprintSHA256(public)
}

// Touched reports whether the key is in a security key, which signs if a person touches it.
func (k Key) Touched() bool { return strings.HasPrefix(string(k), "sk-") }

// IsEd25519 reports whether the key is of the type of the keys of machines, whose signatures are checked quickly.
func (k Key) IsEd25519() bool { return strings.HasPrefix(string(k), ssh.KeyAlgoED25519+" ") }

func (k Key) parseKey() (ssh.PublicKey, error) {
	_, text, _ := strings.Cut(string(k), " ")
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, err
	}
	return ssh.ParsePublicKey(data)
}

// Signer makes signatures with one key.
type Signer struct {
	public Key
	signer ssh.Signer
}

// NewSigner returns the signer with a private key.
func NewSigner(private ed25519.PrivateKey) (Signer, error) {
	signer, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		return Signer{}, err
	}
	return Signer{keyOf(signer.PublicKey()), signer}, nil
}

// Public returns the key for checking the signatures.
func (s Signer) Public() Key { return s.public }

// Sign returns the signature of a message: the binary form in base64, made into a file by [Armor].
func (s Signer) Sign(message []byte) (string, error) {
	made, err := sshsig.Sign(bytes.NewReader(message), s.signer, sshsig.HashSHA512, Namespace)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(made.Marshal()), nil
}

// ErrInvalid is the error of an invalid signature, or of one for another message.
var ErrInvalid = errors.New("the signature is not valid")

// Verify returns the key behind a signature of a message. The caller has to know the key's owner.
func Verify(message []byte, signature string) (Key, error) {
	s, err := decodeSignature(signature)
	if err != nil {
		return "", err
	}
	if err := sshsig.Verify(bytes.NewReader(message), s, s.PublicKey, s.HashAlgorithm, Namespace); err != nil {
		return "", ErrInvalid
	}
	return keyOf(s.PublicKey), nil
}

// MadeBy returns the key named in a signature, without a check of the signature.
func MadeBy(signature string) (Key, error) {
	s, err := decodeSignature(signature)
	if err != nil {
		return "", err
	}
	return keyOf(s.PublicKey), nil
}

// maxSignature bounds a signature in base64, in bytes: with the accepted keys it has at most 500.
const maxSignature = 1 << 10

func decodeSignature(signature string) (*sshsig.Signature, error) {
	if len(signature) > maxSignature || strings.ContainsAny(signature, "\r\n") { // line ends, which base64 leaves out
		return nil, ErrInvalid
	}
	data, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil {
		return nil, ErrInvalid
	}
	s, err := sshsig.ParseSignature(data)
	if err != nil || s.Namespace != Namespace || !slices.Contains(quick, s.PublicKey.Type()) {
		return nil, ErrInvalid
	}
	return s, nil
}

// quick are the types of keys whose signatures are taken: an RSA key can have any length, and each check of a signature
// by a long one takes a tenth of a second of somebody else's machine.
var quick = []string{ssh.KeyAlgoED25519, ssh.KeyAlgoSKED25519, ssh.KeyAlgoECDSA256, ssh.KeyAlgoECDSA384, ssh.KeyAlgoECDSA521, ssh.KeyAlgoSKECDSA256}

// Armor returns a signature as a file for ssh-keygen; "" if it is invalid.
func Armor(signature string) string {
	s, err := decodeSignature(signature)
	if err != nil {
		return ""
	}
	return string(sshsig.Armor(s))
}

// Unarmor reads a file made by ssh-keygen, or by [Armor].
func Unarmor(file []byte) (signature string, err error) {
	s, err := sshsig.Unarmor(file)
	if err != nil || s.Namespace != Namespace {
		return "", ErrInvalid
	}
	return base64.StdEncoding.EncodeToString(s.Marshal()), nil
}
