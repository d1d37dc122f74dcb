// Package passkeytest has a passkey for tests: an authenticator in software with a browser. Each part can be
// made to differ from an honest one.
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
	// ID is the passkey's id, User the owner's handle from the enrolment.
	ID   []byte
	User string
	// Count is the reported number of signatures, which signing does not change.
	Count uint32
	// Origin is the page's origin, and Party the relying party as the authenticator sees it.
	Origin, Party string
	// Flags are the flags reported by the authenticator: Present and Verified, unless changed.
	Flags byte
	// Kind is the ceremony reported by the browser; "" for the requested one.
	Kind string
	// CrossOrigin reports whether the page is in a frame of another origin.
	CrossOrigin bool

	key *ecdsa.PrivateKey
}

// The flags of an authenticator: somebody touched it, it verified the owner, it copies keys to other devices,
// the data include a new key.
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

func encodeBase64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func (a *Authenticator) clientData(kind, challenge string) []byte {
	if a.Kind != "" {
		kind = a.Kind
	}
	return must(json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.Origin, "crossOrigin": a.CrossOrigin}))
}

// authenticatorData returns the authenticator data, followed by made, the data of a new key, if any.
func (a *Authenticator) authenticatorData(made []byte) []byte {
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
	mustUnmarshal(options, &o)
	a.User = o.User.ID
	point := must(a.key.PublicKey.Bytes()) // 4, x, y
	cose := slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33], []byte{0x22, 0x58, 32}, point[33:])
	data := a.authenticatorData(slices.Concat(make([]byte, 16), binary.BigEndian.AppendUint16(nil, uint16(len(a.ID))), a.ID, cose)) //nolint:gosec // it has 16 bytes
	object := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), []byte{byte(len(data))}, data)            //nolint:gosec // it has 148 bytes
	return a.encodeResponse(map[string]any{
		"clientDataJSON": encodeBase64(a.clientData("webauthn.create", o.Challenge)), "attestationObject": encodeBase64(object), "transports": []string{"internal"},
	})
}

// Get answers the options of a signature.
func (a *Authenticator) Get(options []byte) []byte {
	var o struct {
		Challenge string `json:"challenge"`
	}
	mustUnmarshal(options, &o)
	return a.Sign(o.Challenge)
}

// Sign signs a challenge, which is base64url.
func (a *Authenticator) Sign(challenge string) []byte {
	client, data := a.clientData("webauthn.get", challenge), a.authenticatorData(nil)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(slices.Concat(data, hash[:]))
	signature := must(ecdsa.SignASN1(rand.Reader, a.key, digest[:]))
	return a.encodeResponse(map[string]any{
		"clientDataJSON": encodeBase64(client), "authenticatorData": encodeBase64(data), "signature": encodeBase64(signature), "userHandle": a.User,
	})
}

func (a *Authenticator) encodeResponse(response map[string]any) []byte {
	return must(json.Marshal(map[string]any{
		"id": encodeBase64(a.ID), "rawId": encodeBase64(a.ID), "type": "public-key", "authenticatorAttachment": "platform",
		"response": response, "clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}},
	}))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func mustUnmarshal(options []byte, into any) {
	if err := json.Unmarshal(options, into); err != nil {
		panic(err) // the options come from the code under test; a browser would fail, too
	}
}
