package hostcli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

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

// codexLine has the fields of a line that matter. Those of an unexpected type are left out.
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

// String returns the form that follows the name of a conversation, so that the next job can tell its
// own usage from the earlier one.
func (u codexUsage) String() string {
	return fmt.Sprintf("%d.%d.%d.%d", u.Input, u.Cached, u.CacheWrite, u.Output)
}

// parse reads that form. Anything else counts as no earlier usage, so that a job rather counts too
// much than too little.
func (u *codexUsage) parse(text string) {
	var v codexUsage
	if n, err := fmt.Sscanf(text, "%d.%d.%d.%d", &v.Input, &v.Cached, &v.CacheWrite, &v.Output); err == nil && n == 4 {
		*u = v
	}
}

// since returns the difference to an earlier count.
func (u codexUsage) since(v codexUsage) provider.Usage {
	cached, written := max(0, u.Cached-v.Cached), max(0, u.CacheWrite-v.CacheWrite)
	return provider.Usage{Input: max(0, u.Input-v.Input-cached-written), CacheRead: cached, CacheWrite5m: written, Output: max(0, u.Output-v.Output)}
}

// line reads one line.
func (r *codexReader) line(data []byte) {
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
		tell(r.job, Activity{Kind: Began, Session: l.Thread})
	case "turn.completed":
		r.done = true
		r.out.Usage = map[string]provider.Usage{r.model: l.Usage.since(r.before)}
		name, _, _ := strings.Cut(r.out.Session, "+")
		r.out.Session = name + "+" + l.Usage.String()
		count(r.job, r.out.Usage)
	case "turn.failed":
		r.failed, r.trouble = true, cmp.Or(l.Error.Message, r.trouble)
	case "error":
		r.trouble = l.Message
		if strings.HasPrefix(l.Message, "Reconnecting") {
			tell(r.job, Activity{Kind: Retries, Text: mask(l.Message)})
		}
	case "item.started", "item.completed":
		r.item(l)
	}
}

// item reads a message or an action of the engine.
func (r *codexReader) item(l codexLine) {
	i, begins := l.Item, l.Type == "item.started"
	what := ""
	switch i.Type {
	case "agent_message":
		if !begins && strings.TrimSpace(i.Text) != "" {
			r.out.Text = i.Text
			tell(r.job, Activity{Kind: Says, Text: i.Text})
		}
		return
	case "command_execution":
		what = brief("Bash", trimShell(i.Command))
	case "file_change":
		var paths []string
		for _, c := range i.Changes {
			paths = append(paths, within(r.job.Dir, c.Path))
		}
		what = brief("Edit", strings.Join(paths, " "))
	default:
		return
	}
	switch {
	case begins:
		tell(r.job, Activity{Kind: UsesTool, Text: what})
	case i.Status == "declined":
		r.out.Denied = append(r.out.Denied, what)
		tell(r.job, Activity{Kind: Denied, Text: what})
	}
}

// trimShell returns a command without the shell that runs it.
func trimShell(command string) string {
	if _, inner, ok := strings.Cut(command, " -lc "); ok {
		return strings.Trim(inner, `'"`)
	}
	return command
}

// verdict reports whether the work was done, and the reason if it was not.
func (r *codexReader) verdict() (why string, ok bool) {
	switch {
	case r.failed || !r.done:
		return r.trouble, false
	case strings.TrimSpace(r.out.Text) == "":
		return "its answer is empty", false
	}
	return "", true
}
