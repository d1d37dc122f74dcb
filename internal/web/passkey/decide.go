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

// domain begins the signed text, so that no signature for another purpose passes for a decision.
const domain = "bmad-mcp: decision, 1\n"

// Statement is a decision in the form in which it is signed. The challenge is the hash of its JSON,
// with the keys in this order.
type Statement struct {
	Session  string `json:"session"`
	Stage    string `json:"stage"`
	Revision int    `json:"revision"`
	// SHA256 is the hash of the document, if the decision is about one.
	SHA256   string `json:"sha256"`
	Decision string `json:"decision"`
	// FeedbackHash, CommentsHash and AnswersHash are empty if the decision has none.
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
	switch g.Decision {
	case workflow.DecisionOverride: // the gate decides whether a yes overrides it, not the page
		s.Decision, s.SHA256 = string(workflow.DecisionApprove), g.SHA256
	case workflow.DecisionApprove, workflow.DecisionChanges:
		s.SHA256 = g.SHA256
	default: // it is not about a document
	}
	return s
}

// hashText returns the hash of a text of the person without the white space around it, because the
// record leaves that out.
func hashText(text string) string {
	if text = strings.TrimSpace(text); text == "" {
		return ""
	}
	return workflow.Hash([]byte(text))
}

// quoted is the number of bytes of a comment's quote that are signed, because the record keeps less
// than a page may send. The lines and the hash of the document determine the rest.
const quoted = 100

// hashComments returns the hash of comments. They are recorded with ids, without white space
// around them, and with a last line.
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
	}
	var plain []comment
	for _, c := range comments {
		quote := workflow.Hash([]byte(c.Quote[:min(len(c.Quote), quoted)]))
		plain = append(plain, comment{c.From, cmp.Or(c.To, c.From), quote, string(c.Kind), strings.TrimSpace(c.Text), strings.TrimSpace(c.Replace)})
	}
	return workflow.Hash(toJSON(plain))
}

// AnswersHash returns the hash of the answers to open questions together with skipRest, which is true
// if the others are skipped.
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

// signing is a decision that a browser has been asked to have signed.
type signing struct {
	nonce   string
	session webauthn.SessionData
}

// BeginDecision returns the options with which a browser has a decision signed. The nonce of the
// statement is that of the page. The challenge has another random part, so that no earlier signature
// is good for it.
func (k *Keys) BeginDecision(s Statement) (options json.RawMessage, err error) {
	if err := k.pages(); err != nil {
		return nil, err
	}
	l, err := k.read()
	if err != nil {
		return nil, err
	}
	if len(l.inUse()) == 0 {
		return nil, unknown()
	}
	page := s.Challenge()
	s.Nonce += "." + random()
	challenge := s.Challenge()
	p := person{l}
	asked, session, err := k.webauthn.BeginLogin(p, webauthn.WithChallenge(challenge[:]))
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.decisions.put(string(page[:]), signing{s.Nonce, *session}, k.now())
	return toJSON(asked.Response), nil
}

// FinishDecision checks the answer of a browser to [Keys.BeginDecision] with the same statement,
// and returns the signature for the record.
func (k *Keys) FinishDecision(ctx context.Context, s Statement, response []byte) (out *workflow.Signature, err error) {
	if err := k.pages(); err != nil {
		return nil, err
	}
	page := s.Challenge()
	k.mu.Lock()
	begun, ok := k.decisions.take(string(page[:]), k.now())
	k.mu.Unlock()
	if !ok {
		return nil, expiry()
	}
	err = k.change(ctx, func(l *list) error {
		key, given, err := k.checkAssertion(l, begun.session, response, k.now())
		if err != nil {
			return err
		}
		raw := given.Raw.AssertionResponse
		out = &workflow.Signature{
			Credential: key.ID, PublicKey: key.PublicKey, AuthenticatorData: pack(raw.AuthenticatorData),
			ClientData: pack(raw.ClientDataJSON), Signature: pack(raw.Signature), Nonce: begun.nonce, Answers: s.AnswersHash,
		}
		return nil
	})
	return out, err
}
