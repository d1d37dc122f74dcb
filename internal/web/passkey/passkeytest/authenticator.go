// Package passkeytest has a passkey for tests: an authenticator in software, and the browser in
// front of it, each part of which can be made to differ from an honest one.
package passkeytest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
)

// Authenticator is a passkey, an ES256 key, with the browser that asks it.
type Authenticator struct {
	// ID is that of the passkey, User the handle of its owner, given at its enrolment.
	ID   []byte
	User string
	// Count is the number of signatures that it reports; it stays as it is.
	Count uint32
	// Origin is that of the page, and Party the domain that the authenticator takes it for.
	Origin, Party string
	// Flags are those that the authenticator vouches for: Present and Verified.
	Flags byte
	// Kind is the ceremony that the browser reports; "" for the one it was asked for.
	Kind string
	// CrossOrigin is true if the page is in a frame of another.
	CrossOrigin bool

	key *ecdsa.PrivateKey
}

// The flags of an authenticator: somebody touched it, it verified its owner, its keys are copied
// to other devices.
const (
	Present  byte = 1
	Verified byte = 4
	Synced   byte = 8
	attested byte = 0x40
)

// New returns a passkey and an honest browser at a page of an origin.
func New(origin string) *Authenticator {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // there is randomness
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return &Authenticator{key: key, ID: id, Origin: origin, Party: "localhost", Flags: Present | Verified}
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func (a *Authenticator) clientData(kind, challenge string) []byte {
	if a.Kind != "" {
		kind = a.Kind
	}
	return must(json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": a.CrossOrigin}))
}

// data is the authenticator data; made follows it if a key was made.
func (a *Authenticator) data(made []byte) []byte {
	rp := sha256.Sum256([]byte(a.Party))
	flags := a.Flags
	if made != nil {
		flags |= attested
	}
	return slices.Concat(rp[:], []byte{flags}, binary.BigEndian.AppendUint32(nil, a.Count), made)
}

// Create answers the options of an enrolment.
func (a *Authenticator) Create(options []byte) []byte {
	var o struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	read(options, &o)
	a.User = o.User.ID
	point := must(a.key.PublicKey.Bytes()) // 4, x, y
	cose := slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33], []byte{0x22, 0x58, 32}, point[33:])
	data := a.data(slices.Concat(make([]byte, 16), binary.BigEndian.AppendUint16(nil, uint16(len(a.ID))), a.ID, cose))   //nolint:gosec // it has 16 bytes
	object := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), []byte{byte(len(data))}, data) //nolint:gosec // it has 148 bytes
	return a.response(map[string]any{
		"clientDataJSON": b64(a.clientData("webauthn.create", o.Challenge)), "attestationObject": b64(object), "transports": []string{"internal"},
	})
}

// Get answers the options of a signature.
func (a *Authenticator) Get(options []byte) []byte {
	var o struct {
		Challenge string `json:"challenge"`
	}
	read(options, &o)
	return a.Sign(o.Challenge)
}

// Sign signs a challenge, which is base64url.
func (a *Authenticator) Sign(challenge string) []byte {
	client, data := a.clientData("webauthn.get", challenge), a.data(nil)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(slices.Concat(data, hash[:]))
	signature := must(ecdsa.SignASN1(rand.Reader, a.key, digest[:]))
	return a.response(map[string]any{
		"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": a.User,
	})
}

func (a *Authenticator) response(response map[string]any) []byte {
	return must(json.Marshal(map[string]any{
		"id": b64(a.ID), "rawId": b64(a.ID), "type": "public-key", "authenticatorAttachment": "platform",
		"response": response, "clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}},
	}))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func read(options []byte, into any) {
	if err := json.Unmarshal(options, into); err != nil {
		panic(err) // they come from the code under test, and no browser would go on either
	}
}
