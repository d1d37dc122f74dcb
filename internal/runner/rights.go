package runner

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// rights are the part of a run's state that its limits rest on. run.json has them for people to read;
// the record outside of the project counts, since engines, and the author of the project, can write
// run.json.
type rights struct {
	// Seq counts the changes. The record has the same, so that an older one shows.
	Seq   int   `json:"rights_seq,omitempty"`
	Flags Flags `json:"flags"`
	// Conversations are the engines' own, by stage.
	Conversations map[workflow.StageID]conversation `json:"engine_sessions,omitempty"`
	Spent         []price.Line                      `json:"spent,omitempty"`
	// Admitted is true once the project was found fit to be changed: see admitTree.
	Admitted bool `json:"admitted,omitempty"`
}

type conversation struct {
	Engine  string `json:"engine"`
	Session string `json:"session,omitempty"`
}

// combine returns the rights that a run has: the flags of the invocation over those of the record,
// and never those of the file, run.json, unless they are lower. Both are nil if there is none. proven
// is false if only the file names a limit of the costs; notice describes how the file differs.
func combine(invocation Flags, file, record *rights) (now rights, proven bool, notice lang.Text) {
	said, kept := *cmp.Or(file, &rights{}), *cmp.Or(record, &rights{})
	newest := record != nil && kept.Seq >= said.Seq
	now = rights{Seq: max(kept.Seq, said.Seq), Spent: price.Most(kept.Spent, said.Spent)}
	if newest {
		now.Flags, now.Conversations, now.Admitted = kept.Flags, kept.Conversations, kept.Admitted
	} else {
		now.Flags = Flags{Stages: said.Flags.Stages, Minutes: said.Flags.Minutes}
	}
	if file != nil {
		notice = difference(said, now, newest)
	}
	now.Flags = invocation.over(now.Flags)
	return now, file == nil || newest || now.Flags.Budget != 0 || now.Flags.NoBudget, notice
}

// difference describes how a file differs from the rights that count.
func difference(said, now rights, newest bool) lang.Text {
	says, has := strings.Join(said.Flags.words(), " "), strings.Join(now.Flags.words(), " ")
	switch {
	case !newest && says == "":
		return lang.T("this machine has no record of what you allow this run; flags of --resume say it")
	case !newest:
		return lang.T("this machine has no record of what you allow this run, and its file does not count: it says %s. Flags of --resume allow it", clip(says, 400))
	case says != has:
		return lang.T("run.json was changed and does not count: it says %s, and you have allowed %s. Flags of --resume allow more", orNone(says), orNone(has))
	case !slices.EqualFunc(price.Most(said.Spent, nil), now.Spent, price.Line.Same), !maps.Equal(said.Conversations, now.Conversations), said.Admitted != now.Admitted:
		return lang.T("run.json was changed, or is an older one: the costs and conversations that this machine has recorded count")
	}
	return lang.Text{}
}

func orNone(words string) lang.Text {
	if words == "" {
		return lang.T("nothing")
	}
	return lang.T("%s", clip(words, 400))
}

// words returns the flags as people type them.
func (f Flags) words() (out []string) {
	add := func(flag, value string) {
		if value != "" {
			out = append(out, flag+" "+strconv.Quote(value))
		}
	}
	each := func(flag string, values map[workflow.StageID]string) {
		for _, id := range slices.Sorted(maps.Keys(values)) {
			add(flag, string(id)+"="+values[id])
		}
	}
	if f.Budget != 0 {
		out = append(out, "--budget "+strings.Replace(f.Budget.String(), "$", "", 1))
	}
	if f.NoBudget {
		out = append(out, "--budget none")
	}
	if f.Minutes != 0 {
		out = append(out, "--max-minutes "+strconv.Itoa(f.Minutes))
	}
	for _, command := range f.Commands {
		add("--allow-command", command)
	}
	if f.Dirty {
		out = append(out, "--allow-dirty")
	}
	add("--stages", f.Stages)
	add("--engine", f.Engine)
	each("--engine-for", f.EngineFor)
	add("--model", f.Model)
	each("--model-for", f.ModelFor)
	each("--doc", f.Docs)
	add("--from", f.From)
	return out
}
