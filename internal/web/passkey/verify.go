package passkey

import (
	"encoding/json"
	"net/url"
	"slices"

	"github.com/go-webauthn/webauthn/protocol"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Status is the result of checking the signature of a recorded decision again.
type Status string

// The statuses. UnknownKey and RemovedKey mean that the text is as signed, but not who signed it.
const (
	Holds      Status = "holds"
	UnknownKey Status = "unknown_key"
	RemovedKey Status = "removed_key"
	// Changed means a good signature for another decision than the recorded one.
	Changed Status = "changed"
	// Wrong means a signature or a signed text not from a passkey of this program.
	Wrong Status = "signature_wrong"
	// Missing means that the decision is recorded as signed, but has no signature.
	Missing Status = "missing"
)

// Fails reports whether the record is not as a passkey has signed it.
func (s Status) Fails() bool { return s == Changed || s == Wrong || s == Missing }

// Checked is the result for an entry of a history with a decision recorded as signed.
type Checked struct {
	// Entry counts from 1.
	Entry  int    `json:"entry"`
	Status Status `json:"status"`
	// Passkey is the name of the key; "" if it is unknown.
	Passkey string `json:"passkey,omitempty"`
}

// Verify checks all decisions of a session recorded as signed. If the list of passkeys cannot be read, it
// returns the error with results that know no keys.
func (k *Keys) Verify(s *workflow.Session) ([]Checked, error) {
	var out []Checked
	for i, t := range s.History {
		if t.Grant != nil && (t.Grant.Channel == workflow.ChannelPasskey || t.Grant.Passkey != nil) {
			out = append(out, Checked{Entry: i + 1})
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	l, err := k.readKeys()
	for i := range out {
		out[i].Status, out[i].Passkey = VerifyGrant(s.SessionID, *s.History[out[i].Entry-1].Grant, l.Keys)
	}
	return out, err
}

// VerifyGrant checks the signature of a recorded decision against the decision and the keys of this machine.
// name is the name of the key; "" if the key is unknown.
func VerifyGrant(session string, g workflow.Grant, known []Key) (status Status, name string) {
	if g.Passkey == nil {
		return Missing, ""
	}
	if g.Channel != workflow.ChannelPasskey {
		return Changed, ""
	}
	challenge, ok := signedChallenge(*g.Passkey)
	if !ok {
		return Wrong, ""
	}
	want := StatementOf(session, g, g.Passkey.Answers, g.Passkey.Nonce).Challenge()
	at := slices.IndexFunc(known, func(key Key) bool { return key.ID == g.Passkey.Credential })
	switch {
	case at >= 0 && known[at].PublicKey != g.Passkey.PublicKey:
		return Wrong, known[at].Name
	case challenge != encodeBase64(want[:]):
		status = Changed
	case at < 0:
		return UnknownKey, ""
	case !known[at].Removed.IsZero() && g.At.After(known[at].Removed):
		status = RemovedKey
	default:
		status = Holds
	}
	if at >= 0 {
		name = known[at].Name
	}
	return status, name
}

// signedChallenge returns the challenge of a signature. ok is false if the public key in s has not signed it,
// on a page of this machine, after the authenticator had verified the owner.
func signedChallenge(s workflow.Signature) (challenge string, ok bool) {
	response := protocol.CredentialAssertionResponse{
		PublicKeyCredential: protocol.PublicKeyCredential{
			Credential: protocol.Credential{ID: s.Credential, Type: string(protocol.PublicKeyCredentialType)},
			RawID:      decodeBase64(s.Credential),
		},
		AssertionResponse: protocol.AuthenticatorAssertionResponse{
			AuthenticatorResponse: protocol.AuthenticatorResponse{ClientDataJSON: decodeBase64(s.ClientData)},
			AuthenticatorData:     decodeBase64(s.AuthenticatorData), Signature: decodeBase64(s.Signature),
		},
	}
	var client protocol.CollectedClientData
	if json.Unmarshal(decodeBase64(s.ClientData), &client) != nil {
		return "", false
	}
	page, err := url.Parse(client.Origin)
	if err != nil || page.Hostname() != relyingParty { // the port differs with each start
		return "", false
	}
	given, err := response.Parse()
	if err != nil {
		return "", false
	}
	err = given.Verify(client.Challenge, relyingParty, "", []string{client.Origin}, nil, nil,
		protocol.TopOriginExplicitVerificationMode, false, true, true, decodeBase64(s.PublicKey), protocol.SignaturePolicy{})
	return client.Challenge, err == nil
}
