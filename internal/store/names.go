package store

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/visible"
	"github.com/bmad-mcp/bmad-mcp/internal/store/artifact"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// Bounds of the numbers of a session: a text is far smaller, and a run far shorter.
const (
	maxSize  = 1 << 32
	maxCount = 1 << 30
)

// maxValues bounds the values in the stored form of a session: in memory each can take a hundred times its text.
const maxValues = 1 << 17

// isBloated reports whether a stored form has more values than a session.
func isBloated(data []byte) bool {
	if len(data) < maxValues {
		return false
	}
	values, inText := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			inText = !inText
		case inText && c == '\\':
			i++
		case !inText && (c == ',' || c == '{' || c == '['):
			values++
		}
	}
	return values > maxValues
}

// findMisnamed returns the first value of a session that no session has, with its key: a name that is none, a path
// out of its place, a number out of bounds, or a line end where a list shows a word. Texts of people and models may
// have several lines.
func findMisnamed(s *workflow.Session) (key, value string) {
	var c checker
	canonical, isID := ParseID(s.SessionID)
	c.refuse(!isID || canonical != s.SessionID, "session_id", s.SessionID)
	c.name("task_name", s.TaskName)
	c.count("revision", s.Revision, s.ReworkCount)
	c.line("artifacts", s.Artifacts...)
	for _, sprint := range s.Sprints {
		c.line("sprints", string(sprint.Status))
		c.count("sprints", sprint.Number)
	}
	c.policies("policy", s.Policy)
	c.commands("verify", s.VerifyCommands)
	c.definition(s.Workflow)
	for id, rec := range s.Stages {
		if c.name("stages", string(id)); rec != nil {
			c.record(rec)
		}
	}
	for i := range s.History {
		c.entry(&s.History[i])
	}
	return c.key, c.value
}

// checker keeps the first value that is refused.
type checker struct{ key, value string }

func (c *checker) refuse(wrong bool, key, value string) {
	if wrong && c.key == "" {
		c.key, c.value = key, value
	}
}

func (c *checker) name(key, value string) { c.refuse(!artifact.IsName(value), key, value) }

// line refuses values that do not fit into a line.
func (c *checker) line(key string, values ...string) {
	for _, value := range values {
		c.refuse(!isLine(value), key, value)
	}
}

// isLine reports whether a text is one line in which nothing steers a terminal.
func isLine(text string) bool {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return !strings.ContainsAny(text, "\n\t") && !visible.Steers(text)
		}
	}
	return true
}

func (c *checker) count(key string, numbers ...int) {
	for _, n := range numbers {
		if n < 0 || n > maxCount {
			c.refuse(true, key, strconv.Itoa(n))
		}
	}
}

// isFile reports whether a path is that of a file in a subfolder of a folder. It may begin with "./".
func isFile(folder, value string) bool {
	in, base := path.Split(strings.TrimPrefix(value, "./"))
	above, sub := path.Split(strings.TrimSuffix(in, "/"))
	return above == folder+"/" && artifact.IsName(sub) && artifact.IsName(base)
}

// document refuses a path that is neither that of a text nor that of an artifact; "" is none.
func (c *checker) document(key, value string) {
	c.refuse(value != "" && !isFile(textFolder, value) && !isFile(artifact.Folder, value), key, value)
}

func (c *checker) ref(key string, ref *workflow.ContentRef) {
	c.refuse(!isFile(textFolder, ref.FilePath), key+".file_path", ref.FilePath)
	c.size(key+".size", ref.Size)
	c.line(key+".sha256", ref.SHA256)
}

func (c *checker) size(key string, n int64) {
	if n < 0 || n > maxSize {
		c.refuse(true, key, strconv.FormatInt(n, 10))
	}
}

func (c *checker) policies(key string, all map[workflow.StageID]workflow.Policy) {
	for id, p := range all {
		c.name(key, string(id))
		c.policy(key, p)
	}
}

func (c *checker) policy(key string, p workflow.Policy) {
	c.line(key, string(p.Gate), string(p.Scoring), string(p.Pause), string(p.Verdict), string(p.Proved))
	c.line(key+".approvers", p.Approvers...)
	c.count(key+".quorum", p.Quorum)
}

func (c *checker) commands(key string, all map[workflow.StageID]workflow.VerifyCommand) {
	for id, command := range all {
		c.name(key, string(id))
		c.line(key+".set_by", string(command.SetBy))
	}
}

// definition checks what [workflow.Definition.Check] does not: the words that are not names.
func (c *checker) definition(d *workflow.Definition) {
	if d == nil {
		return
	}
	c.line("workflow", d.Hash, d.Description, d.When)
	for _, st := range d.Stages {
		c.line("workflow.stages", st.Label, st.Role, st.Description, st.DocumentName)
		c.line("workflow.stages.keys", st.Keys...)
		c.line("workflow.stages.personas", st.Personas...)
	}
}

func (c *checker) record(r *workflow.Record) {
	c.line("stages.status", string(r.Status), string(r.Verdict), r.WorkTree)
	c.count("stages.iteration", r.Iteration)
	c.count("stages.scope", r.Scope...)
	for _, ref := range r.Refs() {
		c.ref("stages", ref)
	}
	for _, one := range r.Candidates {
		c.line("stages.candidates", string(one.Engine), string(one.Verdict))
		c.document("stages.candidates.path", one.Path)
	}
	if a := r.Artifact; a != nil {
		c.refuse(!isFile(artifact.Folder, a.Path), "stages.artifact.path", a.Path)
		c.size("stages.artifact.size", a.Size)
		c.line("stages.artifact.sha256", a.SHA256, a.Replaces)
		if a.Text != nil {
			c.ref("stages.artifact.text", a.Text)
		}
	}
	for _, q := range slices.Concat(r.Questions, r.Asked) {
		c.line("stages.questions.status", string(q.Status))
	}
	for _, channel := range r.AnswerChannels {
		c.line("stages.answer_channels", string(channel))
	}
	for _, request := range r.ChangeRequests {
		c.line("stages.change_requests", string(request.Kind), string(request.Stage), string(request.Status), request.SHA256)
		c.count("stages.change_requests", request.From, request.To, request.Round, request.SettledIn)
	}
	if r.Policy != nil {
		c.policy("stages.policy", *r.Policy)
	}
	if r.Evidence != nil {
		c.line("stages.evidence.set_by", string(r.Evidence.SetBy))
	}
	for _, row := range r.Criteria {
		c.count("stages.criteria", row.From, row.Sprint)
	}
	if r.Audit != nil {
		for _, f := range r.Audit.Findings {
			c.count("stages.audit.findings", f.Line)
		}
	}
	if p := r.Progress; p != nil {
		c.count("stages.progress", p.Fixed, p.Open, p.Withdrawn, p.New)
	}
}

func (c *checker) entry(e *workflow.Transition) {
	c.line("history", string(e.Action), string(e.Event), e.From, e.To, string(e.Verdict), e.Project)
	c.line("history.by", e.By, e.Subject, e.Name)
	c.line("history.sha256", e.SHA256, e.Standing, e.Judged, e.Prev, e.Signature, e.Commit)
	for name, hash := range e.Parts {
		c.line("history.parts", name, hash)
	}
	for _, m := range e.Keys {
		c.line("history.keys", string(m.Key), m.Subject, m.Name)
	}
	c.count("history.iteration", e.Iteration)
	if e.FindingsOpen != nil {
		c.count("history.findings_open", *e.FindingsOpen)
	}
	c.document("history.path", e.Path)
	c.document("history.kept", e.Kept)
	c.commands("history.verify", e.VerifyCommands)
	if g := e.Grant; g != nil {
		c.line("history.grant", string(g.Channel), string(g.Assurance), string(g.Decision), string(g.Stage), string(g.Policy), g.SHA256, g.Signature)
		c.line("history.grant.client", g.Client, g.Subject, g.Name)
		c.count("history.grant.revision", g.Revision)
		for _, comment := range g.Comments {
			c.line("history.grant.comments", string(comment.Kind))
			c.count("history.grant.comments", comment.From, comment.To)
		}
		if p := g.Passkey; p != nil {
			c.line("history.grant.passkey", p.Credential, p.PublicKey, p.AuthenticatorData, p.ClientData, p.Signature, p.Nonce, p.Answers)
		}
	}
	c.policies("history.rules", e.Rules)
	if e.Adoption != nil {
		c.line("history.adoption", e.Adoption.Past)
		c.count("history.adoption", e.Adoption.From, e.Adoption.Revision)
		for _, text := range e.Adoption.Texts {
			c.line("history.adoption", string(text.Stage), text.SHA256)
			c.document("history.adoption.path", text.Path)
		}
	}
}
