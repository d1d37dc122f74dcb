package passkey_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/codediff"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey"
	"github.com/bmad-mcp/bmad-mcp/internal/web/passkey/passkeytest"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	page    = "http://localhost:8123"
	session = "0192aaaa-0000-7000-8000-000000000001"
)

// bench has passkeys in a folder, and a clock that stands until it is set.
type bench struct {
	*testing.T
	folder string
	now    time.Time
	keys   *passkey.Keys
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{T: t, folder: filepath.Join(t.TempDir(), "state"), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.keys = b.open(page)
	return b
}

func (b *bench) open(origins ...string) *passkey.Keys {
	b.Helper()
	k, err := passkey.New(passkey.Options{Folder: b.folder, Origins: origins, Now: func() time.Time { return b.now }})
	if err != nil {
		b.Fatal(err)
	}
	return k
}

// enrol adds a new passkey, allowed by another if one is given.
func (b *bench) enrol(name string, by *passkeytest.Authenticator) *passkeytest.Authenticator {
	b.Helper()
	a := passkeytest.New(page)
	a.Count = 1
	e, err := b.keys.BeginEnrol(b.Context(), "pairing")
	if err != nil {
		b.Fatal(err)
	}
	response := a.Create(e.Create)
	if _, err := b.keys.FinishEnrol(b.Context(), e.Ticket, response, b.allow(by, e), name); err != nil {
		b.Fatal(err)
	}
	return a
}

func (b *bench) allow(by *passkeytest.Authenticator, e passkey.Enrolment) []byte {
	b.Helper()
	if by == nil {
		return nil
	}
	by.Count++
	return by.Get(e.Assert)
}

// decision returns a decision with all parts that are signed.
func decision() workflow.Grant {
	return workflow.Grant{
		Channel: workflow.ChannelPasskey, Assurance: workflow.AssuranceHigh, Decision: workflow.DecisionApprove, Feedback: "good, but short",
		Comments: []workflow.Comment{{ID: "c1", From: 3, To: 4, Quote: "the clock", Kind: workflow.CommentChange, Text: "which one?"}},
		At:       time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), Stage: "po", Revision: 7, SHA256: strings.Repeat("ab", 32),
	}
}

var answers = passkey.AnswersHash(map[string]string{"q1": "us"}, true)

func statement(g workflow.Grant) passkey.Statement {
	return passkey.StatementOf(session, g, answers, "page-nonce")
}

// sign has a decision signed.
func (b *bench) sign(a *passkeytest.Authenticator, g workflow.Grant) workflow.Grant {
	b.Helper()
	options, err := b.keys.BeginDecision(statement(g))
	if err != nil {
		b.Fatal(err)
	}
	a.Count++
	if g.Passkey, err = b.keys.FinishDecision(b.Context(), statement(g), a.Get(options)); err != nil {
		b.Fatal(err)
	}
	return g
}

// known returns all keys of the list, even the removed ones.
func (b *bench) known() []passkey.Key {
	b.Helper()
	var l struct{ Keys []passkey.Key }
	if err := json.Unmarshal(must(os.ReadFile(filepath.Join(b.folder, "passkeys.json"))), &l); err != nil {
		b.Fatal(err)
	}
	return l.Keys
}

func (b *bench) status(g workflow.Grant) passkey.Status {
	b.Helper()
	s := &workflow.Session{SessionID: session, History: []workflow.Transition{{}, {Grant: &g}}}
	checked, err := b.keys.Verify(s)
	if err != nil || len(checked) != 1 || checked[0].Entry != 2 {
		b.Fatalf("checked %v, %v", checked, err)
	}
	return checked[0].Status
}

// wants fails unless err has a code and a hint, and names something.
func wants(t testing.TB, err error, code fault.Code, text string) {
	t.Helper()
	f := fault.From(err)
	if err == nil || f.Code != code || f.Hint == "" || !strings.Contains(f.Message, text) {
		t.Errorf("got %+v, want %s with %q and a hint", f, code, text)
	}
}

func TestOptions(t *testing.T) {
	b := newBench(t)
	e := must(b.keys.BeginEnrol(t.Context(), "pairing"))
	o := read(t, e.Create)
	if o.RP.ID != "localhost" || o.Attestation != "none" || o.AuthenticatorSelection.UserVerification != "required" || o.AuthenticatorSelection.ResidentKey != "preferred" || e.Assert != nil {
		t.Errorf("options of an enrolment: %s", e.Create)
	}
	for _, alg := range []int{-7, -257, -8} {
		if !slices.ContainsFunc(o.Parameters, func(p algorithm) bool { return p.Alg == alg }) {
			t.Errorf("algorithm %d is not offered", alg)
		}
	}
	a := b.enrol("laptop", nil)
	d := read(t, must(b.keys.BeginDecision(statement(decision()))))
	if d.RPID != "localhost" || d.UserVerification != "required" || len(d.Allow) != 1 || d.Allow[0].ID != b64(a.ID) {
		t.Errorf("options of a decision: %+v", d)
	}
	e = must(b.keys.BeginEnrol(t.Context(), ""))
	if again := read(t, e.Create); len(again.Exclude) != 1 || again.Exclude[0].ID != b64(a.ID) || e.Assert == nil || again.User.ID != o.User.ID {
		t.Errorf("options of a second enrolment: %s, %s", e.Create, e.Assert)
	}
}

func TestDecisionIsSignedAndChecked(t *testing.T) {
	b := newBench(t)
	a := b.enrol("  laptop\x1b ", nil)
	g := b.sign(a, decision())
	if got := b.status(g); got != passkey.Holds {
		t.Errorf("a signed decision: %s", got)
	}
	keys := must(b.keys.List())
	if len(keys) != 1 || keys[0].By != "pairing" || strings.Contains(keys[0].Name, "\x1b") || !strings.HasPrefix(keys[0].Name, "laptop") ||
		keys[0].SignCount != a.Count || !keys[0].Used.Equal(b.now) || keys[0].Transports[0] != "internal" {
		t.Errorf("listed as %+v", keys)
	}
	info := must(os.Stat(filepath.Join(b.folder, "passkeys.json")))
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the list has mode %v", info.Mode())
	}
	// The recorded decision is trimmed, goes through JSON, gets ids, and may override a gate.
	var kept workflow.Grant
	if err := workflow.Unmarshal(must(workflow.Marshal(g)), &kept); err != nil {
		t.Fatal(err)
	}
	kept.Decision, kept.Comments[0].ID = workflow.DecisionOverride, "r2c1"
	if got := b.status(kept); got != passkey.Holds {
		t.Errorf("as recorded: %s", got)
	}
	// On another machine, and after a removal.
	other := newBench(t)
	if got := other.status(g); got != passkey.UnknownKey {
		t.Errorf("elsewhere: %s", got)
	}
	b.now = b.now.Add(time.Hour)
	if _, err := b.keys.Remove(t.Context(), keys[0].Short()); err != nil {
		t.Fatal(err)
	}
	if got := b.status(g); got != passkey.Holds {
		t.Errorf("signed before the removal: %s", got)
	}
	g.At = b.now.Add(time.Second)
	if got := b.status(g); got != passkey.RemovedKey {
		t.Errorf("recorded after the removal: %s", got)
	}
	if _, err := b.keys.BeginDecision(statement(decision())); err == nil {
		t.Error("a removed passkey is asked for")
	}
}

// TestSignedAsRecorded checks a page's comments that the record has in another form.
func TestSignedAsRecorded(t *testing.T) {
	b := newBench(t)
	a := b.enrol("laptop", nil)
	g := decision()
	g.Feedback = " good \n"
	g.Comments = []workflow.Comment{
		{From: 2, Kind: workflow.CommentQuestion, Text: " why? ", Quote: strings.Repeat("长", 150)},
		{From: 2, To: 3, Kind: workflow.CommentEdit, Replace: "  a\n  b\n\n", Quote: strings.Repeat("长", 60)},
		{Kind: workflow.CommentChange, Text: "all of it\t"},
	}
	g = b.sign(a, g)
	recorded, err := request.CheckComments(g.Comments, 10, codediff.Changes{})
	if err != nil {
		t.Fatal(err)
	}
	g.Feedback, g.Comments = "good", (&workflow.Session{}).NumberComments(1, recorded)
	if got := b.status(g); got != passkey.Holds {
		t.Errorf("as recorded: %s; %+v", got, g.Comments)
	}
	g.Comments[0].Quote = "another" + g.Comments[0].Quote
	if got := b.status(g); got != passkey.Changed {
		t.Errorf("with another quote: %s", got)
	}
	// Decisions that are not about a document are recorded with its hash at some places, and at
	// others without.
	for _, d := range []workflow.Decision{workflow.DecisionAnswer, workflow.DecisionReopen, workflow.DecisionCancel} {
		g := decision()
		g.Decision, g.SHA256 = d, ""
		g = b.sign(a, g)
		g.SHA256 = strings.Repeat("ab", 32)
		if got := b.status(g); got != passkey.Holds {
			t.Errorf("%s: %s", d, got)
		}
	}
}

// TestRecordedDecisionCannotBeChanged checks that no signed part can be changed in the record, and no
// other signature be put in place of its own.
func TestRecordedDecisionCannotBeChanged(t *testing.T) {
	b := newBench(t)
	a := b.enrol("laptop", nil)
	g := b.sign(a, decision())
	other := b.sign(a, func() workflow.Grant { g := decision(); g.Revision++; return g }())
	stranger := newBench(t)
	forged := stranger.sign(stranger.enrol("laptop", nil), decision())
	flip := func(text string) string {
		data := must(base64.RawURLEncoding.DecodeString(text))
		data[len(data)-1] ^= 1
		return b64(data)
	}
	for name, c := range map[string]struct {
		change func(*workflow.Grant, *workflow.Signature)
		want   passkey.Status
	}{
		"feedback":       {func(g *workflow.Grant, _ *workflow.Signature) { g.Feedback += "!" }, passkey.Changed},
		"no feedback":    {func(g *workflow.Grant, _ *workflow.Signature) { g.Feedback = "" }, passkey.Changed},
		"comment":        {func(g *workflow.Grant, _ *workflow.Signature) { g.Comments[0].Text = "none" }, passkey.Changed},
		"comment's line": {func(g *workflow.Grant, _ *workflow.Signature) { g.Comments[0].To = 5 }, passkey.Changed},
		"comment's kind": {func(g *workflow.Grant, _ *workflow.Signature) { g.Comments[0].Kind = workflow.CommentQuestion }, passkey.Changed},
		"no comment":     {func(g *workflow.Grant, _ *workflow.Signature) { g.Comments = nil }, passkey.Changed},
		"document":       {func(g *workflow.Grant, _ *workflow.Signature) { g.SHA256 = strings.Repeat("cd", 32) }, passkey.Changed},
		"revision":       {func(g *workflow.Grant, _ *workflow.Signature) { g.Revision++ }, passkey.Changed},
		"stage":          {func(g *workflow.Grant, _ *workflow.Signature) { g.Stage = "architect" }, passkey.Changed},
		"decision":       {func(g *workflow.Grant, _ *workflow.Signature) { g.Decision = workflow.DecisionChanges }, passkey.Changed},
		"channel":        {func(g *workflow.Grant, _ *workflow.Signature) { g.Channel = workflow.ChannelElicited }, passkey.Changed},
		"answers":        {func(_ *workflow.Grant, s *workflow.Signature) { s.Answers = "" }, passkey.Changed},
		"nonce":          {func(_ *workflow.Grant, s *workflow.Signature) { s.Nonce += "0" }, passkey.Changed},
		"other decision": {func(g *workflow.Grant, _ *workflow.Signature) { g.Passkey = other.Passkey }, passkey.Changed},
		"no signature":   {func(g *workflow.Grant, _ *workflow.Signature) { g.Passkey = nil }, passkey.Missing},
		"signature":      {func(_ *workflow.Grant, s *workflow.Signature) { s.Signature = flip(s.Signature) }, passkey.Wrong},
		"client data":    {func(_ *workflow.Grant, s *workflow.Signature) { s.ClientData = other.Passkey.ClientData }, passkey.Wrong},
		"cut off":        {func(_ *workflow.Grant, s *workflow.Signature) { s.AuthenticatorData = s.AuthenticatorData[:20] }, passkey.Wrong},
		"malformed":      {func(_ *workflow.Grant, s *workflow.Signature) { s.PublicKey = "%" }, passkey.Wrong},
		"empty":          {func(_ *workflow.Grant, s *workflow.Signature) { *s = workflow.Signature{} }, passkey.Wrong},
		"own key":        {func(g *workflow.Grant, _ *workflow.Signature) { g.Passkey = forged.Passkey }, passkey.UnknownKey},
		"own key, our id": {func(g *workflow.Grant, _ *workflow.Signature) {
			stolen := *forged.Passkey
			stolen.Credential = g.Passkey.Credential
			g.Passkey = &stolen
		}, passkey.Wrong},
	} {
		changed := g
		changed.Comments = slices.Clone(g.Comments)
		signature := *g.Passkey
		changed.Passkey = &signature
		c.change(&changed, &signature)
		if got := b.status(changed); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	if got, _ := passkey.VerifyGrant("another session", g, b.known()); got != passkey.Changed {
		t.Errorf("in another session: %s", got)
	}
	s := &workflow.Session{SessionID: session, History: []workflow.Transition{{}, {Grant: &workflow.Grant{Channel: workflow.ChannelElicited}}}}
	if checked, err := b.keys.Verify(s); err != nil || checked != nil {
		t.Errorf("a history without signatures: %v, %v", checked, err)
	}
}

// TestForgedRecordIsWrong checks that a record that the program did not make is held to the same rules
// as the answer of a browser, even for a passkey in use.
func TestForgedRecordIsWrong(t *testing.T) {
	b := newBench(t)
	a := b.enrol("laptop", nil)
	key := must(b.keys.List())[0]
	for name, c := range map[string]struct {
		change func(*passkeytest.Authenticator)
		want   passkey.Status
	}{
		"honest":          {func(*passkeytest.Authenticator) {}, passkey.Holds},
		"another port":    {func(a *passkeytest.Authenticator) { a.Origin = "http://localhost:9" }, passkey.Holds},
		"another host":    {func(a *passkeytest.Authenticator) { a.Origin = "http://localhost.example.com" }, passkey.Wrong},
		"no origin":       {func(a *passkeytest.Authenticator) { a.Origin = "::" }, passkey.Wrong},
		"another party":   {func(a *passkeytest.Authenticator) { a.Party = "example.com" }, passkey.Wrong},
		"not verified":    {func(a *passkeytest.Authenticator) { a.Flags = passkeytest.Present }, passkey.Wrong},
		"not present":     {func(a *passkeytest.Authenticator) { a.Flags = passkeytest.Verified }, passkey.Wrong},
		"framed":          {func(a *passkeytest.Authenticator) { a.CrossOrigin = true }, passkey.Wrong},
		"of an enrolment": {func(a *passkeytest.Authenticator) { a.Kind = "webauthn.create" }, passkey.Wrong},
	} {
		forger := *a
		c.change(&forger)
		g := decision()
		challenge := passkey.StatementOf(session, g, "", "n").Challenge()
		var signed struct {
			Response struct{ ClientDataJSON, AuthenticatorData, Signature string }
		}
		if err := json.Unmarshal(forger.Sign(b64(challenge[:])), &signed); err != nil {
			t.Fatal(err)
		}
		r := signed.Response
		g.Passkey = &workflow.Signature{
			Credential: key.ID, PublicKey: key.PublicKey, ClientData: r.ClientDataJSON, AuthenticatorData: r.AuthenticatorData, Signature: r.Signature, Nonce: "n",
		}
		if got := b.status(g); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestChallenge pins the signed text: if it changed, all earlier signatures would be wrong.
func TestChallenge(t *testing.T) {
	g := workflow.Grant{Stage: "po", Revision: 7, SHA256: "ab", Decision: workflow.DecisionApprove, Feedback: "good"}
	got := passkey.StatementOf("s", g, "", "n").Challenge()
	want := sha256.Sum256([]byte("bmad-mcp: decision, 1\n" + `{"session":"s","stage":"po","revision":7,"sha256":"ab","decision":"approve","feedback":"` +
		workflow.Hash([]byte("good")) + `","comments":"","answers":"","nonce":"n"}`))
	if got != want {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestEnrolmentHasLimits enrols one passkey twice, too many, and one into another list.
func TestEnrolmentHasLimits(t *testing.T) {
	b := newBench(t)
	first := b.enrol("laptop", nil)
	add := func(a *passkeytest.Authenticator) error {
		e, err := b.keys.BeginEnrol(t.Context(), "")
		if err == nil {
			_, err = b.keys.FinishEnrol(t.Context(), e.Ticket, a.Create(e.Create), b.allow(first, e), "another")
		}
		return err
	}
	wants(t, add(first), fault.Conflict, "enrolled before")
	for range 19 {
		if err := add(passkeytest.New(page)); err != nil {
			t.Fatal(err)
		}
	}
	wants(t, add(passkeytest.New(page)), fault.NotAllowed, "there are 20 passkeys")

	b.folder = filepath.Join(t.TempDir(), "state")
	b.keys = b.open(page)
	e := must(b.keys.BeginEnrol(t.Context(), "pairing"))
	made := passkeytest.New(page).Create(e.Create)
	if err := os.Remove(filepath.Join(b.folder, "passkeys.json")); err != nil {
		t.Fatal(err)
	}
	_, err := b.keys.FinishEnrol(t.Context(), e.Ticket, made, nil, "laptop")
	wants(t, err, fault.Conflict, "something else")
	if keys := must(b.keys.List()); len(keys) != 0 {
		t.Errorf("a passkey of another handle was added: %+v", keys)
	}
}

// TestSignatureIsRefused attacks a decision while it is taken. Each attack is refused, and a decision
// that is signed properly afterwards is taken.
func TestSignatureIsRefused(t *testing.T) {
	b := newBench(t)
	a := b.enrol("laptop", nil)
	b.sign(a, decision())
	for name, c := range map[string]struct {
		do   func(*passkeytest.Authenticator, json.RawMessage) []byte
		code fault.Code
		text string
	}{
		"other origin":   {with(func(a *passkeytest.Authenticator) { a.Origin = "http://localhost:9999" }), fault.NotAllowed, "origin"},
		"other name":     {with(func(a *passkeytest.Authenticator) { a.Origin = "http://127.0.0.1:8123" }), fault.NotAllowed, "origin"},
		"other party":    {with(func(a *passkeytest.Authenticator) { a.Party = "example.com" }), fault.NotAllowed, ""},
		"framed":         {with(func(a *passkeytest.Authenticator) { a.CrossOrigin = true }), fault.NotAllowed, "cross origin"},
		"not verified":   {with(func(a *passkeytest.Authenticator) { a.Flags = passkeytest.Present }), fault.NotAllowed, ""},
		"not present":    {with(func(a *passkeytest.Authenticator) { a.Flags = passkeytest.Verified }), fault.NotAllowed, ""},
		"backed up":      {with(func(a *passkeytest.Authenticator) { a.Flags |= passkeytest.Synced }), fault.NotAllowed, "Backup"},
		"other ceremony": {with(func(a *passkeytest.Authenticator) { a.Kind = "webauthn.create" }), fault.NotAllowed, "ceremony"},
		"counts back":    {with(func(a *passkeytest.Authenticator) { a.Count = 1 }), fault.NotAllowed, "may be a copy"},
		"counts not on":  {with(func(a *passkeytest.Authenticator) { a.Count-- }), fault.NotAllowed, "may be a copy"},
		"other person":   {with(func(a *passkeytest.Authenticator) { a.User = b64([]byte("someone else")) }), fault.NotAllowed, ""},
		"other challenge": {func(a *passkeytest.Authenticator, _ json.RawMessage) []byte {
			g := decision()
			g.Decision = workflow.DecisionChanges
			options := must(b.keys.BeginDecision(statement(g)))
			return a.Get(options)
		}, fault.NotAllowed, "challenge"},
		"plain statement": {func(a *passkeytest.Authenticator, _ json.RawMessage) []byte {
			challenge := statement(decision()).Challenge()
			return a.Sign(b64(challenge[:]))
		}, fault.NotAllowed, "challenge"},
		"unknown passkey": {func(_ *passkeytest.Authenticator, o json.RawMessage) []byte { return passkeytest.New(page).Get(o) }, fault.NotAllowed, ""},
		"other's signature": {func(a *passkeytest.Authenticator, o json.RawMessage) []byte {
			thief := passkeytest.New(page)
			thief.ID, thief.User, thief.Count = a.ID, a.User, a.Count
			return thief.Get(o)
		}, fault.NotAllowed, "signature"},
		"cut off": {func(a *passkeytest.Authenticator, o json.RawMessage) []byte { return a.Get(o)[:200] }, fault.InvalidArgument, "cannot be read"},
		"data cut off": {func(a *passkeytest.Authenticator, o json.RawMessage) []byte {
			return edited(a.Get(o), func(r map[string]any) { r["authenticatorData"] = r["authenticatorData"].(string)[:40] })
		}, fault.InvalidArgument, "cannot be read"},
		"no signature": {func(a *passkeytest.Authenticator, o json.RawMessage) []byte {
			return edited(a.Get(o), func(r map[string]any) { delete(r, "signature") })
		}, fault.NotAllowed, "signature"},
		"empty": {func(*passkeytest.Authenticator, json.RawMessage) []byte { return nil }, fault.InvalidArgument, "cannot be read"},
		"null":  {func(*passkeytest.Authenticator, json.RawMessage) []byte { return []byte("null") }, fault.InvalidArgument, "cannot be read"},
		"two":   {func(a *passkeytest.Authenticator, o json.RawMessage) []byte { return append(a.Get(o), "{}"...) }, fault.InvalidArgument, "cannot be read"},
		"is huge": {func(a *passkeytest.Authenticator, o json.RawMessage) []byte {
			return append(a.Get(o), bytes.Repeat([]byte(" "), 32<<10)...)
		}, fault.InvalidArgument, "bytes, more than"},
	} {
		before := must(os.ReadFile(filepath.Join(b.folder, "passkeys.json")))
		options := must(b.keys.BeginDecision(statement(decision())))
		evil := *a
		evil.Count++
		got, err := b.keys.FinishDecision(t.Context(), statement(decision()), c.do(&evil, options))
		if got != nil {
			t.Errorf("%s: taken", name)
		}
		t.Run(name, func(t *testing.T) { wants(t, err, c.code, c.text) })
		if after := must(os.ReadFile(filepath.Join(b.folder, "passkeys.json"))); !bytes.Equal(before, after) {
			t.Errorf("%s: the list was changed", name)
		}
	}
	b.sign(a, decision())
}

// with returns an attack by an authenticator or browser that differs in one thing.
func with(change func(*passkeytest.Authenticator)) func(*passkeytest.Authenticator, json.RawMessage) []byte {
	return func(a *passkeytest.Authenticator, o json.RawMessage) []byte {
		change(a)
		return a.Get(o)
	}
}

// edited returns a response with its inner part changed.
func edited(response []byte, change func(map[string]any)) []byte {
	var all map[string]any
	if err := json.Unmarshal(response, &all); err != nil {
		panic(err)
	}
	change(all["response"].(map[string]any))
	return must(json.Marshal(all))
}

// TestSignatureCountsOnce checks that a signature counts once, even if the authenticator does not count.
func TestSignatureCountsOnce(t *testing.T) {
	b := newBench(t)
	a := passkeytest.New(page)
	e := must(b.keys.BeginEnrol(t.Context(), "pairing"))
	must(b.keys.FinishEnrol(t.Context(), e.Ticket, a.Create(e.Create), nil, ""))
	s := statement(decision())
	signed := a.Get(must(b.keys.BeginDecision(s)))
	must(b.keys.FinishDecision(t.Context(), s, signed))
	_, err := b.keys.FinishDecision(t.Context(), s, signed)
	wants(t, err, fault.Conflict, "answered already")
	must(b.keys.BeginDecision(s))
	_, err = b.keys.FinishDecision(t.Context(), s, signed)
	wants(t, err, fault.NotAllowed, "challenge")
	for name, change := range map[string]func(*workflow.Grant){
		"document": func(g *workflow.Grant) { g.SHA256 = "" }, "revision": func(g *workflow.Grant) { g.Revision++ },
		"decision": func(g *workflow.Grant) { g.Decision = workflow.DecisionChanges }, "words": func(g *workflow.Grant) { g.Feedback = "" },
		"comments": func(g *workflow.Grant) { g.Comments = nil }, "stage": func(g *workflow.Grant) { g.Stage = "dev" },
	} {
		g := decision()
		signed := a.Get(must(b.keys.BeginDecision(statement(g))))
		change(&g)
		if _, err := b.keys.FinishDecision(t.Context(), statement(g), signed); !fault.Is(err, fault.Conflict) {
			t.Errorf("another %s: %v", name, err)
		}
	}
	options := must(b.keys.BeginDecision(s))
	b.now = b.now.Add(5*time.Minute + time.Second)
	_, err = b.keys.FinishDecision(t.Context(), s, a.Get(options))
	wants(t, err, fault.Conflict, "longer than 5 minutes")
}

func TestEnrolment(t *testing.T) {
	b := newBench(t)
	_, err := b.keys.BeginEnrol(t.Context(), "")
	wants(t, err, fault.NotAllowed, "at a terminal")
	first := passkeytest.New(page)
	e, late := must(b.keys.BeginEnrol(t.Context(), "pairing")), must(b.keys.BeginEnrol(t.Context(), "pairing"))
	made := first.Create(e.Create)
	_, err = b.keys.FinishEnrol(t.Context(), "guessed", made, nil, "x")
	wants(t, err, fault.Conflict, "")
	_, err = b.keys.FinishEnrol(t.Context(), e.Ticket, made, nil, "laptop")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.keys.FinishEnrol(t.Context(), e.Ticket, made, nil, "laptop")
	wants(t, err, fault.Conflict, "answered already")
	// If an enrolment began before there was a passkey, that passkey does not allow it.
	_, err = b.keys.FinishEnrol(t.Context(), late.Ticket, passkeytest.New(page).Create(late.Create), nil, "second")
	wants(t, err, fault.Conflict, "")

	for name, c := range map[string]struct {
		allow func(passkey.Enrolment) []byte
		code  fault.Code
	}{
		"not allowed":       {func(passkey.Enrolment) []byte { return nil }, fault.InvalidArgument},
		"allowed by itself": {func(e passkey.Enrolment) []byte { return passkeytest.New(page).Get(e.Assert) }, fault.NotAllowed},
		"allowed as a decision": {func(passkey.Enrolment) []byte {
			return first.Get(must(b.keys.BeginDecision(statement(decision()))))
		}, fault.NotAllowed},
		"allowed for another": {func(passkey.Enrolment) []byte {
			return first.Get(must(b.keys.BeginEnrol(t.Context(), "pairing")).Assert)
		}, fault.NotAllowed},
	} {
		e := must(b.keys.BeginEnrol(t.Context(), "pairing"))
		if _, err := b.keys.FinishEnrol(t.Context(), e.Ticket, passkeytest.New(page).Create(e.Create), c.allow(e), "second"); !fault.Is(err, c.code) {
			t.Errorf("%s: %v, want %s", name, err, c.code)
		}
	}
	for name, change := range map[string]func(*passkeytest.Authenticator){
		"other origin": func(a *passkeytest.Authenticator) { a.Origin = "http://localhost:1" }, "other party": func(a *passkeytest.Authenticator) { a.Party = "example.com" },
		"not verified": func(a *passkeytest.Authenticator) { a.Flags = passkeytest.Present }, "other ceremony": func(a *passkeytest.Authenticator) { a.Kind = "webauthn.get" },
	} {
		e := must(b.keys.BeginEnrol(t.Context(), ""))
		a := passkeytest.New(page)
		change(a)
		_, err := b.keys.FinishEnrol(t.Context(), e.Ticket, a.Create(e.Create), first.Get(e.Assert), "second")
		if !fault.Is(err, fault.NotAllowed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if keys := must(b.keys.List()); len(keys) != 1 {
		t.Fatalf("after the refusals: %+v", keys)
	}
	b.now = b.now.Add(time.Hour)
	e = must(b.keys.BeginEnrol(t.Context(), ""))
	second := must(b.keys.FinishEnrol(t.Context(), e.Ticket, passkeytest.New(page).Create(e.Create), first.Get(e.Assert), "laptop"))
	if second.Name == "laptop" || !strings.HasPrefix(second.Name, "laptop ") || !strings.HasPrefix(second.By, "passkey:") {
		t.Errorf("the second passkey: %+v", second)
	}
	e = must(b.keys.BeginEnrol(t.Context(), ""))
	b.now = b.now.Add(6 * time.Minute)
	_, err = b.keys.FinishEnrol(t.Context(), e.Ticket, passkeytest.New(page).Create(e.Create), first.Get(e.Assert), "third")
	wants(t, err, fault.Conflict, "longer")
	if len(must(b.keys.List())) != 2 || len(must(b.open().List())) != 2 {
		t.Error("two passkeys are not listed as two")
	}
}

func TestRecentAndRemoved(t *testing.T) {
	b := newBench(t)
	first := b.enrol("laptop", nil)
	b.now = b.now.Add(25 * time.Hour)
	if keys := must(b.keys.Recent()); len(keys) != 0 {
		t.Errorf("recent after a day: %+v", keys)
	}
	b.enrol("phone", first)
	if keys := must(b.keys.Recent()); len(keys) != 1 || keys[0].Name != "phone" {
		t.Errorf("recent: %+v", keys)
	}
	only := b.open() // as a command opens it, without pages
	_, err := only.BeginEnrol(t.Context(), "pairing")
	wants(t, err, fault.NotAllowed, "dashboard")
	_, err = only.BeginDecision(statement(decision()))
	wants(t, err, fault.NotAllowed, "dashboard")
	_, err = only.FinishDecision(t.Context(), statement(decision()), nil)
	wants(t, err, fault.NotAllowed, "dashboard")
	_, err = only.Remove(t.Context(), "tablet")
	wants(t, err, fault.NotFound, "tablet")
	_, err = only.Remove(t.Context(), "")
	wants(t, err, fault.NotFound, "")
	if _, err := only.Remove(t.Context(), "laptop"); err != nil {
		t.Fatal(err)
	}
	_, err = only.Remove(t.Context(), "laptop")
	wants(t, err, fault.NotFound, "laptop")
	if _, err := only.Remove(t.Context(), "phone"); err != nil {
		t.Fatal(err)
	}
	if keys := must(b.keys.Recent()); len(keys) != 0 {
		t.Errorf("recent after its removal: %+v", keys)
	}
	// The removed passkey neither decides nor allows another, although the server did not restart.
	third := b.enrol("desk", nil)
	options := must(b.keys.BeginDecision(statement(decision())))
	first.User, first.Count = third.User, first.Count+1
	if _, err := b.keys.FinishDecision(t.Context(), statement(decision()), first.Get(options)); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("signed by a removed passkey: %v", err)
	}
	e := must(b.keys.BeginEnrol(t.Context(), "pairing"))
	if _, err := b.keys.FinishEnrol(t.Context(), e.Ticket, passkeytest.New(page).Create(e.Create), first.Get(e.Assert), "x"); !fault.Is(err, fault.NotAllowed) {
		t.Errorf("allowed by a removed passkey: %v", err)
	}
}

func TestBrokenListIsKept(t *testing.T) {
	b := newBench(t)
	if keys, err := b.keys.List(); err != nil || keys != nil {
		t.Fatalf("without a folder: %v, %v", keys, err)
	}
	if _, err := b.keys.Remove(t.Context(), "laptop"); !fault.Is(err, fault.NotFound) {
		t.Errorf("removed from nothing: %v", err)
	}
	if _, err := os.Stat(b.folder); !os.IsNotExist(err) {
		t.Errorf("a refusal has made the folder: %v", err)
	}
	b.enrol("laptop", nil)
	name := filepath.Join(b.folder, "passkeys.json")
	if err := os.WriteFile(name, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := b.keys.List()
	wants(t, err, fault.Storage, "passkeys.json")
	_, err = b.keys.BeginEnrol(t.Context(), "pairing")
	wants(t, err, fault.Storage, "passkeys.json")
	if string(must(os.ReadFile(name))) != "{" {
		t.Error("a broken list was overwritten")
	}
}

// TestCeremoniesAreBounded begins many ceremonies: the oldest are lost, and nothing else grows.
func TestCeremoniesAreBounded(t *testing.T) {
	b := newBench(t)
	a := b.enrol("laptop", nil)
	g := decision()
	oldest := must(b.keys.BeginDecision(statement(g)))
	var newest json.RawMessage
	last := g
	for range 40 {
		b.now = b.now.Add(time.Second)
		last.Revision++
		newest = must(b.keys.BeginDecision(statement(last)))
	}
	a.Count++
	_, err := b.keys.FinishDecision(context.Background(), statement(g), a.Get(oldest))
	wants(t, err, fault.Conflict, "")
	if _, err := b.keys.FinishDecision(context.Background(), statement(last), a.Get(newest)); err != nil {
		t.Error(err)
	}
	entries := must(fs.Glob(os.DirFS(b.folder), "*"))
	if slices.ContainsFunc(entries, func(name string) bool { return !strings.HasPrefix(name, "passkeys.") }) {
		t.Errorf("files: %v", entries)
	}
}

// FuzzResponse checks that no answer of a browser ends the program, or is taken without a signature of
// the passkey.
func FuzzResponse(f *testing.F) {
	folder := f.TempDir()
	keys := must(passkey.New(passkey.Options{Folder: folder, Origins: []string{page}, Now: time.Now}))
	a := passkeytest.New(page)
	e := must(keys.BeginEnrol(f.Context(), "pairing"))
	made := a.Create(e.Create)
	must(keys.FinishEnrol(f.Context(), e.Ticket, made, nil, "laptop"))
	s := statement(decision())
	f.Add(made)
	f.Add(a.Get(must(keys.BeginDecision(s))))
	f.Add([]byte(`{"id":"AA","rawId":"AA","type":"public-key","response":{"clientDataJSON":"e30","authenticatorData":"","signature":""}}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, response []byte) {
		must(keys.BeginDecision(s))
		if got, err := keys.FinishDecision(t.Context(), s, response); err == nil || got != nil {
			t.Errorf("taken: %+v", got)
		}
		e := must(keys.BeginEnrol(t.Context(), ""))
		if added, err := keys.FinishEnrol(t.Context(), e.Ticket, response, response, "x"); err == nil {
			t.Errorf("enrolled: %+v", added)
		}
		g := decision()
		g.Passkey = &workflow.Signature{}
		if json.Unmarshal(response, g.Passkey) == nil {
			if got, _ := passkey.VerifyGrant(session, g, nil); !got.Fails() {
				t.Errorf("verified: %s", got)
			}
		}
	})
}

func b64(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// asked has the options of both ceremonies that the tests look at.
type asked struct {
	RPID string `json:"rpId"`
	RP   struct {
		ID string `json:"id"`
	} `json:"rp"`
	User                   named  `json:"user"`
	UserVerification       string `json:"userVerification"`
	Attestation            string `json:"attestation"`
	AuthenticatorSelection struct {
		UserVerification string `json:"userVerification"`
		ResidentKey      string `json:"residentKey"`
	} `json:"authenticatorSelection"`
	Parameters []algorithm `json:"pubKeyCredParams"`
	Exclude    []named     `json:"excludeCredentials"`
	Allow      []named     `json:"allowCredentials"`
}

type named struct {
	ID string `json:"id"`
}

type algorithm struct {
	Alg int `json:"alg"`
}

func read(t testing.TB, options json.RawMessage) (a asked) {
	t.Helper()
	if err := json.Unmarshal(options, &a); err != nil {
		t.Fatalf("options %s: %v", options, err)
	}
	return a
}
