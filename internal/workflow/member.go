package workflow

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"slices"
)

// Notary signs with a key whose signatures everyone can check who knows its public half. A [Signer] can be
// one, too.
type Notary interface {
	Public() ed25519.PublicKey
	Notarize(message string) []byte
}

// Member is somebody who works on a project, by the public key of one of their machines.
type Member struct {
	// Key names the public key, as [PublicKeyName] does.
	Key string `json:"key"`
	// Public is the Ed25519 key, in base64.
	Public string `json:"public"`
	// Subject is the account that the machine's programs run in, Name the person's name as git has it.
	Subject string `json:"subject,omitempty"`
	Name    string `json:"name,omitempty"`
}

// PublicKeyName names a public key: the first 16 hexadecimal digits of its SHA-256.
func PublicKeyName(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:8])
}

// NewMember returns the member with a key.
func NewMember(key ed25519.PublicKey, subject, name string) Member {
	return Member{Key: PublicKeyName(key), Public: base64.StdEncoding.EncodeToString(key), Subject: subject, Name: name}
}

// publicKey decodes the key of a seal; ok is false if it is not the key that the seal names.
func (s Seal) publicKey() (key ed25519.PublicKey, ok bool) {
	data, err := base64.StdEncoding.DecodeString(s.Public)
	key = ed25519.PublicKey(data)
	return key, err == nil && len(data) == ed25519.PublicKeySize && PublicKeyName(key) == s.Key
}

// Signed reports whether a session has a public seal of another key than that of a signer.
func (s *Session) Signed(signer Signer) bool {
	own := NotaryKey(signer)
	return slices.ContainsFunc(s.Seals, func(seal Seal) bool { return seal.Public != "" && seal.Key != own })
}

// NotaryKey names the public key of a signer; "" if it has none.
func NotaryKey(signer Signer) string {
	if n, ok := signer.(Notary); ok {
		return PublicKeyName(n.Public())
	}
	return ""
}

// notarize adds the public seal of a signer beside its other one.
func (s *Session) notarize(signer Signer, next Seal) {
	n, ok := signer.(Notary)
	if !ok {
		return
	}
	next.Key, next.Public, next.Extra = NotaryKey(signer), base64.StdEncoding.EncodeToString(n.Public()), nil
	s.Seals = slices.DeleteFunc(s.Seals, func(seal Seal) bool {
		if seal.Key == next.Key {
			next.Extra = seal.Extra
		}
		return seal.Key == next.Key
	})
	next.Signature = base64.StdEncoding.EncodeToString(n.Notarize(publicDomain + next.message(s.SessionID, s.History)))
	s.Seals = append(s.Seals, next)
}

// publicDomain prevents a public seal from being valid for anything else.
const publicDomain = "bmad-mcp: public seal of a history\n"

// Who names a member for people.
func (m Member) Who() string {
	switch {
	case m.Name != "" && m.Subject != "":
		return m.Subject + " (" + m.Name + ")"
	case m.Subject != "":
		return m.Subject
	}
	return m.Key
}

// overlap returns the entries that are in both lists.
func overlap(a, b []Span) (out []Span) {
	for _, x := range a {
		for _, y := range b {
			if from, to := max(x.From, y.From), min(x.To, y.To); from <= to {
				out = append(out, Span{From: from, To: to})
			}
		}
	}
	return mergeSpans(out)
}
