package sdk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/sdk/price"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
)

// stateVersion is the version of the saved form.
const stateVersion = 1

// The kinds of sessions.
const (
	kindSession      = "session"
	kindConversation = "conversation"
)

// Status is the state of a session.
type Status string

// The statuses. A session that is paused, or whose process died at work, goes on from there.
const (
	Idle       Status = "idle"
	Processing Status = "processing"
	Waiting    Status = "waiting"
	Paused     Status = "paused"
	Ended      Status = "ended"
	Failed     Status = "failed"
)

// Question is an agent's question to the person.
type Question struct {
	ID       string   `json:"id"`
	Question string   `json:"question"`
	Context  string   `json:"context,omitempty"`
	Options  []string `json:"options,omitempty"`
	// Source is "tool" if the work waits for the answer, "text" if the agent's text ends with
	// a question, which any message answers, "rounds" if the limit of a turn is reached, and "review" if the
	// person is to accept the answer to a [Step].
	Source string `json:"source"`
}

// The sources of questions.
const (
	fromTool   = "tool"
	fromText   = "text"
	fromRounds = "rounds"
	fromReview = "review"
)

// ToolCall is the use of a tool.
type ToolCall struct {
	Name   string `json:"name"`
	Input  string `json:"input"`
	Result string `json:"result,omitempty"`
	Failed bool   `json:"failed,omitempty"`
}

// Turn is a message of the person with all work of the agent on it.
type Turn struct {
	ID       string         `json:"id"`
	User     string         `json:"user_message"`
	Response string         `json:"agent_response"`
	Tools    []ToolCall     `json:"tool_calls,omitempty"`
	Usage    provider.Usage `json:"usage"`
	// Spent is in nano-dollars, without the calls of models of unknown price.
	Spent   price.Money   `json:"spent_nano_usd"`
	At      time.Time     `json:"at"`
	Took    time.Duration `json:"took_ns"`
	Problem string        `json:"problem,omitempty"`
	// Output is the answer as JSON of the type in the options.
	Output json.RawMessage `json:"output,omitempty"`
	// Step is the name of the [Step] if a program's work is under way. Unfit is true if the model has answered
	// it, but has refused, was cut, or has kept to no type.
	Step  string `json:"step,omitempty"`
	Unfit bool   `json:"unfit,omitempty"`
	// err is why it ended early, in this process.
	err error
}

// state is the saved part of a session.
type state struct {
	Version  int           `json:"version"`
	ID       string        `json:"id"`
	Kind     string        `json:"kind"`
	Revision int           `json:"revision"`
	Agent    agentState    `json:"agent"`
	Provider provider.Info `json:"provider"`
	Status   Status        `json:"status"`
	Title    string        `json:"title,omitempty"`
	Created  time.Time     `json:"created_at"`
	Updated  time.Time     `json:"updated_at"`
	Options  optionState   `json:"options"`
	Seq      int64         `json:"last_event"`
	// Tools are the names of the caller's own.
	Tools []string `json:"tools,omitempty"`
	// RightsSeq is the number of the record of Rights: Options and Models are here for information.
	RightsSeq int `json:"rights_seq,omitempty"`

	System   string             `json:"system"`
	Messages []provider.Message `json:"messages"`
	// Results answer the tool uses of the last message, as far as they are done.
	Results map[string]provider.Block `json:"results,omitempty"`
	// Begun are the uses of the last message that may have done their work, and must not be repeated.
	Begun     []string   `json:"begun,omitempty"`
	Questions []Question `json:"questions,omitempty"`
	Turns     []Turn     `json:"turns,omitempty"`
	// Turn is the one under way.
	Turn *Turn `json:"turn,omitempty"`
	// Schema is the form of the answer to the turn; empty for text. Repairs counts the unfit answers.
	Schema  json.RawMessage `json:"schema,omitempty"`
	Repairs int             `json:"repairs,omitempty"`
	// Review is the question about the answer to a step.
	Review *Question `json:"review,omitempty"`
	// Job is the caller's.
	Job json.RawMessage `json:"job,omitempty"`
	// Model is the chosen model if there was a choice, and Use the work that it was chosen for.
	Model provider.Info `json:"model,omitzero"`
	Use   *Use          `json:"use,omitempty"`
	// Stop is the reason why the last answer ended; empty if the model has to answer.
	Stop provider.Stop `json:"stop,omitempty"`
	// Rounds counts the calls since the person's message, Pauses the calls in a row on the server's wish. Cut
	// is true after a cut answer.
	Rounds int  `json:"rounds,omitempty"`
	Pauses int  `json:"pauses,omitempty"`
	Cut    bool `json:"cut,omitempty"`

	// Written are the files written by tools.
	Written []string `json:"written,omitempty"`

	Models []price.Line    `json:"costs,omitempty"`
	Files  json.RawMessage `json:"files,omitempty"`
	// FilesOf names the place of the files if they are not in Files.
	FilesOf string `json:"files_of,omitempty"`

	// extra are the keys of a later version of this program.
	extra map[string]json.RawMessage
}

// agentState is the agent of a session; the hash is of the system prompt.
type agentState struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	Hash string `json:"sha256"`
}

// optionState has the lasting options.
type optionState struct {
	CostLimit     price.Money   `json:"cost_limit_nano_usd,omitempty"`
	PauseTimeout  time.Duration `json:"pause_timeout_ns"`
	MaxTokens     int           `json:"max_tokens"`
	Rounds        int           `json:"rounds"`
	Commands      []string      `json:"commands,omitempty"`
	SaveTurnsOnly bool          `json:"save_turns_only,omitempty"`
	PlainText     bool          `json:"plain_text,omitempty"`
	NoQuestions   bool          `json:"no_questions,omitempty"`
	ReadOnly      bool          `json:"read_only,omitempty"`
	// Output is the schema of the answers; empty for text.
	Output json.RawMessage `json:"output,omitempty"`
}

// plain is a state without its methods.
type plain state

// MarshalJSON keeps the keys of later versions.
func (s *state) MarshalJSON() ([]byte, error) {
	data, err := json.Marshal((*plain)(s))
	if err != nil || len(s.extra) == 0 {
		return data, err
	}
	all := maps.Clone(s.extra)
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	return json.Marshal(all)
}

// parseState reads a saved session.
func parseState(id string, data []byte) (*state, error) {
	var head struct {
		Version int    `json:"version"`
		ID      string `json:"id"`
	}
	unreadable := func(err error) error {
		return &StateError{id, fmt.Sprintf("its file cannot be read: %s", addLine(data, err))}
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, unreadable(err)
	}
	switch {
	case head.Version > stateVersion:
		return nil, &StateError{id, fmt.Sprintf("it was saved by a later version of this program (version %d, this one reads %d)", head.Version, stateVersion)}
	case head.Version < 1 || head.ID != id:
		return nil, &StateError{id, "its file is not a session of this id"}
	}
	s := &state{}
	if err := json.Unmarshal(data, (*plain)(s)); err != nil {
		return nil, unreadable(err)
	}
	_ = json.Unmarshal(data, &s.extra) // an object, as it was read above
	for _, field := range reflect.VisibleFields(reflect.TypeFor[plain]()) {
		key, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		delete(s.extra, key)
	}
	return s, s.check()
}

// addLine adds the line to an error of JSON.
func addLine(data []byte, err error) string {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	at := int64(0)
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
	default:
		return err.Error()
	}
	return fmt.Sprintf("line %d: %v", 1+bytes.Count(data[:at], []byte("\n")), err)
}

// check refuses a file that no session of ours would have left.
func (s *state) check() error {
	bad := func(format string, args ...any) error {
		return &StateError{s.ID, "its file was changed: " + fmt.Sprintf(format, args...)}
	}
	for n, m := range s.Messages {
		want := provider.User
		if n%2 == 1 {
			want = provider.Assistant
		}
		if m.Role != want {
			return bad("message %d is not the %s's", n+1, want)
		}
	}
	switch s.Status {
	case Idle, Processing, Waiting, Paused, Ended, Failed:
	default:
		return bad("the status %q does not exist", s.Status)
	}
	if s.Kind != kindSession && s.Kind != kindConversation {
		return bad("the kind %q does not exist", s.Kind)
	}
	if s.Options.MaxTokens < 1 || s.Options.Rounds < 1 {
		return bad("an option is missing")
	}
	return nil
}

// toolUses returns the tool uses of the last message, if it is the model's.
func (s *state) toolUses() []provider.Block {
	n := len(s.Messages)
	if n == 0 || s.Messages[n-1].Role != provider.Assistant {
		return nil
	}
	return s.Messages[n-1].Uses()
}

// addUserMessage adds a message of the user. Tool uses without a result get one with the reason why.
func (s *state) addUserMessage(why string, blocks ...provider.Block) {
	var results []provider.Block
	for _, use := range s.toolUses() {
		result, done := s.Results[use.ID]
		switch {
		case done:
		case slices.Contains(s.Begun, use.ID):
			result = provider.Result(use.ID, why+". "+interruptedText, true)
		default:
			result = provider.Result(use.ID, why, true)
		}
		results = append(results, result)
	}
	s.Results, s.Begun, s.Stop = nil, nil, ""
	s.addBlocks(provider.User, append(results, blocks...))
}

// keepResult keeps the result of a tool's use, or the answer to a question of the loop.
func (s *state) keepResult(id string, result provider.Block) {
	if s.Results == nil {
		s.Results = map[string]provider.Block{}
	}
	s.Results[id] = result
}

// addAnswer adds an answer of the model.
func (s *state) addAnswer(r *provider.Response) {
	s.Stop = cmp.Or(r.Stop, provider.EndTurn)
	if len(r.Message.Blocks) > 0 {
		s.addBlocks(provider.Assistant, r.Message.Blocks)
	}
}

// addBlocks adds blocks to the last message if it is of the role, for example after a pause, else a message.
func (s *state) addBlocks(role provider.Role, blocks []provider.Block) {
	if n := len(s.Messages); n > 0 && s.Messages[n-1].Role == role {
		s.Messages[n-1].Blocks = append(s.Messages[n-1].Blocks, blocks...)
		return
	}
	s.Messages = append(s.Messages, provider.Message{Role: role, Blocks: blocks})
}

// responseText returns the text of the agent since the person, or a tool, was heard.
func (s *state) responseText() string { return s.answerBlocks().Text() }

// answerBlocks returns the blocks of the agent since the person, or a tool, was heard.
func (s *state) answerBlocks() (texts provider.Message) {
	for n := len(s.Messages) - 1; n >= 0; n-- {
		m := s.Messages[n]
		if m.Role == provider.User {
			if len(m.Blocks) == 1 && m.Blocks[0].Text == continueText {
				continue
			}
			break
		}
		texts.Blocks = append(append([]provider.Block(nil), m.Blocks...), texts.Blocks...)
	}
	return texts
}

// lastTurn returns the turn under way, else the latest finished one; nil if there was none.
func (s *state) lastTurn() *Turn {
	var turn Turn
	switch n := len(s.Turns); {
	case s.Turn != nil:
		turn = *s.Turn
		turn.Response = s.responseText()
	case n > 0:
		turn = s.Turns[n-1]
	default:
		return nil
	}
	return &turn
}

// restoreFiles reads the saved files into a file system in memory.
func (s *state) restoreFiles(into vfs.FS) error {
	keeper, ok := into.(snapshotter)
	if !ok || len(s.Files) == 0 {
		return nil
	}
	var snapshot vfs.Snapshot
	err := json.Unmarshal(s.Files, &snapshot)
	if err == nil {
		err = keeper.Restore(snapshot)
	}
	if err != nil {
		return &StateError{s.ID, fmt.Sprintf("its files cannot be read: %v", err)}
	}
	return nil
}

// snapshotter is a file system saved with the session.
type snapshotter interface {
	Snapshot() vfs.Snapshot
	Restore(vfs.Snapshot) error
}

// interruptedText is the result of a use that may have done its work.
const interruptedText = "This tool was interrupted, and was not used again: whether it has done its work is not known. Find out before you use it once more."

// continueText asks the model for the rest of a cut answer.
const continueText = "Your answer was cut at its limit. Continue exactly where it stopped."
