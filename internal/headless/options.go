package headless

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/engine"
	"github.com/bmad-mcp/bmad-mcp/internal/engine/request"
	"github.com/bmad-mcp/bmad-mcp/internal/headless/hostcli"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// Worker writes the documents and does the work of stages: an installed program, or a model behind an API.
type Worker interface {
	// Name returns the name of the engine, for example "claude".
	Name() string
	// Work does one piece of work. The outcome may be set beside an error: failed work costs too.
	Work(ctx context.Context, job hostcli.Job) (*hostcli.Outcome, error)
}

// recaller is a worker that can read the outcome of a job whose end nobody has seen in what it had written to
// [hostcli.Job.Raw].
type recaller interface {
	Recall(job hostcli.Job, raw []byte) (*hostcli.Outcome, error)
}

// Tree is the repository of a project at one moment.
type Tree struct {
	// Head is the commit that is checked out, "" before the first.
	Head string `json:"head,omitempty"`
	// Branch is the checked-out branch, Refs a hash of the other branches, the tags and the stash, Tags one of the tags and the
	// stash alone.
	Branch string `json:"branch,omitempty"`
	Refs   string `json:"refs,omitempty"`
	Tags   string `json:"tags,omitempty"`
	// Changed lists the files that differ from Head or are new, with git's letters.
	Changed []string `json:"changed,omitempty"`
	// Ignored lists the files that git ignores; a folder that it ignores as a whole is one path, with a slash at its end.
	Ignored []string `json:"-"`
}

// Files names the changed files, without git's letters.
func (t *Tree) Files() (names []string) {
	for _, line := range t.Changed {
		names = append(names, fileOf(line))
	}
	return names
}

// describeMove says how a repository differs from an earlier look besides in the files, empty if it does not. isBeside is true
// for a run with a branch of its own: the other branches are for the work of others then.
func (t *Tree) describeMove(before *Tree, isBeside bool) lang.Text {
	switch {
	case t == nil || before == nil || before.Refs == "": // or of an older program
	case t.Head != before.Head, t.Branch != before.Branch:
		return lang.T("git was on %s at commit %s, and is on %s at commit %s", before.branchName(), before.commitName(), t.branchName(), t.commitName())
	case isBeside && before.Tags == "": // of an older program
	case isBeside && t.Tags != before.Tags:
		return lang.T("tags or the stash of git were changed")
	case !isBeside && t.Refs != before.Refs:
		return lang.T("branches, tags or the stash of git were changed")
	}
	return lang.Text{}
}

func (t *Tree) branchName() string { return cmp.Or(t.Branch, "(no branch)") }

func (t *Tree) commitName() string { return cmp.Or(t.Head[:min(9, len(t.Head))], "(none)") }

// fileOf returns the file of a line of [Tree.Changed], for example "a.go" of " M a.go".
func fileOf(line string) string { return line[min(3, len(line)):] }

// Options configure a Runner.
type Options struct {
	Engine *engine.Engine
	// Workers are the engines at hand, the likeliest first.
	Workers []Worker
	Prices  *price.Table
	// Look returns the repository of a folder as it is, nil if the folder is in none. If Look is nil,
	// no folder is in one.
	Look func(ctx context.Context, folder string) (*Tree, error)
	// Person brings questions to a person; nil if there is none.
	Person request.Channel
	Gates  Gates
	Flags  Flags
	// Answers are the person's, by question id.
	Answers map[string]string
	// Folder is the project's.
	Folder string
	// Rights returns the records of the rights of a project's runs, outside of the project. If it is nil, none
	// are kept, and each Resume needs all flags again.
	Rights func(project string) sdk.Rights
	// Own are files of the project that this program writes by itself, besides its state and the documents: each is
	// a path in slashes, or a folder that ends with one.
	Own []string
	// Wait waits, until the context ends; nil stands for the time of this machine.
	Wait func(context.Context, time.Duration) error
	// Base is the commit from which a new worktree begins, "" for the one that is checked out.
	Base string
	// Lease, if not nil, is that of a worker on a shared store: the record of the run is kept there.
	Lease Lease
	// Yield, if not nil, is closed for the run to end after the step under way.
	Yield <-chan struct{}
	// By names the program in the history.
	By string
	// Tell, if not nil, is called with every event, in order, from several goroutines but one at a
	// time.
	Tell func(Event)
	Log  *slog.Logger
}

// byStage has a text for each of some stages.
type byStage = map[workflow.StageID]string

// Flags are the wishes of a person for a run, and the rights given to it. They are kept: zero values of a later
// invocation leave the earlier ones as they are.
type Flags struct {
	Workflow  string      `json:"workflow,omitempty"`
	Stages    string      `json:"stages,omitempty"`
	Engine    string      `json:"engine,omitempty"`
	EngineFor byStage     `json:"engine_for,omitempty"`
	Model     string      `json:"model,omitempty"`
	ModelFor  byStage     `json:"model_for,omitempty"`
	Budget    price.Money `json:"budget_nano_usd,omitempty"`
	// NoBudget is true if the person lets the run cost any sum.
	NoBudget bool     `json:"no_budget,omitempty"`
	Minutes  int      `json:"max_minutes,omitempty"`
	Commands []string `json:"allow_commands,omitempty"`
	Dirty    bool     `json:"allow_dirty,omitempty"`
	// Open are files that other programs obey and the engine may write. They are not kept: each invocation
	// names them again.
	Open []string `json:"-"`
	// ToolServers are the names of MCP servers for the engines with an API. They are not kept either.
	ToolServers []string `json:"-"`
	// Worktree is true for a run in a worktree of its own, on a branch to which it commits.
	Worktree bool `json:"worktree,omitempty"`
	// Sprints are the numbers of the sprints to build, of a plan that is approved in the run From; empty for all.
	Sprints []int `json:"sprints,omitempty"`
	// Docs are documents of the person for stages outside of the run, From is a task whose documents are taken.
	Docs byStage `json:"docs,omitempty"`
	From string  `json:"from,omitempty"`
}

// withDefaults returns the flags, and the ones of an earlier invocation in place of unset ones.
func (f Flags) withDefaults(earlier Flags) Flags {
	f.Workflow, f.Stages = earlier.Workflow, cmp.Or(f.Stages, earlier.Stages)
	f.Engine, f.Model = cmp.Or(f.Engine, earlier.Engine), cmp.Or(f.Model, earlier.Model)
	f.From, f.Minutes = cmp.Or(f.From, earlier.From), cmp.Or(f.Minutes, earlier.Minutes)
	if len(f.EngineFor) == 0 {
		f.EngineFor = earlier.EngineFor
	}
	if len(f.ModelFor) == 0 {
		f.ModelFor = earlier.ModelFor
	}
	if len(f.Docs) == 0 {
		f.Docs = earlier.Docs
	}
	if f.Budget == 0 && !f.NoBudget {
		f.Budget, f.NoBudget = earlier.Budget, earlier.NoBudget
	}
	if len(f.Commands) == 0 {
		f.Commands = earlier.Commands
	}
	f.Dirty, f.Worktree = f.Dirty || earlier.Dirty, f.Worktree || earlier.Worktree
	if len(f.Sprints) == 0 {
		f.Sprints = earlier.Sprints
	}
	return f
}

// commandWords returns the flags as people type them.
func (f Flags) commandWords() string {
	var out []string
	add := func(set bool, words ...string) {
		if set {
			out = append(out, words...)
		}
	}
	text := func(flag, value string) { add(value != "", flag, strconv.Quote(value)) }
	each := func(flag string, values byStage) {
		for _, id := range slices.Sorted(maps.Keys(values)) {
			text(flag, string(id)+"="+values[id])
		}
	}
	add(f.Budget != 0, "--budget", strings.Replace(f.Budget.String(), "$", "", 1))
	add(f.NoBudget, "--budget none")
	add(f.Minutes != 0, "--max-minutes", strconv.Itoa(f.Minutes))
	for _, command := range f.Commands {
		text("--allow-command", command)
	}
	add(f.Dirty, "--allow-dirty")
	text("--stages", f.Stages)
	text("--engine", f.Engine)
	each("--engine-for", f.EngineFor)
	text("--model", f.Model)
	each("--model-for", f.ModelFor)
	each("--doc", f.Docs)
	text("--from", f.From)
	return strings.Join(out, " ")
}

// rights are the part of a run's state behind the limits. run.json has them for people to read; the record
// outside of the project counts, since engines, and the author of the project, can write run.json.
type rights struct {
	// Seq counts the changes. The record has the same, which shows an older one.
	Seq   int   `json:"rights_seq,omitempty"`
	Flags Flags `json:"flags"`
	// Conversations are the engines' own, by stage.
	Conversations map[workflow.StageID]conversation `json:"engine_sessions,omitempty"`
	Spent         []price.Line                      `json:"spent,omitempty"`
	// Calls counts the calls of engines, begun ones included; Reported is the cost by the engines' own count.
	Calls    int      `json:"calls"`
	Reported *float64 `json:"reported_usd,omitempty"`
	// Events are the files of the project to which events were written.
	Events []string `json:"events_files,omitempty"`
	// Admitted is true once the project was found fit to be changed: see admitTree.
	Admitted bool `json:"admitted,omitempty"`
}

type conversation struct {
	Engine  string `json:"engine"`
	Session string `json:"session,omitempty"`
}

// combineRights returns the rights of a run: the flags of the invocation over the record, and never the file's,
// run.json, unless they are lower. Both are nil if there is none. proven is false if only the file names a
// limit of the costs; notice describes how the file differs.
func combineRights(invocation Flags, file, record *rights) (now rights, proven bool, notice lang.Text) {
	said, kept := *cmp.Or(file, &rights{}), *cmp.Or(record, &rights{})
	newest := record != nil && kept.Seq >= said.Seq
	now = rights{Seq: max(kept.Seq, said.Seq), Spent: price.Most(kept.Spent, said.Spent)}
	now.Calls, now.Reported = said.Calls, said.Reported
	if kept.Calls > 0 { // else the record is of an older program
		now.Calls, now.Reported = kept.Calls, kept.Reported
	}
	if newest {
		now.Flags, now.Conversations, now.Admitted, now.Events = kept.Flags, kept.Conversations, kept.Admitted, kept.Events
	} else {
		now.Flags = Flags{Stages: said.Flags.Stages, Minutes: said.Flags.Minutes}
	}
	if file != nil {
		notice = describeDifference(said, now, newest)
	}
	now.Flags = invocation.withDefaults(now.Flags)
	return now, file == nil || newest || now.Flags.Budget != 0 || now.Flags.NoBudget, notice
}

// rightsUnder returns the rights of a run under a lease: the flags of the order, and the counts of the record. Engines have
// their conversations on one machine alone.
func rightsUnder(order Flags, kept *rights, isFresh bool) rights {
	now := rights{Seq: kept.Seq, Flags: order, Spent: price.Most(kept.Spent, nil), Calls: kept.Calls, Reported: kept.Reported, Admitted: true}
	if !isFresh {
		now.Conversations = kept.Conversations
	}
	return now
}

// describeDifference describes how a file differs from the rights that count.
func describeDifference(said, now rights, newest bool) lang.Text {
	says, has := said.Flags.commandWords(), now.Flags.commandWords()
	switch {
	case !newest && says == "":
		return lang.T("this machine has no record of what you allow this run; flags of --resume say it")
	case !newest:
		return lang.T("this machine has no record of what you allow this run, and its file does not count: it says %s. Flags of --resume allow it", clipLine(says, 400))
	case says != has:
		return lang.T("run.json was changed and does not count: it says %s, and you have allowed %s. Flags of --resume allow more", orNone(says), orNone(has))
	case !slices.EqualFunc(price.Most(said.Spent, nil), now.Spent, price.Line.Same), !maps.Equal(said.Conversations, now.Conversations), said.Admitted != now.Admitted,
		said.Calls != now.Calls, !reflect.DeepEqual(said.Reported, now.Reported):
		return lang.T("run.json was changed, or is an older one: the calls, costs and conversations that this machine has recorded count")
	}
	return lang.Text{}
}

func orNone(words string) lang.Text {
	if words == "" {
		return lang.T("nothing")
	}
	return lang.T("%s", clipLine(words, 400))
}
