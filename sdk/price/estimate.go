package price

import "github.com/bmad-mcp/bmad-mcp/sdk/provider"

// Estimate describes a call before it is made, in tokens. The count of a server, or of a program,
// is taken only as far as it can be right: a negative or impossible number would otherwise give a
// budget back, or overflow it.
type Estimate struct {
	// Prompt is the length of the prompt. Output is the longest answer allowed, 0 for an empty one.
	Prompt, Output int64
	// Answer is the length of the answer, if it is known, for a server that counts nothing at all.
	Answer int64
	// Many is true for work of any number of calls, of which these are the least.
	Many bool
}

const (
	// slack is how often an estimate may be exceeded: a prompt has at most a token for each byte, but callers
	// count three bytes or two as a token; and some servers bound an answer without its thoughts.
	slack = 4
	// overhead are the tokens of a server's own instructions in a prompt.
	overhead = 10_000
	// mostTokens bounds the work of many calls. A model that answers 1,000 tokens a second takes
	// eleven days for as many.
	mostTokens = 1_000_000_000
)

// countTokens returns the tokens of a call: u, with the estimate in place of a missing or impossible half, the
// prompt or the answer.
func (e Estimate) countTokens(u provider.Usage) provider.Usage {
	e.Prompt, e.Output = min(e.Prompt, mostTokens), min(e.Output, mostTokens)
	mostPrompt, mostOutput := slack*e.Prompt+overhead, slack*e.Output
	if e.Many {
		mostPrompt, mostOutput = mostTokens, mostTokens
	}
	wrong := false
	for _, n := range []*int64{&u.Input, &u.CacheWrite5m, &u.CacheWrite1h, &u.CacheRead} {
		if *n < 0 || *n > mostPrompt {
			*n, wrong = 0, true
		}
	}
	said := u.Prompt()
	if said == 0 && !wrong && u.Output == 0 && e.Answer > 0 {
		return provider.Usage{Input: e.Prompt, Output: min(e.Answer, e.Output), Estimated: true}
	}
	tooMuch := said > mostPrompt
	wrong = wrong || said == 0 || tooMuch
	outOfRange := said < e.Prompt || tooMuch
	if wrong && outOfRange {
		// As in Room: whether it came from the cache is not known.
		u.Input, u.CacheWrite5m, u.CacheWrite1h, u.CacheRead = 0, e.Prompt, 0, 0
		u.Estimated = true
	}
	untold := u.Output <= 0 && e.Output > 0
	if untold || u.Output < 0 || u.Output > mostOutput {
		u.Output, u.Estimated = e.Output, true
	}
	return u
}
