package signature_test

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
)

// securityKey is an agent with one key that signs as a security key does that a person touches.
type securityKey struct {
	agent.Agent
	private ed25519.PrivateKey
	touched bool
	unasked bool // it signs without a touch
}

const application = "ssh:"

func (s securityKey) blob() []byte {
	return ssh.Marshal(struct {
		Type        string
		Key         []byte
		Application string
	}{ssh.KeyAlgoSKED25519, s.private.Public().(ed25519.PublicKey), application})
}

func (s securityKey) List() ([]*agent.Key, error) {
	return []*agent.Key{{Format: ssh.KeyAlgoSKED25519, Blob: s.blob()}}, nil
}

func (s securityKey) Sign(_ ssh.PublicKey, data []byte) (*ssh.Signature, error) {
	if !s.touched && !s.unasked {
		return nil, errors.New("nobody touches it")
	}
	rest := []byte{1, 0, 0, 0, 7} // the flag of a touch, and the counter
	if s.unasked {
		rest[0] = 0
	}
	app, message := sha256.Sum256([]byte(application)), sha256.Sum256(data)
	signed := append(append(app[:], rest...), message[:]...)
	return &ssh.Signature{Format: ssh.KeyAlgoSKED25519, Blob: ed25519.Sign(s.private, signed), Rest: rest}, nil
}

// serve has an agent listen at a socket.
func serve(t *testing.T, a agent.Agent) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "a")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Skip("no sockets of Unix: " + err.Error())
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = agent.ServeAgent(a, conn); _ = conn.Close() }()
		}
	}()
	return socket
}

// TestSignWith signs with keys of agents: of a file, and of a security key.
func TestSignWith(t *testing.T) {
	ctx, message := context.Background(), []byte("message")
	private := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: private}); err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	plain, err := signature.ParseKey(string(ssh.MarshalAuthorizedKey(public)))
	if err != nil {
		t.Fatal(err)
	}
	hardware := securityKey{private: private, touched: true}
	touch, err := signature.ParseKey(ssh.KeyAlgoSKED25519 + " " + base64.StdEncoding.EncodeToString(hardware.blob()) + " ann@host")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		agent agent.Agent
		key   signature.Key
		want  bool
	}{
		"a file":                 {ring, plain, true},
		"a security key":         {hardware, touch, true},
		"a key that is not here": {ring, touch, false},
		"nobody touches it":      {securityKey{private: private}, touch, false},
	} {
		made, err := signature.SignWith(ctx, serve(t, c.agent), c.key, message)
		if (err == nil) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if key, err := signature.Verify(message, made); c.want && (err != nil || key != c.key) {
			t.Errorf("%s: signed by %s, %v", name, key, err)
		}
	}
	if _, err := signature.SignWith(ctx, serve(t, securityKey{private: private, unasked: true}), touch, message); err == nil {
		t.Error("a signature without a touch counts as one with it")
	}
	if _, err := signature.SignWith(ctx, "", plain, message); err == nil {
		t.Error("no agent")
	}
	if plain.Touched() || !touch.Touched() {
		t.Error("which key is touched")
	}
}

func TestParseKey(t *testing.T) {
	rsa := string(ssh.MarshalAuthorizedKey(rsaSigner(t).PublicKey()))
	for _, line := range []string{"", "x", "ssh-ed25519", "ssh-ed25519 AAAA", rsa} {
		if key, err := signature.ParseKey(line); err == nil {
			t.Errorf("%q is taken for %s", line, key)
		}
	}
}
