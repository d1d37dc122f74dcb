package headless

import "github.com/bmad-mcp/bmad-mcp/internal/workflow"

// Gates says who decides at the gates of a run.
type Gates string

// The values of Gates.
const (
	// Ask: the person at the terminal.
	Ask Gates = "ask"
	// Stop: a person, later; the run ends at the gate.
	Stop Gates = "stop"
	// Yes: the command line has said yes to gates that open by themselves.
	Yes Gates = "yes"
)

// facts decide about the next step of a run.
type facts struct {
	state workflow.State
	// passed is true for a stage behind the last one of the run.
	passed bool
	// changed is true if the person has to accept the session first.
	changed bool
	// ordinary is true if a yes at the gate only takes the submission: it accepts no risk, and answers
	// nothing.
	ordinary bool
	// edited is true if the draft at the gate has changed since the scoring.
	edited bool
	// below is true if the audit of the document is below the gate's floor.
	below  bool
	strict bool
	// barred is true if the gate wants the yes of other people.
	barred bool
	gates  Gates
	// person is true if someone can be asked, answers if all open questions are answered in a file.
	person, answers bool
	// pauses is true if each round waits for the person's word; worked counts the rounds of this
	// invocation, which is such a word.
	pauses bool
	worked int
	// kept is true if an engine's answer for exactly this point waits to be submitted.
	kept bool
	// given is true for a stage before the first one of the run, for which the person has named a document;
	// spent is true once it was submitted.
	given, spent bool
}

// step is the next act of a run.
type step string

// The steps. The first ones end the run.
const (
	finish        step = "finish"
	stopCancelled step = "stop: cancelled"
	stopStages    step = "stop: the stages are done"
	stopChanged   step = "stop: changed by other hands"
	stopGate      step = "stop: a gate"
	stopFloor     step = "stop: an audit below the floor"
	stopRisk      step = "stop: failed work"
	stopEdited    step = "stop: an edited draft"
	stopQuestions step = "stop: questions"
	stopPause     step = "stop: a pause"
	stopGiven     step = "stop: a given document"
	decide        step = "decide"
	sayYes        step = "say yes"
	askQuestions  step = "ask the questions"
	fileAnswers   step = "answer from the file"
	submitKept    step = "submit the kept answer"
	submitGiven   step = "submit the given document"
	work          step = "work"
)

// nextStep decides about the next step.
func nextStep(f facts) step {
	switch {
	case f.state == workflow.Completed:
		return finish
	case f.state == workflow.Cancelled:
		return stopCancelled
	case f.changed:
		return stopChanged
	case f.passed:
		return stopStages
	case f.state == workflow.Clarifying:
		return nextAtQuestions(f)
	case f.state.Gated():
		return nextAtGate(f)
	case f.kept:
		return submitKept
	case f.given && !f.spent:
		return submitGiven
	case f.given:
		return stopGiven
	case f.pauses && f.worked > 0:
		return stopPause
	}
	return work
}

func nextAtQuestions(f facts) step {
	switch {
	case f.answers && !f.strict:
		return fileAnswers
	case f.person && f.gates == Ask:
		return askQuestions
	}
	return stopQuestions
}

func nextAtGate(f facts) step {
	switch {
	case f.barred:
		return stopGate
	case f.gates == Ask && f.person:
		return decide
	case f.edited:
		return stopEdited
	case !f.ordinary:
		return stopRisk
	case f.gates == Yes && !f.strict && f.below:
		return stopFloor
	case f.gates == Yes && !f.strict:
		return sayYes
	}
	return stopGate
}
