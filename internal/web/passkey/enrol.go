package passkey

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
)

// maxName bounds the name of a passkey, in characters.
const maxName = 40

// Enrolment has the options for a browser to make a passkey.
type Enrolment struct {
	// Ticket names the enrolment. It is good once.
	Ticket string `json:"ticket"`
	// Create are the options of the new passkey.
	Create json.RawMessage `json:"create"`
	// Assert are the options for a passkey in use to allow the new one; nil if none is in use yet.
	Assert json.RawMessage `json:"assert,omitempty"`
}

// enrolment is a begun enrolment.
type enrolment struct {
	by            string
	user          string
	create, allow webauthn.SessionData
}

// BeginEnrol begins to enrol a passkey. For the first one, allowedBy has to name the permission, a code typed
// by the person at a terminal. Later ones need a passkey in use.
func (k *Keys) BeginEnrol(ctx context.Context, allowedBy string) (out Enrolment, err error) {
	if err := k.checkHasPages(); err != nil {
		return out, err
	}
	err = k.updateList(ctx, func(l *list) error { // updateList gives the person a handle
		keys := l.inUse()
		switch {
		case len(keys) == 0 && allowedBy == "":
			return fault.New(fault.NotAllowed, "the first passkey needs your word at a terminal").
				WithHint("run bmad-mcp dashboard pair there, with the code that the page shows")
		case len(keys) >= maxKeys:
			return fault.New(fault.NotAllowed, "there are %d passkeys, and no more can be added", len(keys)).
				WithHint("remove one with bmad-mcp dashboard passkeys remove ID")
		}
		out, err = k.beginEnrol(person{*l}, allowedBy)
		return err
	})
	return out, err
}

func (k *Keys) beginEnrol(p person, allowedBy string) (out Enrolment, err error) {
	e := enrolment{by: allowedBy, user: p.User}
	known := p.credentialDescriptors()
	create, session, err := k.webauthn.BeginRegistration(p, webauthn.WithExclusions(known))
	if err != nil {
		return out, err
	}
	e.create = *session
	out = Enrolment{Ticket: randomName(), Create: toJSON(create.Response)}
	if len(known) > 0 {
		challenge := sha256.Sum256([]byte("bmad-mcp: allow a passkey\n" + session.Challenge))
		allow, session, err := k.webauthn.BeginLogin(p, webauthn.WithChallenge(challenge[:]))
		if err != nil {
			return out, err
		}
		e.allow, out.Assert = *session, toJSON(allow.Response)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.enrolments.add(out.Ticket, e, k.now())
	return out, nil
}

// FinishEnrol adds the passkey made by a browser. assertion is the answer to [Enrolment.Assert]; name is the
// person's name for the passkey.
func (k *Keys) FinishEnrol(ctx context.Context, ticket string, response, assertion []byte, name string) (added Key, err error) {
	if err := k.checkHasPages(); err != nil {
		return added, err
	}
	k.mu.Lock()
	e, ok := k.enrolments.take(ticket, k.now())
	k.mu.Unlock()
	if !ok {
		return added, errExpired()
	}
	given, err := parse(response, protocol.ParseCredentialCreationResponseBytes)
	if err != nil {
		return added, err
	}
	err = k.updateList(ctx, func(l *list) error {
		p, now := person{*l}, k.now()
		if l.User != e.user { // the list was moved away in between
			return errExpired()
		}
		made, err := k.webauthn.CreateCredential(p, e.create, given)
		if err != nil {
			return errRefused(err)
		}
		added = Key{
			ID: encodeBase64(made.ID), PublicKey: encodeBase64(made.PublicKey), Added: now.UTC(), By: e.by,
			SignCount: made.Authenticator.SignCount, Synced: made.Flags.BackupEligible,
		}
		for _, t := range made.Transport {
			added.Transports = append(added.Transports, string(t))
		}
		if len(l.inUse()) > 0 {
			if e.allow.Challenge == "" { // another was enrolled in between
				return errExpired()
			}
			by, _, err := k.checkAssertion(l, e.allow, assertion, now)
			if err != nil {
				return err
			}
			added.By = byPasskey + by.Short()
		}
		if slices.ContainsFunc(l.Keys, func(key Key) bool { return key.ID == added.ID }) {
			return fault.New(fault.Conflict, "this passkey was enrolled before").WithHint("bmad-mcp dashboard passkeys lists those in use; make a new one")
		}
		added.Name = l.nameFor(name, added)
		l.Keys = append(l.Keys, added)
		return nil
	})
	return added, err
}

// nameFor returns a name for a new passkey which no passkey in use has.
func (l list) nameFor(given string, key Key) string {
	given = visible.Cut(visible.Line(strings.TrimSpace(given)), maxName, "…")
	if given == "" || slices.ContainsFunc(l.inUse(), func(other Key) bool { return other.Name == given }) {
		given = strings.TrimSpace(given + " " + key.Short())
	}
	return given
}
