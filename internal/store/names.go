package store

import (
	"io/fs"
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

// findMisnamed returns the first value of a session no session may have, with the key: an invalid name, a
// path out of its place, a number out of bounds, or a line end where a list shows a word. Texts of people
// and models may have several lines.
func findMisnamed(s *workflow.Session) (key, value string) {
	var c checker
	canonical, isID := ParseID(s.SessionID)
	c.refuseIf(!isID || canonical != s.SessionID, "session_id", s.SessionID)
	c.checkName("task_name", s.TaskName)
	c.checkLine("branch", s.Branch)
	c.checkCount("revision", s.Revision, s.ReworkCount)
	c.checkCount("criteria_reader", s.CriteriaReader)
	c.checkLine("artifacts", s.Artifacts...)
	c.checkSprints("sprints", s.Sprints)
	c.checkPolicies("policy", s.Policy)
	c.checkCommands("verify", s.VerifyCommands)
	c.checkDefinition(s.Workflow)
	for id, rec := range s.Stages {
		if c.checkName("stages", string(id)); rec != nil {
			c.checkRecord(rec)
		}
	}
	for i := range s.History {
		c.checkEntry(&s.History[i])
	}
	return c.key, c.value
}

// checker keeps the first refused value.
type checker struct{ key, value string }

func (c *checker) refuseIf(wrong bool, key, value string) {
	if wrong && c.key == "" {
		c.key, c.value = key, value
	}
}

func (c *checker) checkName(key, value string) { c.refuseIf(!artifact.IsName(value), key, value) }

// checkLine refuses values unfit for a single line.
func (c *checker) checkLine(key string, values ...string) {
	for _, value := range values {
		c.refuseIf(!isLine(value), key, value)
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

func (c *checker) checkCount(key string, numbers ...int) {
	for _, n := range numbers {
		if n < 0 || n > maxCount {
			c.refuseIf(true, key, strconv.Itoa(n))
		}
	}
}

// isFile reports whether a path names a file in a subfolder of a folder. It may begin with "./".
func isFile(folder, value string) bool {
	in, base := path.Split(strings.TrimPrefix(value, "./"))
	above, sub := path.Split(strings.TrimSuffix(in, "/"))
	return above == folder+"/" && artifact.IsName(sub) && artifact.IsName(base)
}

// checkDocument refuses a path other than a text's or an artifact's; "" is none.
func (c *checker) checkDocument(key, value string) {
	c.refuseIf(value != "" && !isFile(textFolder, value) && !isFile(artifact.Folder, value), key, value)
}

// checkCodeFile refuses a path out of the project; "" is none.
func (c *checker) checkCodeFile(key, value string) {
	isPath := fs.ValidPath(value) && isLine(value)
	c.refuseIf(value != "" && !isPath, key, value)
}

func (c *checker) checkRef(key string, ref *workflow.ContentRef) {
	c.refuseIf(!isFile(textFolder, ref.FilePath), key+".file_path", ref.FilePath)
	c.checkSize(key+".size", ref.Size)
	c.checkLine(key+".sha256", ref.SHA256)
}

func (c *checker) checkSize(key string, n int64) {
	if n < 0 || n > maxSize {
		c.refuseIf(true, key, strconv.FormatInt(n, 10))
	}
}

func (c *checker) checkPolicies(key string, all map[workflow.StageID]workflow.Policy) {
	for id, p := range all {
		c.checkName(key, string(id))
		c.checkPolicy(key, p)
	}
}

func (c *checker) checkPolicy(key string, p workflow.Policy) {
	c.checkLine(key, string(p.Gate), string(p.Scoring), string(p.Pause), p.Verdict, string(p.Proved))
	c.checkLine(key+".approvers", p.Approvers...)
	c.checkCount(key+".quorum", p.Quorum)
}

func (c *checker) checkCommands(key string, all map[workflow.StageID]workflow.VerifyCommand) {
	for id, command := range all {
		c.checkName(key, string(id))
		c.checkLine(key+".set_by", string(command.SetBy))
	}
}

// checkDefinition checks the words that are not names; [workflow.Definition.Check] does the rest.
func (c *checker) checkDefinition(d *workflow.Definition) {
	if d == nil {
		return
	}
	c.checkLine("workflow", d.Hash, d.Description, d.When)
	for _, st := range d.Stages {
		c.checkLine("workflow.stages", st.Label, st.Role, st.Description, st.DocumentName)
		c.checkLine("workflow.stages.keys", st.Keys...)
		c.checkLine("workflow.stages.personas", st.Personas...)
	}
}

func (c *checker) checkSprints(key string, sprints []workflow.Sprint) {
	for _, sprint := range sprints {
		c.checkLine(key, string(sprint.Status), sprint.Label)
		c.checkLine(key, sprint.Criteria...)
		c.checkCount(key, sprint.Number)
	}
}

func (c *checker) checkRecord(r *workflow.Record) {
	c.checkLine("stages.status", string(r.Status), string(r.Verdict), r.WorkTree)
	c.checkCount("stages.iteration", r.Iteration)
	c.checkCount("stages.scope", r.Scope...)
	c.checkSprints("stages.earlier_sprints", r.EarlierSprints)
	for _, ref := range r.Refs() {
		c.checkRef("stages", ref)
	}
	for _, one := range r.Candidates {
		c.checkLine("stages.candidates", string(one.Engine), string(one.Verdict))
		c.checkDocument("stages.candidates.path", one.Path)
	}
	if a := r.Artifact; a != nil {
		c.refuseIf(!isFile(artifact.Folder, a.Path), "stages.artifact.path", a.Path)
		c.checkSize("stages.artifact.size", a.Size)
		c.checkLine("stages.artifact.sha256", a.SHA256, a.Replaces)
		if a.Text != nil {
			c.checkRef("stages.artifact.text", a.Text)
		}
	}
	for _, q := range slices.Concat(r.Questions, r.Asked) {
		c.checkLine("stages.questions.status", string(q.Status))
	}
	for _, channel := range r.AnswerChannels {
		c.checkLine("stages.answer_channels", string(channel))
	}
	for _, request := range r.ChangeRequests {
		c.checkLine("stages.change_requests", string(request.Kind), string(request.Stage), string(request.Status), request.SHA256)
		c.checkCodeFile("stages.change_requests.file", request.File)
		c.checkCount("stages.change_requests", request.From, request.To, request.Round, request.SettledIn)
	}
	if r.Policy != nil {
		c.checkPolicy("stages.policy", *r.Policy)
	}
	if r.Evidence != nil {
		c.checkLine("stages.evidence.set_by", string(r.Evidence.SetBy))
	}
	for _, row := range r.Criteria {
		c.checkCount("stages.criteria", row.From, row.Sprint)
	}
	if r.Audit != nil {
		for _, f := range r.Audit.Findings {
			c.checkCount("stages.audit.findings", f.Line)
		}
	}
	if p := r.Progress; p != nil {
		c.checkCount("stages.progress", p.Fixed, p.Open, p.Withdrawn, p.New)
	}
}

func (c *checker) checkEntry(e *workflow.Transition) {
	c.checkLine("history", string(e.Action), string(e.Event), e.From, e.To, string(e.Verdict), e.Project)
	c.checkLine("history.by", e.By, e.Subject, e.Name, e.Account, e.Key)
	c.checkLine("history.sha256", e.SHA256, e.Standing, e.Judged, e.Prev, e.Signature, e.Commit, e.Tree, string(e.Untouched))
	for name, hash := range e.Parts {
		c.checkLine("history.parts", name, hash)
	}
	for name, hash := range e.Named {
		c.checkLine("history.named", name, hash)
	}
	for _, m := range e.Keys {
		c.checkLine("history.keys", string(m.Key), m.Subject, m.Name)
	}
	c.checkLine("history.files", append(e.Files, e.Absent...)...)
	for name, id := range e.Dirty {
		c.checkCodeFile("history.dirty", name)
		c.checkLine("history.dirty", id)
	}
	c.checkCount("history.iteration", e.Iteration)
	c.checkCount("history.by_word", e.ByWord)
	if e.FindingsOpen != nil {
		c.checkCount("history.findings_open", *e.FindingsOpen)
	}
	c.checkDocument("history.path", e.Path)
	c.checkDocument("history.kept", e.Kept)
	c.checkCommands("history.verify", e.VerifyCommands)
	if g := e.Grant; g != nil {
		c.checkLine("history.grant", string(g.Channel), string(g.Assurance), string(g.Decision), string(g.Stage), string(g.Policy), g.SHA256, g.Signature)
		c.checkLine("history.grant.client", g.Client, g.Subject, g.Name, g.Account, g.Key)
		c.checkCount("history.grant.revision", g.Revision)
		if g.Offer != nil {
			c.checkLine("history.grant.offer", g.Offer.Command, g.Offer.SHA256)
		}
		for _, comment := range g.Comments {
			c.checkLine("history.grant.comments", string(comment.Kind))
			c.checkCodeFile("history.grant.comments.file", comment.File)
			c.checkCount("history.grant.comments", comment.From, comment.To)
		}
		if p := g.Passkey; p != nil {
			c.checkLine("history.grant.passkey", p.Credential, p.PublicKey, p.AuthenticatorData, p.ClientData, p.Signature, p.Nonce, p.Answers)
		}
	}
	c.checkPolicies("history.rules", e.Rules)
	if e.Adoption != nil {
		c.checkLine("history.adoption", e.Adoption.Past)
		c.checkCount("history.adoption", e.Adoption.From, e.Adoption.Revision)
		for _, text := range e.Adoption.Texts {
			c.checkLine("history.adoption", string(text.Stage), text.SHA256)
			c.checkDocument("history.adoption.path", text.Path)
		}
	}
}
