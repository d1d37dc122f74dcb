package sdk

import "github.com/bmad-mcp/bmad-mcp/sdk/provider"

// move is the next step of a turn.
type move int

// The moves.
const (
	moveCall     move = iota // the model answers
	moveTools                // tools are used, and questions put
	moveCutTools             // tool uses of a cut answer are refused
	moveContinue             // the model continues a cut answer
	moveAskMore              // the person is asked whether the turn goes on
	moveDone
	moveRefused
	moveTruncated
	moveFull
)

// maxPauses is how often in a row a server may ask to be called again.
const maxPauses = 5

// next decides the next step by the state alone, so that a turn goes on after anything.
func (s *state) next() move {
	switch s.Stop {
	case "":
		if s.Rounds >= s.Options.Rounds {
			return moveAskMore
		}
		return moveCall
	case provider.Refusal:
		return moveRefused
	case provider.ContextWindow:
		return moveFull
	case provider.MaxTokens:
		switch {
		case s.Cut:
			return moveTruncated
		case s.usesTools():
			return moveCutTools
		}
		return moveContinue
	case provider.PauseTurn:
		if s.Pauses > maxPauses {
			return moveTruncated
		}
		return moveCall
	}
	if s.usesTools() {
		return moveTools
	}
	return moveDone
}

// usesTools reports whether the last message uses tools.
func (s *state) usesTools() bool {
	n := len(s.Messages)
	return n > 0 && s.Messages[n-1].Role == provider.Assistant && len(s.Messages[n-1].Uses()) > 0
}

// The texts that the loop itself says to the model.
const (
	cutToolText   = "Your answer was cut at its limit, so that this tool was not used. Use it again with less at once, such as a file in several pieces."
	cancelledText = "cancelled by the user"
	newWordsText  = "the user said something else instead"
)
