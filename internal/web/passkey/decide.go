package passkey

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// domain begins the signed text, so that a signature for another purpose cannot pass for a decision.
const domain = "bmad-mcp: decision, 1\n"

// Statement is the signed form of a decision. The challenge is the hash of the JSON, with the keys in this
// order.
type Statement struct {
	Session  string `json:"session"`
	Stage    string `json:"stage"`
	Revision int    `json:"revision"`
	// SHA256 is the hash of the document; "" if the decision is about none.
	SHA256   string `json:"sha256"`
	Decision string `json:"decision"`
	// FeedbackHash, CommentsHash and AnswersHash are empty for a decision without such words.
	FeedbackHash string `json:"feedback"`
	CommentsHash string `json:"comments"`
	AnswersHash  string `json:"answers"`
	Nonce        string `json:"nonce"`
}

// StatementOf returns the statement of a decision. g has the stage, revision, hash, decision,
// feedback and comments, from the page or from the record; answers is the result of [AnswersHash].
func StatementOf(session string, g workflow.Grant, answers, nonce string) Statement {
	s := Statement{
		Session: session, Stage: string(g.Stage), Revision: g.Revision, Decision: string(g.Decision),
		FeedbackHash: hashText(g.Feedback), CommentsHash: hashComments(g.Comments), AnswersHash: answers, Nonce: nonce,
	}
	if g.Offer != nil {
		s.Decision = string(g.Offer.Decision())
	}
	switch g.Decision {
	case workflow.DecisionOverride: // the gate decides whether a yes overrides it, not the page
		s.Decision, s.SHA256 = string(workflow.DecisionApprove), g.SHA256
	case workflow.DecisionApprove, workflow.DecisionChanges:
		s.SHA256 = g.SHA256
	default: // not about a document
	}
	return s
}

// hashText returns the hash of a person's text, trimmed like the text in the record; "" for an empty one.
func hashText(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return workflow.Hash([]byte(text))
}

// quoted is the number of signed bytes of a comment's quote. It is small, because the record keeps less than
// a page may send; lines and hash of the document determine the rest.
const quoted = 100

// hashComments returns the hash of comments in recorded form: trimmed, with a last line, but without ids.
func hashComments(comments []workflow.Comment) string {
	if len(comments) == 0 {
		return ""
	}
	type comment struct {
		From    int    `json:"from"`
		To      int    `json:"to"`
		Quote   string `json:"quote"`
		Kind    string `json:"kind"`
		Text    string `json:"text"`
		Replace string `json:"replace"`
		File    string `json:"file,omitempty"`
	}
	var plain []comment
	for _, c := range comments {
		quote := workflow.Hash([]byte(c.Quote[:min(len(c.Quote), quoted)]))
		if c.File != "" { // the record has the lines of the file
			quote = ""
		}
		plain = append(plain, comment{c.From, cmp.Or(c.To, c.From), quote, string(c.Kind), strings.TrimSpace(c.Text), strings.TrimSpace(c.Replace), c.File})
	}
	return workflow.Hash(toJSON(plain))
}

// AnswersHash returns the hash of the answers to open questions. skipRest reports whether the person skips
// the other questions.
func AnswersHash(answers map[string]string, skipRest bool) string {
	plain := map[string]string{}
	for id, answer := range answers {
		if answer = strings.TrimSpace(answer); answer != "" {
			plain[id] = answer
		}
	}
	if len(plain) == 0 && !skipRest {
		return ""
	}
	return workflow.Hash(toJSON(map[string]any{"answers": plain, "skip_rest": skipRest}))
}

// Challenge returns the challenge for the passkey.
func (s Statement) Challenge() [32]byte { return sha256.Sum256(append([]byte(domain), toJSON(s)...)) }

// signing is a decision sent to a browser for a signature.
type signing struct {
	nonce   string
	session webauthn.SessionData
}

// BeginDecision returns the options for a browser to have a decision signed. s has the nonce of the page; the
// challenge gets another random part, so no earlier signature is good for it.
func (k *Keys) BeginDecision(s Statement) (options json.RawMessage, err error) {
	if err := k.checkHasPages(); err != nil {
		return nil, err
	}
	l, err := k.readKeys()
	if err != nil {
		return nil, err
	}
	if len(l.inUse()) == 0 {
		return nil, errUnknownKey()
	}
	page := s.Challenge()
	s.Nonce += "." + randomName()
	challenge := s.Challenge()
	p := person{l}
	asked, session, err := k.webauthn.BeginLogin(p, webauthn.WithChallenge(challenge[:]))
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.decisions.add(string(page[:]), signing{s.Nonce, *session}, k.now())
	return toJSON(asked.Response), nil
}

// FinishDecision checks the answer of a browser to [Keys.BeginDecision] with the same statement,
// and returns the signature for the record.
func (k *Keys) FinishDecision(ctx context.Context, s Statement, response []byte) (out *workflow.Signature, err error) {
	if err := k.checkHasPages(); err != nil {
		return nil, err
	}
	page := s.Challenge()
	k.mu.Lock()
	begun, ok := k.decisions.take(string(page[:]), k.now())
	k.mu.Unlock()
	if !ok {
		return nil, errExpired()
	}
	err = k.updateList(ctx, func(l *list) error {
		key, given, err := k.checkAssertion(l, begun.session, response, k.now())
		if err != nil {
			return err
		}
		raw := given.Raw.AssertionResponse
		out = &workflow.Signature{
			Credential: key.ID, PublicKey: key.PublicKey, AuthenticatorData: encodeBase64(raw.AuthenticatorData),
			ClientData: encodeBase64(raw.ClientDataJSON), Signature: encodeBase64(raw.Signature), Nonce: begun.nonce, Answers: s.AnswersHash,
		}
		return nil
	})
	return out, err
}
