package hostcli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Claude is Claude Code.
type Claude struct {
	// Path is the path of the program.
	Path string
	// Env are the variables of the program; nil stands for this process's own.
	Env []string
}

// Name returns "claude".
func (*Claude) Name() string { return "claude" }

// Check refuses a job with a command unfit for a rule of Claude Code's permissions.
func (c *Claude) Check(j Job) error {
	_, _, err := c.commandLine(j)
	return err
}

// Work does a job. The error is a [*Failure], or the context's own. If there is an outcome beside an
// error, it has the usage.
func (c *Claude) Work(ctx context.Context, j Job) (*Outcome, error) {
	args, id, err := c.commandLine(j)
	if err != nil {
		return nil, err
	}
	env := engineEnv(c.Env, claudeEnv...)
	settings, err := writeSettings(claudeSettings(j, personalSettings(env)))
	if err != nil {
		return nil, newFailure(ctx, c.Name(), err, "")
	}
	defer func() { _ = os.Remove(settings) }()
	if strings.HasPrefix(strings.TrimSpace(j.Prompt), "/") { // would be a command of Claude Code
		j.Prompt = "This is the work:\n\n" + j.Prompt
	}
	r := newClaudeReader(j, id)
	because := program{path: c.Path, args: append(args, "--settings", settings), env: env, out: r}.run(ctx, j)
	return finish(ctx, c.Name(), r, because)
}

// Recall returns the outcome of a job whose end nobody has seen, from what it had written to Job.Raw.
func (c *Claude) Recall(j Job, raw []byte) (*Outcome, error) {
	return recall(c.Name(), newClaudeReader(j, j.Session), raw)
}

// claudeEnv keeps Claude Code to the work: commands end with their call, nothing is written to the memory of
// the person's own sessions, and an "@" in a prompt attaches no file, because it could be any file on the
// machine.
var claudeEnv = []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_DISABLE_ATTACHMENTS=1", "DISABLE_AUTOUPDATER=1"}

// commandLine returns the command line without the settings, and the session's name.
func (c *Claude) commandLine(j Job) (args []string, session string, err error) {
	tools := "Read,Glob,Grep"
	if j.Writes {
		tools = "Read,Edit,Write,Glob,Grep,Bash"
	}
	// The empty list of sources leaves out the settings of the person and of the project: both
	// can allow more than this job does, or start servers and hooks.
	args = []string{
		"-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits", "--tools", tools,
		"--setting-sources", "", "--strict-mcp-config", "--disable-slash-commands",
	}
	if i := slices.IndexFunc(j.Allow, func(command string) bool { return !fitsRule(command) }); i >= 0 {
		return nil, "", &Failure{Engine: c.Name(), Why: fmt.Sprintf("the command %q cannot be a rule of its permissions: "+
			"write how it begins, in one line and without ( ) * \\", j.Allow[i]), Final: true}
	}
	if j.Session == "" {
		session = uuid.NewString()
		args = append(args, "--session-id", session)
	} else {
		if session, err = parseConversation(c.Name(), j.Session); err != nil {
			return nil, "", err
		}
		args = append(args, "--resume", session)
	}
	if j.Left > 0 {
		args = append(args, "--max-budget-usd", strconv.FormatFloat(j.Left.USD(), 'f', -1, 64))
	}
	if j.Model != "" {
		args = append(args, "--model="+j.Model)
	}
	return args, session, nil
}

// claudeSettings returns the settings of a job, with the lasting part of the person's own.
func claudeSettings(j Job, own map[string]json.RawMessage) map[string]any {
	deny := []string{"WebFetch", "WebSearch", "Bash(bmad-mcp:*)", "Edit(~/.claude/**)", "Edit(~/.claude.json)"}
	closed, _ := obeyed.Closed(j.Open...)
	for _, f := range closed { // a pattern counts in any case and stands for a folder with all in it
		deny = append(deny, "Edit(**/"+f.Name+")")
	}
	allow := []string{}
	for _, command := range j.Allow {
		allow = append(allow, "Bash("+strings.TrimSpace(command)+":*)")
	}
	var theirs struct{ Deny, Ask []string }
	_ = json.Unmarshal(own["permissions"], &theirs) // an unreadable part tightens nothing
	settings := map[string]any{
		"permissions": map[string]any{
			"allow": allow,
			"deny":  append(deny, theirs.Deny...),
			"ask":   append([]string{}, theirs.Ask...),

			"disableBypassPermissionsMode": "disable",
		},
		"disableAllHooks":            true,
		"enableAllProjectMcpServers": false,
		"includeCoAuthoredBy":        false,
	}
	for _, key := range claudeKept {
		if raw, ok := own[key]; ok {
			settings[key] = raw
		}
	}
	return settings
}

// claudeKept are the keys of the person's settings for their login, environment and model.
var claudeKept = []string{
	"apiKeyHelper", "awsAuthRefresh", "awsCredentialExport", "gcpAuthRefresh", "otelHeadersHelper",
	"forceLoginMethod", "forceLoginOrgUUID", "env", "model",
}

// personalSettings returns the person's own settings, of which a job keeps the login, the model and the
// denials. They are nil if they cannot be read.
func personalSettings(env []string) map[string]json.RawMessage {
	folder := configFolder(env, "CLAUDE_CONFIG_DIR", ".claude")
	if folder == "" {
		return nil
	}
	data, err := durable.ReadPath(filepath.Join(folder, "settings.json"), 1<<20)
	var own map[string]json.RawMessage
	if err != nil || json.Unmarshal(data, &own) != nil {
		return nil
	}
	return own
}

// writeSettings writes settings to a file that only the person can read: they may have credentials, and
// everyone can read the arguments of a process.
func writeSettings(settings map[string]any) (path string, err error) {
	data, err := json.Marshal(settings)
	if err != nil {
		return "", err
	}
	f, err := os.CreateTemp("", "bmad-engine-*.json")
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// fitsRule reports whether a command can be part of a rule: it has no character with a meaning in the syntax of
// rules.
func fitsRule(command string) bool {
	return strings.TrimSpace(command) != "" && !strings.ContainsAny(command, "()*\\\r\n\x00")
}

// claudeReader reads the lines of stream-json.
type claudeReader struct {
	job    Job
	out    Outcome
	result *claudeLine
	// more is true while another turn follows the result.
	more bool
	// said has the ids of the counted messages, uses the calls of tools not refused so far.
	said map[string]bool
	uses map[string]string
}

func newClaudeReader(j Job, session string) *claudeReader {
	out := Outcome{Session: session, Usage: map[string]provider.Usage{}}
	return &claudeReader{job: j, out: out, said: map[string]bool{}, uses: map[string]string{}}
}

// claudeLine has the important fields of a line. Fields of an unexpected type are left out.
type claudeLine struct {
	Type      string
	Subtype   string
	Session   string          `json:"session_id"`
	Parent    *string         `json:"parent_tool_use_id"`
	Message   json.RawMessage // an object, or of a denial a text
	ToolUseID string          `json:"tool_use_id"`
	ToolMeta  []struct {
		ID       string
		Decision struct{ Decision string } `json:"permission_decision"`
	} `json:"tool_result_meta"`
	Error string
	// The fields of a result.
	Result   string
	IsError  bool   `json:"is_error"`
	Terminal string `json:"terminal_reason"`
	Errors   []string
	Cost     *float64 `json:"total_cost_usd"`
	// Models counts a conversation from the beginning, Since only from the previous result.
	Models map[string]claudeModel `json:"modelUsage"`
	Since  map[string]claudeModel `json:"model_usage_since_last_result"`
}

type claudeMessage struct {
	ID, Model string
	Usage     claudeUsage
	Content   []struct {
		Type, Text, ID, Name string
		// Input has the arguments of a tool that show the purpose in one line.
		Input struct {
			File             string `json:"file_path"`
			Command, Pattern string
		}
	}
}

type claudeUsage struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	ByTime     struct {
		Hour int64 `json:"ephemeral_1h_input_tokens"`
	} `json:"cache_creation"`
}

// claudeModel is the usage of one model.
type claudeModel struct {
	InputTokens, OutputTokens, CacheReadInputTokens, CacheCreationInputTokens, CacheCreationEphemeral1hInputTokens int64
	CostUSD                                                                                                        float64
}

// synthetic is the model of Claude Code's own messages, for example errors.
const synthetic = "<synthetic>"

// readLine reads one line.
func (r *claudeReader) readLine(data []byte) {
	var l claudeLine
	if !decode(data, &l) {
		return
	}
	if l.Type == "result" {
		r.result, r.more = &l, false
		return
	}
	r.more = r.more || l.Type == "assistant" || l.Type == "user"
	switch l.Type + "/" + l.Subtype {
	case "system/init":
		if l.Session != "" {
			r.out.Session = l.Session
		}
		r.job.Report(Activity{Kind: Began, Session: r.out.Session})
	case "system/permission_denied":
		r.reportDenied(l.ToolUseID)
	case "system/api_retry":
		r.job.Report(Activity{Kind: Retries, Text: maskSecrets(l.Error)})
	case "assistant/":
		r.readMessage(l)
	case "user/":
		for _, m := range l.ToolMeta {
			if m.Decision.Decision == "reject" {
				r.reportDenied(m.ID)
			}
		}
	}
}

// readMessage reads a message, or a part of one, of the model.
func (r *claudeReader) readMessage(l claudeLine) {
	var m claudeMessage
	if !decode(l.Message, &m) {
		return
	}
	for _, b := range m.Content {
		switch {
		case b.Type == "text" && l.Parent == nil && m.Model != synthetic && strings.TrimSpace(b.Text) != "":
			r.job.Report(Activity{Kind: Says, Text: b.Text})
		case b.Type == "tool_use":
			r.uses[b.ID] = toolLine(b.Name, cmp.Or(b.Input.Command, relativePath(r.job.Dir, b.Input.File), b.Input.Pattern))
			r.job.Report(Activity{Kind: UsesTool, Text: r.uses[b.ID]})
		}
	}
	u, hour := m.Usage, m.Usage.ByTime.Hour
	if m.ID == "" || r.said[m.ID] || u == (claudeUsage{}) {
		return
	}
	r.said[m.ID] = true
	// It is less than in the result, because a message reports its output at the beginning.
	r.out.Usage[m.Model] = r.out.Usage[m.Model].Plus(provider.Usage{
		Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite1h: hour, CacheWrite5m: u.CacheWrite - hour, Estimated: true,
	})
	reportUsage(r.job, r.out.Usage)
}

// reportDenied reports a refused tool, once.
func (r *claudeReader) reportDenied(id string) {
	if what, ok := r.uses[id]; ok {
		delete(r.uses, id)
		r.out.Denied = append(r.out.Denied, what)
		r.job.Report(Activity{Kind: Denied, Text: what})
	}
}

func (r *claudeReader) complete() bool { return r.result != nil && !r.more }

func (r *claudeReader) outcome() *Outcome {
	l := r.result
	if l == nil {
		return &r.out
	}
	r.out.Reported = l.Cost
	if !l.IsError {
		r.out.Text = l.Result
	}
	models := l.Models
	if l.Since != nil {
		models, r.out.Reported = l.Since, new(float64)
	}
	if len(models) > 0 {
		r.out.Usage = map[string]provider.Usage{}
		for name, m := range models {
			name, _, _ = strings.Cut(name, "[") // a variant, for example of a long context
			if l.Since != nil {
				*r.out.Reported += m.CostUSD
			}
			hour := m.CacheCreationEphemeral1hInputTokens
			r.out.Usage[name] = r.out.Usage[name].Plus(provider.Usage{
				Input: m.InputTokens, Output: m.OutputTokens, CacheRead: m.CacheReadInputTokens, CacheWrite1h: hour, CacheWrite5m: m.CacheCreationInputTokens - hour,
			})
		}
	}
	maps.DeleteFunc(r.out.Usage, func(_ string, u provider.Usage) bool { return u.Prompt()+u.Output == 0 })
	reportUsage(r.job, r.out.Usage)
	return &r.out
}

func (r *claudeReader) judgeWork() (why string, ok bool) {
	l := r.result
	switch {
	case l == nil:
		return "", false
	case l.IsError || l.Subtype != "success":
		return cmp.Or(strings.TrimSpace(strings.Join(append(l.Errors, l.Result), " ")), l.Subtype), false
	case l.Terminal != "" && l.Terminal != "completed":
		return "it ended early: " + l.Terminal, false
	case strings.TrimSpace(l.Result) == "":
		return "its answer is empty", false
	case strings.HasPrefix(l.Result, "API Error:"):
		return l.Result, false
	case len(r.out.Usage) == 0: // no model has answered, for example if the prompt was a command of Claude Code
		return "no model was asked: " + l.Result, false
	}
	return "", true
}
