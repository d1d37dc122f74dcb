package workflow

import (
	"fmt"
	"strings"
)

// Graph draws the transition table as a mermaid state diagram. A label has the event and, if
// the stage changes, the next one.
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
