package hostcli

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/visible"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
)

// claudeReader reads the lines of stream-json.
type claudeReader struct {
	job    Job
	out    Outcome
	result *claudeLine
	// said has the messages with their usage so far, uses the calls of tools that were not refused.
	said map[string]claudeMessage
	uses map[string]string
}

func newClaudeReader(j Job, session string) *claudeReader {
	return &claudeReader{job: j, out: Outcome{Session: session}, said: map[string]claudeMessage{}, uses: map[string]string{}}
}

// claudeLine has the fields of a line that matter. Those of an unexpected type are left out.
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
	// Models counts a conversation from its beginning, Since only from the previous result.
	Models map[string]claudeModel `json:"modelUsage"`
	Since  map[string]claudeModel `json:"model_usage_since_last_result"`
}

type claudeMessage struct {
	ID, Model string
	Usage     claudeUsage
	Content   []struct {
		Type, Text, ID, Name string
		Input                claudeTool
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

// claudeTool has the arguments of a tool that show its purpose in one line.
type claudeTool struct {
	File    string `json:"file_path"`
	Command string
	Pattern string
}

// synthetic is the model of messages that Claude Code writes itself, for example errors.
const synthetic = "<synthetic>"

// decode reads a line as far as it can. A field of an unexpected type does not hide the rest.
func decode(line []byte, into any) bool {
	err := json.Unmarshal(line, into)
	var other *json.UnmarshalTypeError
	return err == nil || errors.As(err, &other)
}

// line reads one line.
func (r *claudeReader) line(data []byte) {
	var l claudeLine
	if !decode(data, &l) {
		return
	}
	if l.Type == "result" {
		r.result = &l
		return
	}
	switch l.Type + "/" + l.Subtype {
	case "system/init":
		if l.Session != "" {
			r.out.Session = l.Session
		}
		tell(r.job, Activity{Kind: Began, Session: r.out.Session})
	case "system/permission_denied":
		r.refuse(l.ToolUseID)
	case "system/api_retry":
		tell(r.job, Activity{Kind: Retries, Text: mask(l.Error)})
	case "assistant/":
		r.assistant(l)
	case "user/":
		for _, m := range l.ToolMeta {
			if m.Decision.Decision == "reject" {
				r.refuse(m.ID)
			}
		}
	}
}

// assistant reads a message, or a part of one, of the model.
func (r *claudeReader) assistant(l claudeLine) {
	var m claudeMessage
	if !decode(l.Message, &m) {
		return
	}
	for _, b := range m.Content {
		switch {
		case b.Type == "text" && l.Parent == nil && m.Model != synthetic && strings.TrimSpace(b.Text) != "":
			tell(r.job, Activity{Kind: Says, Text: b.Text})
		case b.Type == "tool_use":
			r.uses[b.ID] = r.describe(b.Name, b.Input)
			tell(r.job, Activity{Kind: UsesTool, Text: r.uses[b.ID]})
		}
	}
	if _, known := r.said[m.ID]; m.ID == "" || known || m.Usage == (claudeUsage{}) {
		return
	}
	r.said[m.ID] = m
	count(r.job, r.usage())
}

// refuse reports a tool that was not allowed, once.
func (r *claudeReader) refuse(id string) {
	if what, ok := r.uses[id]; ok {
		delete(r.uses, id)
		r.out.Denied = append(r.out.Denied, what)
		tell(r.job, Activity{Kind: Denied, Text: what})
	}
}

// describe returns a tool with its object.
func (r *claudeReader) describe(name string, t claudeTool) string {
	switch {
	case t.Command != "":
		return brief(name, t.Command)
	case t.File != "":
		return brief(name, within(r.job.Dir, t.File))
	}
	return brief(name, t.Pattern)
}

// usage adds up the messages so far, by model. It is less than the result will say, because a message
// reports its output when it begins.
func (r *claudeReader) usage() map[string]provider.Usage {
	sum := map[string]provider.Usage{}
	for _, m := range r.said {
		u, hour := m.Usage, m.Usage.ByTime.Hour
		sum[m.Model] = sum[m.Model].Plus(provider.Usage{
			Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite1h: hour, CacheWrite5m: u.CacheWrite - hour, Estimated: true,
		})
	}
	return sum
}

// outcome returns the result, after the last line.
func (r *claudeReader) outcome() *Outcome {
	r.out.Usage = r.usage()
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
			name, _, _ = strings.Cut(name, "[") // a variant, for example that of a long context
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
	count(r.job, r.out.Usage)
	return &r.out
}

// verdict reports whether the work was done, and the reason if it was not, because a program may end
// well without. It is called after outcome.
func (r *claudeReader) verdict() (why string, ok bool) {
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
	case len(r.out.Usage) == 0: // no model has answered, for example if it took the prompt for its own command
		return "no model was asked: " + l.Result, false
	}
	return "", true
}

// count reports the usage of all models together.
func count(j Job, by map[string]provider.Usage) {
	var sum provider.Usage
	for _, u := range by {
		sum = sum.Plus(u)
	}
	if sum.Prompt()+sum.Output > 0 {
		tell(j, Activity{Kind: Counted, Usage: &sum})
	}
}

// brief returns a tool and its object in one line.
func brief(name, object string) string {
	return visible.Line(visible.Clipped(strings.TrimSpace(name+" "+strings.Join(strings.Fields(object), " ")), 200))
}

// within returns a path relative to the project if it lies there.
func within(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// tell passes on an activity.
func tell(j Job, a Activity) {
	if j.Tell != nil {
		j.Tell(a)
	}
}
