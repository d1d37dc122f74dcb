package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/memory"
)

// memoryFlags choose notes, or say what a new one is.
type memoryFlags struct{ kind, agent string }

func (f memoryFlags) filter() memory.Filter {
	return memory.Filter{Type: memory.Type(f.kind), Agent: f.agent}
}

// byTerminal is who a note is from that was written at a terminal.
const byTerminal = "terminal"

// withBook opens the notes of the project.
func withBook(a *app, do func(b *memory.Book) error) error {
	dir, err := a.project()
	if err != nil {
		return err
	}
	p, err := a.engine.Projects().Open(dir)
	if err != nil {
		return err
	}
	defer p.Close()
	return do(a.memory.Of(p))
}

// sayProblems names lines and files that cannot be used.
func sayProblems(a *app, problems []memory.Problem) {
	for _, p := range problems {
		fmt.Fprintln(a.err, a.lang.Say("cannot be used: %s", p.In(a.lang)))
	}
}

// askPerson asks the person at this terminal for a yes. yes answers for a script of theirs; an
// assistant's terminal is refused all the same.
func askPerson(ctx context.Context, a *app, yes bool, question string) (bool, error) {
	if name := assistantHere(); name != "" {
		return false, noPerson(lang.T("this terminal is an assistant's (%s is set)", name))
	}
	if yes {
		return true, nil
	}
	person, err := a.terminal(false, "")
	if err != nil {
		return false, err
	}
	line, err := person.line(ctx, question)
	if err != nil {
		_, err = ended(ctx, err)
		return false, err
	}
	return strings.EqualFold(line, "y") || strings.EqualFold(line, "yes"), nil
}
