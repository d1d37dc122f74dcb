package workflow

import (
	"fmt"
	"strings"
)

// Graph draws the transition table as a mermaid state diagram. A label has the event and, if the
// stage changes, the next one.
func Graph() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	fmt.Fprintf(&b, "    [*] --> %s: %s\n", Generating, EventStarted)
	for _, r := range table {
		label := string(r.event)
		if r.move == next || r.move == back || r.move == jump {
			label += " (" + string(r.move) + ")"
		}
		for _, from := range r.from {
			fmt.Fprintf(&b, "    %s --> %s: %s\n", from, r.to, label)
		}
	}
	for _, s := range States() {
		if !s.Active() {
			fmt.Fprintf(&b, "    %s --> [*]\n", s)
		}
	}
	return b.String()
}

// Graph draws the stages of a definition as a mermaid flowchart: the steps from each to the
// next, and the way back of failed work.
func (d *Definition) Graph() string {
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for _, st := range d.Stages {
		fmt.Fprintf(&b, "    %s[\"%s<br/>%s\"]\n", nodeID(st.ID), escapeLabel(st.Label), escapeLabel(st.DocumentName))
	}
	fmt.Fprintf(&b, "    start([start]) --> %s\n", nodeID(d.First().ID))
	for i, st := range d.Stages {
		if d.StartsByBuilding(st) {
			fmt.Fprintf(&b, "    %s -->|scope approved| %s\n", nodeID(st.ID), nodeID(st.ID))
		}
		to := "done([done])"
		if i+1 < len(d.Stages) {
			to = nodeID(d.Stages[i+1].ID)
		}
		fmt.Fprintf(&b, "    %s -->%s %s\n", nodeID(st.ID), d.arrowLabel(st), to)
		if st.SendsBackTo != "" {
			fmt.Fprintf(&b, "    %s -.->|fail| %s\n", nodeID(st.ID), nodeID(st.SendsBackTo))
		}
	}
	return b.String()
}

func (d *Definition) arrowLabel(st Stage) string {
	switch st.Gate {
	case GateScore:
		return fmt.Sprintf("|score %v, confirmed|", st.GateScore)
	case GateApproval:
		return "|approved|"
	case GateVerdict:
		return "|pass|"
	}
	return ""
}

// Graph draws a run as a mermaid flowchart: the stages with their rounds, the steps between them, and notes.
func (s *Session) Graph(notes ...string) string {
	d := s.Definition()
	var b strings.Builder
	b.WriteString("flowchart LR\n")
	for _, st := range d.Stages {
		fmt.Fprintf(&b, "    %s[\"%s%s<br/>%s\"]\n", nodeID(st.ID), escapeLabel(st.Label), s.progressMark(st.ID), s.describeRounds(st.ID))
	}
	type step struct {
		from, to StageID
		event    Event
	}
	var order []step
	times := map[step]int{}
	for _, t := range s.History {
		k := step{t.FromStage(), t.ToStage(), t.Event}
		if k.from == k.to || k.from == "" {
			continue
		}
		if times[k]++; times[k] == 1 {
			order = append(order, k)
		}
	}
	for _, k := range order {
		arrow := "-->"
		if d.Index(k.to) < d.Index(k.from) {
			arrow = "-.->"
		}
		again := ""
		if n := times[k]; n > 1 {
			again = fmt.Sprintf(" %d×", n)
		}
		fmt.Fprintf(&b, "    %s %s|%s%s| %s\n", nodeID(k.from), arrow, strings.ReplaceAll(string(k.event), "_", " "), again, nodeID(k.to))
	}
	if s.CurrentState == Completed {
		fmt.Fprintf(&b, "    %s --> done([done])\n", nodeID(s.CurrentStage))
	}
	for i, note := range notes {
		fmt.Fprintf(&b, "    note%d>\"%s\"]\n", i+1, escapeLabel(note))
	}
	fmt.Fprintf(&b, "    classDef current stroke-width:3px\n    class %s current\n", nodeID(s.CurrentStage))
	return b.String()
}

// progressMark shows the progress of a run with a stage.
func (s *Session) progressMark(id StageID) string {
	switch r := s.Record(id); {
	case r.Status == Done:
		return " ✓"
	case id == s.CurrentStage && s.CurrentState == Cancelled:
		return " ✗"
	case id == s.CurrentStage:
		return " ●"
	}
	return ""
}

// describeRounds says how often a stage was submitted, and with which result.
func (s *Session) describeRounds(id StageID) string {
	r := s.Record(id)
	if r.Iteration == 0 {
		return strings.ReplaceAll(string(r.Status), "_", " ")
	}
	text := fmt.Sprintf("%d rounds", r.Iteration)
	if r.Iteration == 1 {
		text = "1 round"
	}
	switch {
	case r.Verdict != "":
		text += ", " + strings.ReplaceAll(string(r.Verdict), "_", " ")
	case r.Score != nil:
		text += fmt.Sprintf(", score %v", *r.Score)
	}
	return text
}

// nodeID returns the id of a stage's node: a hyphen would be part of an arrow.
func nodeID(id StageID) string { return "s_" + strings.ReplaceAll(string(id), "-", "_") }

// escapeLabel escapes the characters that would end a label.
func escapeLabel(text string) string {
	return strings.NewReplacer(`"`, "#quot;", "<", "#lt;", ">", "#gt;").Replace(text)
}
