package mcpserver_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/testkit/golden"
)

// hostKeys are the keys that a person presses in the forms of a host. The last of a list sends the form.
type hostKeys struct {
	// views is true if one Enter too many shows the document, instead of nothing.
	views bool
	// approve and changes are the first two choices at the gate of a document, and risk the second
	// one at that of a failed report.
	approve, changes, risk []string
	// words sends a form of one text.
	words []string
	// answers are those to the form of questions: Microsoft Entra, own words twice. What begins with
	// a space is typed. own are the own words that the form behind it asks for.
	answers, own []string
}

var claudeKeys = hostKeys{
	approve: []string{"Right", "Enter", "Enter"}, changes: []string{"Right", "Down", "Enter", "Enter"}, risk: []string{"Right", "Down", "Enter", "Enter"},
	words:   []string{"Enter", "Enter"},
	answers: []string{"Right", "Down", "Enter", " " + about, "Enter", "Right", "Down", "Down", "Enter", "Down", "Enter"},
	own:     []string{" " + house, "Enter", "Enter"},
}

var codexKeys = hostKeys{
	views: true, approve: []string{"Down", "Enter"}, changes: []string{"Down", "Down", "Enter"}, risk: []string{"Down", "Down", "Enter"},
	words:   []string{"Enter"},
	answers: []string{"Down", "Down", "Enter", "Down", "Enter", "Down", "Down", "Down", "Enter", "Enter"},
	own:     []string{" " + about, "Enter", " " + house, "Enter"},
}

// draftPath matches the path of a document in a form.
var draftPath = regexp.MustCompile(`\.bmad-task/work/[!-~]+\.md`)

// about, house, shorter and known are texts that the person types.
const (
	about   = "about 400"
	house   = "GDPR and our own rule: one year"
	shorter = "say that guests cannot sign in"
	known   = "the tool is for us alone"
)

// realHost returns a host by the variable that names its program, or skips the test.
func realHost(t *testing.T, variable string) string {
	t.Helper()
	name := os.Getenv(variable)
	if name == "" {
		t.Skipf("SKIPPED: without %s nothing shows how a person answers the forms there; .ci/proof names the program", variable)
	}
	return name
}

// TestHostsAnswerForms decides in each host as a person does, in a terminal of 80 columns: what the
// forms look like, how many keys a decision takes, and what a key too many does. One terminal has more than
// 24 rows, so that the chat above a form can be read too.
func TestHostsAnswerForms(t *testing.T) {
	t.Parallel()
	plain := func(program string) screenHost { return claudeHost(program, plainEntry) }
	for name, tt := range map[string]struct {
		variable string
		host     func(program string) screenHost
		keys     hostKeys
		language string
		rows     int
	}{
		"claude-2.1.329":    {"TEST_BMAD_CLAUDE", plain, claudeKeys, "english", screenRows},
		"claude-2.1.329-zh": {"TEST_BMAD_CLAUDE", func(p string) screenHost { return claudeHost(p, pluginEntry) }, claudeKeys, "chinese", tallRows},
		"claude-2.1.197":    {"TEST_BMAD_CLAUDE_OLDER", plain, claudeKeys, "english", screenRows},
		"codex-0.169.0":     {"TEST_BMAD_CODEX", codexHost, codexKeys, "english", screenRows},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := tt.host(realHost(t, tt.variable))
			words := screenRuns[tt.language]
			again := object{"action": "submit", "stage": "po", "claude_result": jsonText(object{"prd_updated": strings.Join(words.document, "\n") + "\n- Guests cannot sign in.", "quality_score": 95})}
			work := words.work()
			work = append(work[:3:3], append([]object{again}, work[3:]...)...)
			model := &obedient{tool: host.tool, work: work}
			p := &personAt{screen: openScreen(t, serveStandIn(t, model.play), host, tt.rows), keys: tt.keys, folder: filepath.Join("testdata", "screens", name), words: words}
			if tt.rows == tallRows {
				p.model = model
			}
			p.begins()
			p.answerQuestions()
			p.gate()
			p.verdict()
		})
	}
}

// personAt is a person at a host, by its keys.
type personAt struct {
	*screen
	keys   hostKeys
	folder string // of the screens that are kept
	words  screenWords
	model  *obedient // if the screen has room for its words above a form, else nil
}

// shows waits for a form that has these words, and compares the screen with the one that is kept. A host takes its
// time to draw a form anew, so that the one that is kept is waited for.
func (p *personAt) shows(name, lead string) {
	p.t.Helper()
	tried := time.Now()
	p.waitForForm("a form: "+lead, func(form string) bool {
		if time.Since(tried) > 3*time.Second {
			p.redraw()
			tried = time.Now()
		}
		return strings.Contains(form, lead)
	})
	p.redraw()
	file := filepath.Join(p.folder, name+".txt")
	kept, _ := os.ReadFile(file) // golden.Check reports a file that is not there
	shown := func() string { return strings.TrimSpace(p.host.form+p.host.formOn(p.text())) + "\n" }
	for tries := 0; tries < 200 && shown() != string(kept); tries++ {
		time.Sleep(50 * time.Millisecond)
	}
	if !strings.Contains(p.latest, p.host.form) {
		p.t.Errorf("the form does not fit the screen:\n%s", p.latest)
	}
	golden.Check(p.t, file, shown())
}

// redraw has the host draw its screen anew. Claude Code 2.1.197 draws a form over the one before,
// and can leave letters of that.
func (p *personAt) redraw() {
	p.t.Helper()
	for _, columns := range []int{screenColumns + 1, screenColumns} {
		p.ask("resize-window", "-x", strconv.Itoa(columns))
		time.Sleep(300 * time.Millisecond)
	}
}

// press presses the keys of a form, and types what begins with a space; the last key sends it. Forms
// that are answered within a second count as answered by a program.
func (p *personAt) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys[:len(keys)-1] {
		if text, typed := strings.CutPrefix(key, " "); typed {
			p.ask("send-keys", "-l", text)
			p.waitForForm("what was typed", func(form string) bool { return strings.Contains(form, text) })
			continue
		}
		p.key(key)
	}
	time.Sleep(person)
	p.ask("send-keys", keys[len(keys)-1])
}

// writes sends a form of one text.
func (p *personAt) writes(text string) {
	p.t.Helper()
	p.press(append([]string{" " + text}, p.keys.words...)...)
}

// decides asks for the form again, which has these words.
func (p *personAt) decides(lead string) {
	p.t.Helper()
	p.idle()
	p.says("decide")
	p.waitForForm("a form: "+lead, func(form string) bool { return strings.Contains(form, lead) })
}

// checkNoDecision fails if the run has changed since.
func (p *personAt) checkNoDecision(before string) {
	p.t.Helper()
	p.idle()
	if sessionFile(p.t, p.dir) != before {
		p.t.Fatalf("something was decided: %v", lastEntry(p.t, p.dir))
	}
}

// answerQuestions answers the questions of the first round: by an offered answer, and in own words.
func (p *personAt) answerQuestions() {
	p.t.Helper()
	p.shows("questions", p.words.asks)
	p.press(p.keys.answers...)
	p.shows("answers", p.words.own)
	p.press(p.keys.own...)
	p.waitForForm("the gate", func(form string) bool { return strings.Contains(form, p.words.confirms) })
	answers, _ := p.stage("po")["answers"].(object)
	if len(answers) != 3 || answers["q1"] != p.words.options()[1] || answers["q2"] != about || answers["q3"] != house {
		p.t.Errorf("the answers recorded are %v", answers)
	}
}

// gate decides about the document: one Enter too many, a second form that is closed, changes, and
// a yes.
func (p *personAt) gate() {
	p.t.Helper()
	before := sessionFile(p.t, p.dir)
	p.shows("gate", p.words.confirms)
	path := draftPath.FindString(p.host.formOn(p.latest))
	if _, err := os.Stat(filepath.Join(p.dir, path)); path == "" || err != nil {
		p.t.Errorf("the path in the form cannot be opened: %v", err)
	}
	if p.model != nil {
		p.digest(p.model, append(slices.Clone(p.words.digest), p.words.gap)...)
	}
	p.press("Enter")
	if !p.keys.views { // the form stays
		p.escape()
	}
	p.checkNoDecision(before)
	if text := p.text(); p.model != nil && !strings.Contains(flat(text), flat(p.words.waits)) {
		p.t.Errorf("the chat does not say what the person can do:\n%s", text)
	}
	if text := p.text(); p.keys.views && !strings.Contains(text, strings.TrimLeft(p.words.document[len(p.words.document)-1], "- ")) {
		p.t.Errorf("the chat does not show the document:\n%s", text)
	}
	p.decides(p.words.confirms)
	p.saysWhy(p.keys.changes, p.words.confirms, "changes", p.words.Word("What is to change?"), shorter)
	p.waitForForm("the next round", func(form string) bool { return strings.Contains(form, p.words.again) })
	history := readStored(p.t, p.dir)["history"].([]any)
	p.checkGrant(history[len(history)-2].(object), "request_changes", shorter)
	p.press(p.keys.approve...)
	p.idle()
	p.checkGrant(lastEntry(p.t, p.dir), "approve", "")
}

// saysWhy takes a choice that needs words, and closes the form for these: nothing is decided. Then it
// takes it again and writes them.
func (p *personAt) saysWhy(keys []string, lead, name, question, text string) {
	p.t.Helper()
	before := sessionFile(p.t, p.dir)
	p.press(keys...)
	p.shows(name, question)
	p.escape()
	p.checkNoDecision(before)
	p.decides(lead)
	p.press(keys...)
	p.shows(name, question)
	p.writes(text)
}

// verdict accepts a critical finding, which needs words.
func (p *personAt) verdict() {
	p.t.Helper()
	p.toReview()
	p.says("go on")
	p.shows("verdict", p.words.fails)
	if p.model != nil {
		p.digest(p.model, p.words.digest[0], p.words.Word("Report: "), p.words.finding, p.words.gap)
	}
	p.saysWhy(p.keys.risk, p.words.fails, "risk", p.words.Word("Why do you accept it? Your reason is recorded."), known)
	p.idle()
	p.checkGrant(lastEntry(p.t, p.dir), "override", known)
}

// checkGrant fails unless an entry has a decision that a form has brought, with these words.
func (p *personAt) checkGrant(entry object, decision, words string) {
	p.t.Helper()
	grant, _ := entry["grant"].(object)
	if said, _ := grant["feedback"].(string); grant["channel"] != "elicited" || grant["decision"] != decision || said != words {
		p.t.Errorf("%s is recorded as %v", decision, grant)
	}
}
