// Package passkey keeps the passkeys of the person at this machine, and has them sign decisions.
//
// A passkey is a key of an authenticator, for example the computer's fingerprint reader, a phone or a
// security key, which signs only after it has verified the owner. The signed challenge is made from the
// decision: session, revision, hash of the document, choice and words. The signature is recorded with the
// decision, and [Keys.Verify] can check it again at any time.
//
// The list of passkeys is a file of the person's state folder. Anyone who can write to the folder can enrol a
// key, so it is private to the person.
package passkey

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
)

// relyingParty is the domain of the passkeys: a browser offers them to pages of the domain only.
const relyingParty = "localhost"

const (
	// patience is the longest time of a ceremony.
	patience = 5 * time.Minute
	// maxPending bounds the unfinished ceremonies; the oldest give way.
	maxPending = 32
	// maxResponse bounds a browser's response in a ceremony, in bytes.
	maxResponse = 32 << 10
	// recent is the time for which every decision mentions a new passkey.
	recent = 24 * time.Hour
)

// Options configure Keys.
type Options struct {
	// Folder holds the list; it is created with the first passkey.
	Folder string
	// Origins are the exact origins of the pages that may use passkeys, for example http://localhost:8123.
	// Without any, keys can only be listed, removed and checked against.
	Origins []string
	// Now is the clock.
	Now func() time.Time
}

// Keys are the passkeys of a person. It is safe for concurrent use.
type Keys struct {
	folder   string
	now      func() time.Time
	webauthn *webauthn.WebAuthn

	mu         sync.Mutex
	enrolments pending[enrolment]
	decisions  pending[signing]
}

// New returns the passkeys of a folder.
func New(o Options) (*Keys, error) {
	k := &Keys{folder: o.Folder, now: o.Now, enrolments: pending[enrolment]{}, decisions: pending[signing]{}}
	if len(o.Origins) == 0 {
		return k, nil
	}
	var err error
	k.webauthn, err = webauthn.New(&webauthn.Config{
		RPID: relyingParty, RPDisplayName: "bmad-mcp", RPOrigins: o.Origins,
		AttestationPreference:  protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{UserVerification: protocol.VerificationRequired, ResidentKey: protocol.ResidentKeyRequirementPreferred},
		Timeouts: webauthn.TimeoutsConfig{
			Login: webauthn.TimeoutConfig{Timeout: patience}, Registration: webauthn.TimeoutConfig{Timeout: patience},
		},
		// Password managers report unrequested extensions. They are ignored.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	return k, err
}

// checkHasPages returns an error if there are no Origins, and so no page for a ceremony.
func (k *Keys) checkHasPages() error {
	if k.webauthn == nil {
		return fault.New(fault.NotAllowed, "passkeys are used in the dashboard only").WithHint("open it with bmad-mcp dashboard")
	}
	return nil
}

// pending has the unfinished ceremonies, by a name not chosen by the browser.
type pending[T any] map[string]begun[T]

type begun[T any] struct {
	value T
	until time.Time
}

// add adds a ceremony, and replaces one of the same name.
func (p pending[T]) add(name string, value T, now time.Time) {
	oldest := ""
	for other, b := range p {
		switch {
		case b.until.Before(now):
			delete(p, other)
		case oldest == "" || b.until.Before(p[oldest].until):
			oldest = other
		}
	}
	if len(p) >= maxPending {
		delete(p, oldest)
	}
	p[name] = begun[T]{value, now.Add(patience)}
}

// take removes a ceremony and returns it, so that a second answer cannot be tried.
func (p pending[T]) take(name string, now time.Time) (value T, ok bool) {
	b, ok := p[name]
	delete(p, name)
	if !ok || b.until.Before(now) {
		return value, false
	}
	return b.value, true
}

// person is the owner of the passkeys, in the library's terms.
type person struct{ list }

// WebAuthnID implements webauthn.User.
func (p person) WebAuthnID() []byte { return decodeBase64(p.User) }

// WebAuthnName implements webauthn.User.
func (p person) WebAuthnName() string { return "bmad-mcp" }

// WebAuthnDisplayName implements webauthn.User.
func (p person) WebAuthnDisplayName() string { return "bmad-mcp" }

// WebAuthnCredentials implements webauthn.User.
func (p person) WebAuthnCredentials() []webauthn.Credential {
	var out []webauthn.Credential
	for _, key := range p.inUse() {
		out = append(out, key.toCredential())
	}
	return out
}

// credentialDescriptors returns the ids of the passkeys in use for a browser.
func (p person) credentialDescriptors() []protocol.CredentialDescriptor {
	return webauthn.Credentials(p.WebAuthnCredentials()).CredentialDescriptors()
}

func (key Key) toCredential() webauthn.Credential {
	c := webauthn.Credential{
		ID: decodeBase64(key.ID), PublicKey: decodeBase64(key.PublicKey),
		Flags:         webauthn.CredentialFlags{UserPresent: true, UserVerified: true, BackupEligible: key.Synced},
		Authenticator: webauthn.Authenticator{SignCount: key.SignCount},
	}
	for _, t := range key.Transports {
		c.Transport = append(c.Transport, protocol.AuthenticatorTransport(t))
	}
	return c
}

// checkAssertion checks the signature of a passkey in use, and records the use in l, with now as the time.
func (k *Keys) checkAssertion(l *list, session webauthn.SessionData, response []byte, now time.Time) (*Key, *protocol.ParsedCredentialAssertionData, error) {
	given, err := parse(response, protocol.ParseCredentialRequestResponseBytes)
	if err != nil {
		return nil, nil, err
	}
	used, err := k.webauthn.ValidateLogin(person{*l}, session, given)
	if err != nil {
		return nil, nil, errRefused(err)
	}
	at := slices.IndexFunc(l.Keys, func(key Key) bool { return key.Removed.IsZero() && key.ID == encodeBase64(used.ID) })
	if at < 0 {
		return nil, nil, errUnknownKey()
	}
	key := &l.Keys[at]
	if used.Authenticator.CloneWarning {
		return nil, nil, fault.New(fault.NotAllowed, "the passkey %q counts fewer signatures than it has made: there may be a copy of it", key.Name).
			WithHint("if you have not restored a backup of it, remove it with: bmad-mcp dashboard passkeys remove %s", key.Short())
	}
	key.SignCount, key.Used = used.Authenticator.SignCount, now.UTC()
	return key, given, nil
}

// parse decodes a browser's response in a ceremony.
func parse[T any](response []byte, read func([]byte) (*T, error)) (*T, error) {
	if len(response) > maxResponse {
		return nil, fault.New(fault.InvalidArgument, "the browser's answer about the passkey has %d bytes, more than %d", len(response), maxResponse).
			WithHint("load the page again, and try another passkey")
	}
	out, err := read(response)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "the browser's answer about the passkey cannot be read: %w", err).
			WithHint("load the page again, and repeat it")
	}
	return out, nil
}

// errRefused returns the error of a ceremony with a wrong answer.
func errRefused(err error) error {
	return fault.New(fault.NotAllowed, "the passkey's signature does not hold: %w", err).
		WithHint("load the page again, and repeat it; use a passkey that was enrolled here and asks for your PIN, finger or face")
}

// errExpired returns the error of an answer to no ceremony, or to an ended one.
func errExpired() error {
	return fault.New(fault.Conflict, "this use of a passkey was answered already, took longer than %d minutes, or is about something else", int(patience.Minutes())).
		WithHint("load the page again, and repeat it")
}

func errUnknownKey() error {
	return fault.New(fault.NotFound, "no passkey in use matches").WithHint("bmad-mcp dashboard passkeys lists them; enrol one in the dashboard")
}

// randomName returns an unguessable name.
func randomName() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return encodeBase64(b[:])
}

func encodeBase64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

// decodeBase64 returns the bytes of a base64url value, or nil if it is malformed.
func decodeBase64(text string) []byte {
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return data
}

// toJSON encodes a value of strings and numbers, and panics if this fails.
func toJSON(options any) json.RawMessage {
	data, err := json.Marshal(options)
	if err != nil {
		panic(err)
	}
	return data
}
