package runner

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

// byStage has a text for each of some stages.
type byStage = map[workflow.StageID]string

// Flags are the wishes of a person for a run, and the rights that they give it. They are kept: zero
// values of a later invocation leave the earlier ones as they are.
type Flags struct {
	Workflow  string      `json:"workflow,omitempty"`
	Stages    string      `json:"stages,omitempty"`
	Engine    string      `json:"engine,omitempty"`
	EngineFor byStage     `json:"engine_for,omitempty"`
	Model     string      `json:"model,omitempty"`
	ModelFor  byStage     `json:"model_for,omitempty"`
	Budget    price.Money `json:"budget_nano_usd,omitempty"`
	// NoBudget is true if the person has said that the run may cost any sum.
	NoBudget bool     `json:"no_budget,omitempty"`
	Minutes  int      `json:"max_minutes,omitempty"`
	Commands []string `json:"allow_commands,omitempty"`
	Dirty    bool     `json:"allow_dirty,omitempty"`
	// Open are files that other programs obey and that the engine may write. They are not kept: each
	// invocation says so anew.
	Open []string `json:"-"`
	// Docs are documents of the person for stages that the run does not work on, From is a task
	// whose documents are taken.
	Docs byStage `json:"docs,omitempty"`
	From string  `json:"from,omitempty"`
}

// over returns the flags, and those of an earlier invocation for the ones that are not set.
func (f Flags) over(earlier Flags) Flags {
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
	f.Dirty = f.Dirty || earlier.Dirty
	return f
}

// words returns the flags as people type them.
func (f Flags) words() string {
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
	says, has := said.Flags.words(), now.Flags.words()
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

// admit gives the run its state and its rights. kept is the state of run.json, nil if there is none.
func (r *run) admit(ctx context.Context, kept *state) error {
	if kept != nil && kept.SessionID != r.session.SessionID {
		return fault.New(fault.Storage, "%s is not of this run: it names the session %q", r.files.dir.Join(r.files.stateName()), kept.SessionID).
			WithHint("correct it, or move it away: the run then goes on by what this machine has recorded")
	}
	r.state = &state{Version: stateVersion}
	var file, record *rights
	if kept != nil {
		r.state, file = kept, &kept.rights
	}
	r.state.SessionID, r.state.TaskName = r.session.SessionID, r.session.TaskName
	if r.record != nil {
		if found := (rights{}); json.Unmarshal(r.record.Kept(ctx, r.session.SessionID), &found) == nil {
			record = &found
		}
	}
	now, proven, notice := combine(r.Flags, file, record)
	r.Flags, r.unproven, r.notice = now.Flags, !proven, notice
	if proven { // else the file stays as it is, for the person to read
		r.state.rights = now
	}
	r.budget = price.NewBudget(r.Prices, r.Flags.Budget, now.Spent...)
	return nil
}

// save saves the state, and before it the rights, so that of the two the record is never the older.
func (r *run) save() error { return errors.Join(r.keepRights(), r.files.save(r.state)) }

// keepRights keeps the rights outside of the project, if they have changed.
func (r *run) keepRights() error {
	now := r.state.rights
	now.Seq = 0
	data, err := json.Marshal(now)
	if r.record == nil || r.unproven || err != nil || string(data) == r.recorded {
		return err
	}
	r.recorded = string(data)
	r.state.Seq++
	if data, err = json.Marshal(r.state.rights); err != nil {
		return err
	}
	if err := r.record.Keep(context.Background(), r.state.SessionID, data); err != nil {
		r.Log.Warn("this machine cannot keep the rights of the run: --resume will ask for them again", "error", err)
	}
	return nil
}
