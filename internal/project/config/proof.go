package config

import (
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
)

// The values of proof beside "true".
const (
	// ProofOff: no statement is written.
	ProofOff = "false"
	// ProofWords: the statement has the words of people with their decisions.
	ProofWords = "words"
)

// setSignWith sets the key of an SSH agent that signs decisions.
func setSignWith(l *loader, values []string) (err error) {
	if l.SignWith, err = signature.ParseKey(values[0]); err != nil {
		return lang.Errorf("sign_with is not a public key of the type Ed25519 or ECDSA, such as: ssh-ed25519 AAAA…")
	}
	return nil
}
