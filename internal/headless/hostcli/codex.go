package hostcli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/obeyed"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// Codex is Codex CLI. It has no limit of costs, so Job.Left does not bind it, and needs no Job.Allow, because
// all commands run in its sandbox, without a network.
type Codex struct {
	// Path is the path of the program.
	Path string
	// Env are the variables of the program; nil stands for this process's own.
	Env []string
}

// Name returns "codex".
func (*Codex) Name() string { return "codex" }

// Work does a job. The error is a [*Failure], or the context's own. If there is an outcome beside an
// error, it has the usage.
func (c *Codex) Work(ctx context.Context, j Job) (*Outcome, error) {
	env := engineEnv(c.Env)
	own, err := codexConfig(env)
	if err != nil {
		return nil, newFailure(ctx, c.Name(), err, "")
	}
	args, err := c.commandLine(j, own)
	if err != nil {
		return nil, err
	}
	if j.Writes {
		// Compilers need a folder for temporary files, and some one for their cache. The usual ones
		// belong to everything else on the machine, too.
		folder, err := os.MkdirTemp("", "bmad-engine-")
		if err != nil {
			return nil, newFailure(ctx, c.Name(), err, "")
		}
		defer func() { _ = os.RemoveAll(folder) }()
		env = append(env, "TMPDIR="+folder, "XDG_CACHE_HOME="+folder, "GOCACHE="+filepath.Join(folder, "go-build"))
	}
	r := newCodexReader(j, own)
	because := program{path: c.Path, args: args, env: env, out: r}.run(ctx, j)
	return finish(ctx, c.Name(), r, because)
}

// Recall returns the outcome of a job whose end nobody has seen, from what it had written to Job.Raw.
func (c *Codex) Recall(j Job, raw []byte) (*Outcome, error) {
	own, _ := codexConfig(engineEnv(c.Env)) // only the name of the model is of use
	return recall(c.Name(), newCodexReader(j, own), raw)
}

// codexFeatures are parts of Codex that act outside the sandbox, and the one that waits endlessly for a
// network.
var codexFeatures = []string{"apps", "hooks", "plugins", "browser_use", "computer_use", "unbounded_connection_retries"}

// commandLine returns the arguments for a job.
//
// It leaves out the person's own configuration and the rules of commands: both can allow more than
// this job does, or start servers, ours among them. It uses a profile of permissions instead of a
// sandbox mode, because only a profile can protect folders of the project.
func (c *Codex) commandLine(j Job, own map[string]any) (args []string, err error) {
	args = []string{
		"exec", "--json", "--skip-git-repo-check", "--ignore-user-config", "--ignore-rules", "-C", j.Dir,
		"-c", `approval_policy="never"`, "-c", `web_search="disabled"`,
	}
	for _, feature := range codexFeatures {
		args = append(args, "-c", "features."+feature+"=false")
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		args = append(args, "-c", key+"="+inlineTOML(own[key]))
	}
	if j.Writes {
		permissions, err := codexPermissions(j)
		if err != nil {
			return nil, &Failure{Engine: c.Name(), Why: err.Error()}
		}
		args = append(args, "-c", `default_permissions="bmad"`, "-c", "permissions.bmad="+inlineTOML(permissions))
	} else {
		args = append(args, "-c", `default_permissions=":read-only"`)
	}
	if j.Model != "" {
		args = append(args, "--model="+j.Model)
	}
	if j.Session != "" {
		name, _, _ := strings.Cut(j.Session, "+")
		if name, err = parseConversation(c.Name(), name); err != nil {
			return nil, err
		}
		args = append(args, "resume", name)
	}
	return append(args, "-"), nil
}

// codexMissing are files that no job makes even if they are missing. They are few, because the sandbox shows
// every missing file of a profile as an empty one, which tools would read.
var codexMissing = []string{".bmad-task", ".mcp.json", ".claude", ".codex", ".agents"}

// codexPermissions returns the profile of a job that writes: the project and its own temporary folder, except
// for files forbidden to every engine. A profile has no patterns, and all paths are of the top folder. Codex
// itself protects the repository, if there is one.
func codexPermissions(j Job) (map[string]any, error) {
	folder, err := durable.OpenDir(j.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = folder.Close() }() // nothing was written
	project := map[string]any{".": "write"}
	closed, _ := obeyed.Closed(j.Open...)
	for _, f := range closed {
		if f.Name == ".git" {
			continue
		}
		if slices.Contains(codexMissing, f.Name) {
			project[f.Name] = "read"
		}
		there, err := fs.Glob(folder.Tree(), f.Name)
		if err != nil {
			return nil, err
		}
		for _, name := range there {
			project[name] = "read"
		}
	}
	return map[string]any{
		"extends":    ":workspace",
		"filesystem": map[string]any{":slash_tmp": "read", ":workspace_roots": project},
	}, nil
}

// codexKept are the keys of the person's configuration for the login, the model and its server.
var codexKept = []string{
	"model", "model_provider", "model_reasoning_effort", "model_verbosity", "model_context_window", "service_tier", "oss_provider",
	"openai_base_url", "chatgpt_base_url", "forced_login_method", "forced_chatgpt_workspace_id", "cli_auth_credentials_store",
}

// codexConfig returns the part of the person's configuration for jobs. A failure to read it is an error,
// because work must only go to the server named by the person.
func codexConfig(env []string) (map[string]any, error) {
	folder := configFolder(env, "CODEX_HOME", ".codex")
	if folder == "" {
		return nil, nil
	}
	data, err := durable.ReadPath(filepath.Join(folder, "config.toml"), 1<<20)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	all, own := map[string]any{}, map[string]any{}
	if err = errors.Join(err, toml.Unmarshal(data, &all)); err != nil {
		return nil, fmt.Errorf("its config.toml cannot be read: %w", err)
	}
	for _, key := range codexKept {
		if v, ok := all[key]; ok {
			own[key] = v
		}
	}
	name, _ := own["model_provider"].(string)
	providers, _ := all["model_providers"].(map[string]any)
	p, ok := providers[name].(map[string]any)
	if !ok {
		return own, nil
	}
	for _, key := range []string{"experimental_bearer_token", "http_headers"} { // would show in the arguments of the process
		if _, ok := p[key]; ok {
			return nil, fmt.Errorf("its provider %q has credentials in config.toml (%s), which cannot be passed on; "+
				"name a variable with env_key or env_http_headers instead: authentication is not possible", name, key)
		}
	}
	own["model_providers"] = map[string]any{name: p}
	return own, nil
}

// inlineTOML writes a value, which was read from TOML or could have been, on one line.
func inlineTOML(v any) string {
	var b strings.Builder
	_ = toml.NewEncoder(&b).SetTablesInline(true).Encode(map[string]any{"v": v})
	return strings.TrimPrefix(strings.TrimSpace(b.String()), "v = ")
}

// codexReader reads the lines of codex exec --json.
type codexReader struct {
	job    Job
	model  string
	before codexUsage
	out    Outcome
	// done and failed show the end of the turn; trouble is the latest error.
	done, failed bool
	trouble      string
}

func newCodexReader(j Job, own map[string]any) *codexReader {
	r := &codexReader{job: j, out: Outcome{Session: j.Session}, model: codexModel(j, own)}
	_, used, _ := strings.Cut(j.Session, "+")
	r.before.parse(used)
	return r
}

// codexModel returns the name under which the usage of a job counts.
func codexModel(j Job, own map[string]any) string {
	model, _ := own["model"].(string)
	return cmp.Or(j.Model, model, "codex")
}

// ModelOf returns the model for a job.
func (c *Codex) ModelOf(j Job) string {
	own, _ := codexConfig(engineEnv(c.Env)) // the work reports the problem
	return codexModel(j, own)
}

// codexLine has the important fields of a line. Fields of an unexpected type are left out.
type codexLine struct {
	Type    string
	Thread  string `json:"thread_id"`
	Message string
	Error   struct{ Message string }
	Usage   codexUsage
	Item    struct {
		Type, Text, Command, Status string
		Changes                     []struct{ Path string }
	}
}

// codexUsage counts the tokens of a whole conversation. Input includes the cached ones.
type codexUsage struct {
	Input      int64 `json:"input_tokens"`
	Cached     int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

// String returns the usage in the form behind the name of a conversation, by which the next job tells its own
// usage from the earlier one.
func (u codexUsage) String() string {
	return fmt.Sprintf("%d.%d.%d.%d", u.Input, u.Cached, u.CacheWrite, u.Output)
}

// parse reads the form of String. Anything else counts as no earlier usage, so that a job rather counts too
// much than too little.
func (u *codexUsage) parse(text string) {
	var v codexUsage
	if n, err := fmt.Sscanf(text, "%d.%d.%d.%d", &v.Input, &v.Cached, &v.CacheWrite, &v.Output); err == nil && n == 4 {
		*u = v
	}
}

// minus returns the difference to an earlier count.
func (u codexUsage) minus(v codexUsage) provider.Usage {
	cached, written := max(0, u.Cached-v.Cached), max(0, u.CacheWrite-v.CacheWrite)
	return provider.Usage{Input: max(0, u.Input-v.Input-cached-written), CacheRead: cached, CacheWrite5m: written, Output: max(0, u.Output-v.Output)}
}

// readLine reads one line.
func (r *codexReader) readLine(data []byte) {
	var l codexLine
	if !decode(data, &l) {
		return
	}
	switch l.Type {
	case "thread.started":
		r.out.Session = l.Thread
		if r.before != (codexUsage{}) {
			r.out.Session += "+" + r.before.String()
		}
		r.job.Report(Activity{Kind: Began, Session: l.Thread})
	case "turn.completed":
		r.done = true
		r.out.Usage = map[string]provider.Usage{r.model: l.Usage.minus(r.before)}
		name, _, _ := strings.Cut(r.out.Session, "+")
		r.out.Session = name + "+" + l.Usage.String()
		reportUsage(r.job, r.out.Usage)
	case "turn.failed":
		r.failed, r.trouble = true, cmp.Or(l.Error.Message, r.trouble)
	case "error":
		r.trouble = l.Message
		if strings.HasPrefix(l.Message, "Reconnecting") {
			r.job.Report(Activity{Kind: Retries, Text: maskSecrets(l.Message)})
		}
	case "item.started", "item.completed":
		r.readItem(l)
	}
}

// readItem reads a message or an action of the engine.
func (r *codexReader) readItem(l codexLine) {
	i, begins := l.Item, l.Type == "item.started"
	what := ""
	switch i.Type {
	case "agent_message":
		if !begins && strings.TrimSpace(i.Text) != "" {
			r.out.Text = i.Text
			r.job.Report(Activity{Kind: Says, Text: i.Text})
		}
		return
	case "command_execution":
		what = toolLine("Bash", trimShell(i.Command))
	case "file_change":
		var paths []string
		for _, c := range i.Changes {
			paths = append(paths, relativePath(r.job.Dir, c.Path))
		}
		what = toolLine("Edit", strings.Join(paths, " "))
	default:
		return
	}
	switch {
	case begins:
		r.job.Report(Activity{Kind: UsesTool, Text: what})
	case i.Status == "declined":
		r.out.Denied = append(r.out.Denied, what)
		r.job.Report(Activity{Kind: Denied, Text: what})
	}
}

// trimShell returns a command without the shell around it.
func trimShell(command string) string {
	if _, inner, ok := strings.Cut(command, " -lc "); ok {
		return strings.Trim(inner, `'"`)
	}
	return command
}

func (r *codexReader) complete() bool { return r.done || r.failed }

func (r *codexReader) outcome() *Outcome { return &r.out }

func (r *codexReader) judgeWork() (why string, ok bool) {
	switch {
	case r.failed || !r.done:
		return r.trouble, false
	case strings.TrimSpace(r.out.Text) == "":
		return "its answer is empty", false
	}
	return "", true
}
