// Package config reads the settings of a project: defaults, overridden by the user's
// file, the project's file and BMAD_* environment variables, in this order.
// The policy of a gate is the exception: the project's file, which an assistant
// can write, may only tighten it (policy.go).
//
// A setting has a key, which is a dotted path in the YAML files and, in capitals
// with underscores and without "stages.", a variable: stages.po.gate_score is
// BMAD_PO_GATE_SCORE. An unknown key or an invalid value is an error that names
// its place and the valid choices.
//
// # Invariants
//
//   - The project's file can only tighten a policy, because an assistant can write it
//     (TestProjectOnlyTightens).
//   - A pending gate keeps at least the policy that it had (TestPendingGateCannotBeLoosened).
package config

import (
	"cmp"
	"sync"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/base/lang/zh" // the settings may name it
	"github.com/bmad-mcp/bmad-mcp/internal/base/notify"
	"github.com/bmad-mcp/bmad-mcp/internal/base/signature"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
	"github.com/bmad-mcp/bmad-mcp/sdk/price"
)

const (
	// ProjectFile is the project's file, relative to the project.
	ProjectFile = ".claude/bmad-task.yaml"
	// UserFile is the user's file, relative to the configuration folder
	// ($XDG_CONFIG_HOME, else ~/.config).
	UserFile = "bmad-mcp/config.yaml"
	// PromptFolder has the prompts of a project in place of the built-in ones.
	PromptFolder = ".claude/bmad-prompts"
	// RubricFolder has the rubrics of a project in place of the built-in ones.
	RubricFolder = ".claude/bmad-rubrics"
	// maxFile is the largest configuration file read, in bytes.
	maxFile = 64 << 10
)

// Config is the settings in force for a project.
type Config struct {
	// Workflow is the name of the workflow for runs that name none, Own are those that the person and the
	// project have added.
	Workflow string
	Own      []Workflow
	// builtin reads the built-in workflows, once: most starts need none.
	builtin func() []Workflow
	// MaxRounds bounds the rounds between two decisions of a person; 0 leaves that to [Config.Rounds].
	MaxRounds int
	// HostConfirm selects the hosts for which bmad-confirm is listed.
	HostConfirm HostConfirm
	// Verify has the verify command of each stage.
	Verify map[workflow.StageID]string
	// VerifyBy names the setter of each command. PersonVerify has the commands of the
	// person's own file, including "": a stage that it does not mention has no entry.
	VerifyBy      map[workflow.StageID]workflow.Setter
	PersonVerify  map[workflow.StageID]string
	VerifyTimeout time.Duration
	// Checks are the commands, besides verify, that the server runs if a report names them.
	Checks []string
	// Proof is ProofOff unless a signed statement about a run is written beside its documents in a git repository.
	Proof string
	// SignWith is the key of an SSH agent that signs the person's decisions; "" is the key of this machine.
	SignWith signature.Key
	// CheckAssurance is the least assurance of a decision that a check of the repository takes.
	CheckAssurance string
	// MaxWorkers bounds the runs at work at a time on the team's queue, as a worker of this person sees it, and
	// MaxCostPerDay what all of them cost on a day; 0 sets no limit.
	MaxWorkers    int
	MaxCostPerDay price.Money
	// Notify is the place for notices to the person.
	Notify notify.Target
	// ToolServers are the MCP servers that agents without a host can be given.
	ToolServers []ToolServer
	// Toolsets are the groups of tools that are offered.
	Toolsets []Toolset
	Manner
	// Projects are the absolute folders that the person has opened to assistants.
	Projects []string
	// Sources are the git repositories with the method that the person configured, OwnSources
	// those from the project's file.
	Sources, OwnSources []string
	// Memory selects the use that the stages make of the project's notes.
	Memory Memory
	// MemoryEmbeddings is the address of a server that turns texts into vectors, EmbeddingModel its model, and MemoryQdrant
	// the address of a vector database. The texts of notes are sent there; "" sends none.
	MemoryEmbeddings, EmbeddingModel, MemoryQdrant string
	Store                                          Store
	// Model is the language model of agents that work without a host.
	Model Model
	// Ignored names the settings of the project that do not count, with the reason.
	Ignored []lang.Text
	// gone names the keys that are no longer settings, with what replaces them.
	gone []Notice

	rules rules
	// byPerson has the keys that the person has set; those of verify with the stage.
	byPerson map[string]bool
	// origins are the places of the values in force, except for the rules of stages, and mentions all that were read.
	origins  map[string]Origin
	mentions []Mention
}

// Rounds returns how many submissions of a document may miss its gate, and how often work goes back to its builder,
// before the person is asked whether to continue.
func (c *Config) Rounds() (documents, work int) {
	return cmp.Or(c.MaxRounds, 5), cmp.Or(c.MaxRounds, 3)
}

// Manner is how people and models are spoken to.
type Manner struct {
	// Personas selects the roles of the stages: PersonasOwn or PersonasBMAD.
	Personas string
	// Replies selects the keys of replies to models: RepliesFull or RepliesLean.
	Replies string
	// Language is the one that people are spoken to in, DocumentLanguage that of documents, or
	// lang.Auto.
	Language, DocumentLanguage string
}

// Store is the database in which a team keeps its sessions.
type Store struct {
	// Address may hold a password. It is "" if the sessions are files of the project.
	Address string
	// Project is the name of the project there, "" for that of its git remote.
	Project string
	// Required is true if the project's file refuses sessions in files: without an address here, its runs are elsewhere.
	Required bool
}

// HostConfirm selects the hosts for which the tool bmad-confirm is listed.
type HostConfirm string

// The values of host_confirm.
const (
	// HostConfirmAuto: for hosts that are known to ask the person on each call of it.
	HostConfirmAuto   HostConfirm = "auto"
	HostConfirmAlways HostConfirm = "always"
	HostConfirmNever  HostConfirm = "never"
)

// Default returns the settings of a project without any configuration.
func Default() Config {
	return Config{
		Workflow: workflow.DefaultName, builtin: sync.OnceValue(builtins), rules: rules{engines: map[workflow.StageID][]workflow.Engine{}},
		HostConfirm: HostConfirmAuto,
		Toolsets:    []Toolset{ToolsetAuto}, Memory: MemoryAuto,
		Manner: Manner{Personas: PersonasOwn, Replies: RepliesFull, Language: lang.Auto, DocumentLanguage: lang.Auto},
		Verify: map[workflow.StageID]string{}, VerifyBy: map[workflow.StageID]workflow.Setter{}, PersonVerify: map[workflow.StageID]string{},
		CheckAssurance: string(workflow.AssuranceLow), Proof: "true",
		byPerson: map[string]bool{}, origins: map[string]Origin{}, VerifyTimeout: 5 * time.Minute,
	}
}
