package passkey_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"
)

// authenticator is a passkey in software, and the browser in front of it.
type authenticator struct {
	t     testing.TB
	key   *ecdsa.PrivateKey
	id    []byte
	user  string
	count uint32
	// origin is that of the page, rpID what the authenticator takes for it, flags what it vouches
	// for: presence 1, verification 4.
	origin, rpID string
	flags        byte
	// kind is what the browser says that it did; "" for what it was asked.
	kind        string
	crossOrigin bool
}

func newAuthenticator(t testing.TB) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id)
	return &authenticator{t: t, key: key, id: id, origin: page, rpID: "localhost", flags: 1 | 4}
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// asked are the options that both ceremonies share, and those that the tests look at.
type asked struct {
	Challenge string `json:"challenge"`
	RPID      string `json:"rpId"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	User struct {
		ID string `json:"id"`
	} `json:"user"`
	UserVerification       string `json:"userVerification"`
	Attestation            string `json:"attestation"`
	AuthenticatorSelection struct {
		UserVerification string `json:"userVerification"`
		ResidentKey      string `json:"residentKey"`
	} `json:"authenticatorSelection"`
	Parameters []struct {
		Alg int `json:"alg"`
	} `json:"pubKeyCredParams"`
	Exclude []struct {
		ID string `json:"id"`
	} `json:"excludeCredentials"`
	Allow []struct {
		ID string `json:"id"`
	} `json:"allowCredentials"`
}

func read(t testing.TB, options json.RawMessage) (a asked) {
	t.Helper()
	if err := json.Unmarshal(options, &a); err != nil {
		t.Fatalf("options %s: %v", options, err)
	}
	return a
}

func (a *authenticator) clientData(kind, challenge string) []byte {
	if a.kind != "" {
		kind = a.kind
	}
	return must(json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": a.crossOrigin}))
}

// data is the authenticator data; attested follows it where a key was made.
func (a *authenticator) data(attested []byte) []byte {
	rp := sha256.Sum256([]byte(a.rpID))
	flags := a.flags
	if attested != nil {
		flags |= 0x40
	}
	return slices.Concat(rp[:], []byte{flags}, binary.BigEndian.AppendUint32(nil, a.count), attested)
}

// create answers the options of an enrolment.
func (a *authenticator) create(options json.RawMessage) []byte {
	a.t.Helper()
	o := read(a.t, options)
	a.user = o.User.ID
	point := must(a.key.PublicKey.Bytes()) // 4, x, y
	cose := slices.Concat([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33], []byte{0x22, 0x58, 32}, point[33:])
	attested := slices.Concat(make([]byte, 16), binary.BigEndian.AppendUint16(nil, uint16(len(a.id))), a.id, cose)
	data := a.data(attested)
	object := slices.Concat([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), []byte{byte(len(data))}, data)
	return a.response(map[string]any{
		"clientDataJSON": b64(a.clientData("webauthn.create", o.Challenge)), "attestationObject": b64(object), "transports": []string{"internal"},
	})
}

// get answers the options of a signature.
func (a *authenticator) get(options json.RawMessage) []byte {
	a.t.Helper()
	return a.sign(read(a.t, options).Challenge)
}

func (a *authenticator) sign(challenge string) []byte {
	a.t.Helper()
	client, data := a.clientData("webauthn.get", challenge), a.data(nil)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(slices.Concat(data, hash[:]))
	signature := must(ecdsa.SignASN1(rand.Reader, a.key, digest[:]))
	return a.response(map[string]any{
		"clientDataJSON": b64(client), "authenticatorData": b64(data), "signature": b64(signature), "userHandle": a.user,
	})
}

func (a *authenticator) response(response map[string]any) []byte {
	return must(json.Marshal(map[string]any{
		"id": b64(a.id), "rawId": b64(a.id), "type": "public-key", "authenticatorAttachment": "platform",
		"response": response, "clientExtensionResults": map[string]any{"credProps": map[string]any{"rk": true}},
	}))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func base64url(text string) ([]byte, error) { return base64.RawURLEncoding.DecodeString(text) }
