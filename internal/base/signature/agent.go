package signature

import (
	"context"
	"errors"
	"net"
	"slices"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"
)

// ParseKey reads a public key in the form of a line of an authorized_keys file, or of a file of ssh-keygen:
// without options, and with or without a comment. It accepts the types of keys accepted by [Verify].
func ParseKey(line string) (Key, error) {
	public, _, _, _, err := ssh.ParseAuthorizedKey([]byte(line))
	if err != nil || !slices.Contains(quick, public.Type()) {
		return "", errors.New("it is not a public key of the type Ed25519 or ECDSA, of a file or of a security key")
	}
	return keyOf(public), nil
}

// agentPatience bounds the wait for an agent, which asks the person to touch a security key.
const agentPatience = time.Minute

// SignWith signs a message with a key of the SSH agent at a socket.
func SignWith(ctx context.Context, socket string, key Key, message []byte) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, agentPatience)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })() // ends the wait for an answer
	signers, err := agent.NewClient(conn).Signers()
	if err != nil {
		return "", err
	}
	for _, s := range signers {
		if keyOf(s.PublicKey()) == key {
			made, err := Signer{key, s}.Sign(message)
			if err != nil {
				return "", err
			}
			_, err = Verify(message, made) // any program can listen at the socket
			return made, err
		}
	}
	return "", errors.New("the agent does not have the key " + key.Fingerprint())
}
