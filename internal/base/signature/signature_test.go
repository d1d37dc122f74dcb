package signature_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
)

func newSigner(t testing.TB, seed byte) signature.Signer {
	t.Helper()
	s, err := signature.NewSigner(ed25519.NewKeyFromSeed([]byte(strings.Repeat(string(rune(seed)), ed25519.SeedSize))))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(t testing.TB, s signature.Signer, message string) string {
	t.Helper()
	text, err := s.Sign([]byte(message))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSignatures: a signature is that of one key about one message, in either form.
func TestSignatures(t *testing.T) {
	ana, ben := newSigner(t, 'a'), newSigner(t, 'b')
	of := sign(t, ana, "message")
	if key, err := signature.Verify([]byte("message"), of); err != nil || key != ana.Public() || key == ben.Public() {
		t.Errorf("%s, %v", key, err)
	}
	if key, err := signature.MadeBy(of); err != nil || key != ana.Public() {
		t.Errorf("%s, %v", key, err)
	}
	if again, err := signature.Unarmor([]byte(signature.Armor(of))); err != nil || again != of {
		t.Errorf("%s, %v", again, err)
	}
	if ana.Public().Touched() || !signature.Key("sk-ssh-ed25519@openssh.com AAAA").Touched() {
		t.Error("which key wants a touch")
	}
	for name, c := range map[string]struct{ message, signature string }{
		"another message":         {"massage", of},
		"no message":              {"", of},
		"none":                    {"message", ""},
		"not base64":              {"message", "!"},
		"white space":             {"message", of + "\n"},
		"cut":                     {"message", of[:len(of)-8]},
		"longer":                  {"message", of + "AAAA"},
		"a bit":                   {"message", of[:len(of)-6] + "A" + of[len(of)-5:]},
		"of another":              {"message", sign(t, ben, "another")},
		"very long":               {"message", strings.Repeat("A", 1<<20)},
		"another namespace":       {"message", inNamespace(t, "git", edSigner(t))},
		"a key that can be large": {"message", inNamespace(t, signature.Namespace, rsaSigner(t))},
	} {
		if c.signature == of && c.message == "message" {
			t.Fatalf("%s: nothing is changed", name)
		}
		if key, err := signature.Verify([]byte(c.message), c.signature); err == nil {
			t.Errorf("%s: it is taken for one of %s", name, key)
		}
	}
}

func edSigner(t *testing.T) ssh.Signer {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rsaSigner(t *testing.T) ssh.Signer {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inNamespace returns a valid signature of the text message in a namespace.
func inNamespace(t *testing.T, namespace string, by ssh.Signer) string {
	t.Helper()
	made, err := sshsig.Sign(strings.NewReader("message"), by, sshsig.HashSHA512, namespace)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(made.Marshal())
}

// TestByOpenSSH: ssh-keygen accepts a signature by a line of a list, for its account and message alone.
func TestByOpenSSH(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Skip("OpenSSH is not installed")
	}
	ana, dir := newSigner(t, 'a'), t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	list, file := write("signers", signature.Line("ana", ana.Public(), "laptop")+"\n"), write("sig", signature.Armor(sign(t, ana, "message")))
	for _, c := range []struct {
		account, message string
		good             bool
	}{{"ana", "message", true}, {"ben", "message", false}, {"ana", "massage", false}} {
		cmd := exec.Command("ssh-keygen", "-Y", "verify", "-f", list, "-I", c.account, "-n", signature.Namespace, "-s", file)
		cmd.Stdin = strings.NewReader(c.message)
		if said, err := cmd.CombinedOutput(); (err == nil) != c.good {
			t.Errorf("%s, %q: %s", c.account, c.message, said)
		}
	}
	said, err := exec.Command("ssh-keygen", "-l", "-f", write("key.pub", string(ana.Public())+"\n")).Output()
	if err != nil || !strings.Contains(string(said), ana.Public().Fingerprint()) {
		t.Errorf("%s, not %s: %v", said, ana.Public().Fingerprint(), err)
	}
}

// TestSigners reads lists of signers: a line that says anything unknown counts for nobody.
func TestSigners(t *testing.T) {
	key, other := newSigner(t, 'a').Public(), newSigner(t, 'b').Public()
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		text     string
		problems int
		counts   string // for ana at day 10, for ben, for ana at day 20
	}{
		"a line":            {signature.Line("ana", key, "laptop"), 0, "true false true"},
		"without a comment": {"ana " + string(key), 0, "true false true"},
		"two accounts":      {"ana,ben " + string(key), 0, "true true true"},
		"in quotes":         {`"ana" ` + string(key), 0, "true false true"},
		"comments":          {"# all of us\n\n  ana " + string(key) + "  \n", 0, "true false true"},
		"another key":       {"ana " + string(other), 0, "false false false"},
		"until a day":       {`ana valid-before="20260115" ` + string(key), 0, "true false false"},
		"from a day on":     {`ana valid-after="20260115Z" ` + string(key), 0, "false false true"},
		"another namespace": {`ana namespaces="git" ` + string(key), 1, "false false false"},
		"two namespaces":    {`ana namespaces="git,bmad-mcp" ` + string(key), 0, "true false true"},
		"a pattern":         {"* " + string(key), 1, "false false false"},
		"not this account":  {"!ben,ana " + string(key), 1, "false false false"},
		"an authority":      {"ana cert-authority " + string(key), 1, "false false false"},
		"unknown":           {"ana verify-required " + string(key), 1, "false false false"},
		"no time":           {`ana valid-before="soon" ` + string(key), 1, "false false false"},
		"no key":            {"ana", 1, "false false false"},
		"an open quote":     {`"ana ` + string(key), 1, "false false false"},
		"no account":        {", " + string(key), 1, "false false false"},
		"one of two":        {"ana\nana " + string(key), 1, "true false true"},
	} {
		list, problems := signature.ParseSigners(c.text)
		got := fmt.Sprint(signature.Counts(list, key, "ana", day(10)), " ", signature.Counts(list, key, "ben", day(10)), " ", signature.Counts(list, key, "ana", day(20)))
		if got != c.counts || len(problems) != c.problems || signature.Counts(list, key, "", day(10)) {
			t.Errorf("%s: %s, %v", name, got, problems)
		}
	}
	if signature.Key("x y").Fingerprint() != "" {
		t.Error("half a key is one")
	}
}

// FuzzVerify: whatever text is given as a signature, none is valid but the one that was made.
func FuzzVerify(f *testing.F) {
	of := sign(f, newSigner(f, 'a'), "message")
	f.Add(of)
	f.Add(of[:40])
	f.Add("U1NIU0lH")
	f.Fuzz(func(t *testing.T, text string) {
		if key, err := signature.Verify([]byte("message"), text); (err == nil) != (text == of) {
			t.Errorf("%q: %s, %v", text, key, err)
		}
		if made, err := signature.Unarmor([]byte(text)); err == nil && signature.Armor(made) == "" {
			t.Errorf("%q is read and not written", text)
		}
	})
}
