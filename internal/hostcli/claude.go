package hostcli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/obeyed"
)

// Claude is Claude Code.
type Claude struct {
	// Path is the path of the program.
	Path string
	// Env are the variables to run it with; nil stands for those of this process.
	Env []string
}

// Name returns "claude".
func (*Claude) Name() string { return "claude" }

// Work does a job. The error is a [*Failure], or the context's own. If there is an outcome beside an
// error, it has the usage.
func (c *Claude) Work(ctx context.Context, j Job) (*Outcome, error) {
	args, id, err := c.arguments(j)
	if err != nil {
		return nil, err
	}
	env := environment(c.Env, claudeEnv...)
	settings, err := writeSettings(claudeSettings(j, personal(env)))
	if err != nil {
		return nil, fail(ctx, c.Name(), err)
	}
	defer func() { _ = os.Remove(settings) }()
	if strings.HasPrefix(strings.TrimSpace(j.Prompt), "/") { // would be one of its own commands
		j.Prompt = "This is the work:\n\n" + j.Prompt
	}
	r := newClaudeReader(j, id)
	p := program{path: c.Path, args: append(args, "--settings", settings), env: env, line: r.line}
	because := p.run(ctx, j)
	out := r.outcome()
	if why, ok := r.verdict(); !ok || because != nil {
		return out, fail(ctx, c.Name(), because, why)
	}
	return out, nil
}

// claudeEnv keeps Claude Code to the work: commands end with their call, nothing is written to the
// memory that the person's own sessions read, and an "@" in a prompt attaches no file, because it
// could be any file on the machine.
var claudeEnv = []string{"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1", "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1", "CLAUDE_CODE_DISABLE_ATTACHMENTS=1", "DISABLE_AUTOUPDATER=1"}

// arguments returns the command line without the settings, and the session's name.
func (c *Claude) arguments(j Job) (args []string, session string, err error) {
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
	if i := slices.IndexFunc(j.Allow, func(command string) bool { return !clean(command) }); i >= 0 {
		return nil, "", &Failure{Engine: c.Name(), Why: fmt.Sprintf("the command %q cannot be a rule of its permissions: "+
			"write how it begins, in one line and without ( ) * \\", j.Allow[i]), Final: true}
	}
	if j.Session == "" {
		session = uuid.NewString()
		args = append(args, "--session-id", session)
	} else {
		if session, err = conversation(c.Name(), j.Session); err != nil {
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

// claudeSettings returns the settings of a job, with those of the person's own settings that it keeps.
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
	_ = json.Unmarshal(own["permissions"], &theirs) // a part that cannot be read tightens nothing
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

// personal returns the person's own settings, of which a job keeps the login, the model and the
// denials. They are nil if they cannot be read.
func personal(env []string) map[string]json.RawMessage {
	folder := configuration(env, "CLAUDE_CONFIG_DIR", ".claude")
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

// writeSettings writes settings to a file that only the person can read: they may have
// credentials, and everyone can read the arguments of a process.
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

// clean reports whether a command can stand in a rule, that is, has no character that means something
// in the syntax of rules.
func clean(command string) bool {
	return strings.TrimSpace(command) != "" && !strings.ContainsAny(command, "()*\\\r\n\x00")
}
