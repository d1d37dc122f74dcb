package sdktest

import (
	"maps"

	"github.com/bmad-mcp/bmad-mcp/sdk/provider"
	"github.com/bmad-mcp/bmad-mcp/sdk/provider/fake"
)

// Step is the server's reply to one request.
type Step struct {
	// Blocks are the answer. One with Raw is sent as Raw; a use of a tool without an ID gets one.
	Blocks []provider.Block
	Stop   provider.Stop
	// Usage is the server's count; 100 tokens in and 10 out if it is zero.
	Usage provider.Usage
	// Status, if set, is the status of an error; Type and Message explain it. With a Type alone, the answer
	// begins as planned and breaks off in the middle with an error.
	Status        int
	Type, Message string
	// Header is added to the answer's.
	Header map[string]string
	// Quirks are done besides, in a streamed answer.
	Quirks Quirk
}

// Quirk is a behavior of odd streams.
type Quirk int

// The quirks of streams.
const (
	// Split writes a few bytes at a time, so that events arrive in pieces.
	Split Quirk = 1 << iota
	// Ping sends keep-alive events.
	Ping
	// Unknown sends an event of an unknown kind.
	Unknown
	// Cut ends the answer early, as if it were complete.
	Cut
	// Drop breaks the connection in the middle.
	Drop
	// Silent sends nothing more from the middle on, until the client goes away.
	Silent
)

// Text returns an answer in words.
func Text(text string) Step { return Stop(provider.EndTurn, text) }

// Stop returns an answer in words, which ends for a reason. Without a text it has no blocks.
func Stop(stop provider.Stop, text string) Step {
	return Step{Blocks: fake.Stop(stop, text).Blocks, Stop: stop}
}

// Call returns the use of a tool. input is a string, taken as it is, or a value to be written as JSON.
func Call(name string, input any) Step {
	return Step{Blocks: fake.Call(name, input).Blocks, Stop: provider.UsesTools}
}

// Calls returns several steps in one message: texts and uses of tools, in their order.
func Calls(steps ...Step) Step {
	all := Step{Stop: provider.UsesTools}
	for _, s := range steps {
		all.Blocks = append(all.Blocks, s.Blocks...)
	}
	return all
}

// Fail returns an error instead of an answer, for example 529 and overloaded_error.
func Fail(status int, kind, message string) Step {
	return Step{Status: status, Type: kind, Message: message}
}

// Break returns an answer with an error in the middle.
func Break(kind, message string) Step {
	s := Text("This answer breaks off in the middle.")
	s.Type, s.Message = kind, message
	return s
}

// With adds quirks to a step.
func (s Step) With(q Quirk) Step {
	s.Quirks |= q
	return s
}

// Headed adds a header to a step, for example Retry-After.
func (s Step) Headed(name, value string) Step {
	s.Header = maps.Clone(s.Header)
	if s.Header == nil {
		s.Header = map[string]string{}
	}
	s.Header[name] = value
	return s
}
