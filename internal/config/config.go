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
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/bmad-mcp/bmad-mcp/internal/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/lang"
	_ "github.com/bmad-mcp/bmad-mcp/internal/lang/zh" // the settings may name it
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

const (
	// ProjectFile is the project's file, relative to the project.
	ProjectFile = ".claude/bmad-task.yaml"
	// UserFile is the user's file, relative to the configuration folder
	// ($XDG_CONFIG_HOME, else ~/.config).
	UserFile = "bmad-mcp/config.yaml"
	// DefaultPrompts is the folder of a project's own prompts, relative to it.
	DefaultPrompts = ".claude/bmad-prompts"
	// DefaultMaxSubmission is the largest submission accepted, in bytes.
	DefaultMaxSubmission = 5 << 20
	// minLockTimeout and maxLockTimeout bound lock_timeout: with less, a busy disk looks like
	// a conflict; with more, hosts cancel the call first.
	minLockTimeout, maxLockTimeout = 100 * time.Millisecond, 10 * time.Minute
	// DefaultRubrics is the folder of a project's own rubrics, relative to it.
	DefaultRubrics = ".claude/bmad-rubrics"
	// DefaultMaxRework is the number of times that work goes back to dev before a person is asked whether to
	// continue.
	DefaultMaxRework = 3
	// DefaultMaxIterations is the number of submissions of a stage that may miss its gate before a person is
	// asked the same.
	DefaultMaxIterations = 5
	// DefaultFormTimeout is the time for which a form waits for the person. With more, hosts cancel the call
	// first.
	DefaultFormTimeout = 10 * time.Minute
	// DefaultVerifyTimeout bounds the time of a verify command.
	DefaultVerifyTimeout = 5 * time.Minute
	// DefaultVerifyOutput bounds the output of a command that is kept, in bytes.
	DefaultVerifyOutput = 4000
	// maxFile is the largest configuration file read, in bytes.
	maxFile = 64 << 10
)

// Config is the settings in force for a project.
type Config struct {
	// Workflow is the name of the workflow for runs that name none, Workflows are those that can
	// be started.
	Workflow  string
	Workflows []Workflow
	// Prompts is the absolute folder of prompt files that take precedence over the built-in ones.
	Prompts string
	// MaxSubmission is the largest submission accepted, in bytes.
	MaxSubmission int64
	// LockTimeout bounds the wait of a call for another that holds its session.
	LockTimeout time.Duration
	LogLevel    slog.Level
	// MaxRework and MaxIterations bound the rounds between two decisions of a person.
	MaxRework, MaxIterations int
	// FormTimeout bounds the wait of a form for the person.
	FormTimeout time.Duration
	// HostConfirm selects the hosts for which bmad-confirm is listed.
	HostConfirm HostConfirm
	// Rubrics is the absolute folder of rubric files that take precedence over the built-in ones.
	Rubrics string
	// Verify has the verify command of each stage.
	Verify map[workflow.StageID]string
	// VerifyBy names the setter of each command. PersonVerify has the commands of the
	// person's own file, including "": a stage that it does not mention has no entry.
	VerifyBy      map[workflow.StageID]workflow.Setter
	PersonVerify  map[workflow.StageID]string
	VerifyTimeout time.Duration
	// VerifyOutput bounds the output of a command that is kept, in bytes.
	VerifyOutput int
	// Checks are the commands, besides verify, that the server runs if a report names them.
	Checks []string
	// OwnRubrics is true if the project's file names the folder of rubrics.
	OwnRubrics bool
	// Toolsets are the groups of tools that are offered.
	Toolsets []Toolset
	// Personas selects the roles of the stages: PersonasOwn or PersonasBMAD.
	Personas string
	// Language is the one that people are spoken to in, DocumentLanguage that of documents, or
	// lang.Auto.
	Language, DocumentLanguage string
	// Projects are the absolute folders that the person has opened to assistants.
	Projects []string
	// Sources are the git repositories with the method that the person configured, OwnSources
	// those from the project's file.
	Sources, OwnSources []string
	// Memory selects the use that the stages make of the project's notes.
	Memory Memory
	// MemoryDir is the folder of the notes, relative to the project, with slashes; "" is the usual
	// place.
	MemoryDir string
	// MemoryEmbeddings is the address of a server that turns texts into vectors, and
	// MemoryEmbeddingModel its model; MemoryQdrant is the address of a vector database. The texts
	// of notes are sent there; "" sends none.
	MemoryEmbeddings, MemoryEmbeddingModel, MemoryQdrant string
	// Model is the language model of agents that work without a host.
	Model Model
	// Ignored names the settings of the project that do not count, with the reason.
	Ignored []lang.Text

	layers  [layers]layer
	engines map[workflow.StageID][]workflow.Engine
	// byPerson has the keys that the person has set; those of verify with the stage.
	byPerson map[string]bool
	// setBy has the setters of settings that are not of one stage.
	setBy map[string]workflow.Setter
	from  source
	// project is the folder of the project, userFile the user's file; "" if there is none.
	project, userFile string
	confined          bool
	scoring           workflow.ScoringMode // of [Source]
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

// Source has the places that settings are read from.
type Source struct {
	// UserFolder is the configuration folder of the user; "" reads no user file.
	UserFolder string
	// Environ is the environment as os.Environ gives it.
	Environ []string
	// Scoring is the rule of score gates for which the person has set none; the definition's if
	// empty.
	Scoring workflow.ScoringMode
	// Confined is true if only some folders may be read. Folders outside the project that its
	// file names are then not checked: an error would reveal whether they exist.
	Confined bool
}

// Default returns the settings of a project without any configuration.
func Default(project string) Config {
	return Config{
		Workflow: workflow.DefaultName, Workflows: builtins(), engines: map[workflow.StageID][]workflow.Engine{},
		Prompts:       filepath.Join(project, filepath.FromSlash(DefaultPrompts)),
		MaxSubmission: DefaultMaxSubmission,
		LockTimeout:   durable.LockTimeout,
		LogLevel:      slog.LevelWarn,
		MaxRework:     DefaultMaxRework, MaxIterations: DefaultMaxIterations,
		FormTimeout: DefaultFormTimeout, HostConfirm: HostConfirmAuto,
		Toolsets: []Toolset{ToolsetAuto}, Personas: PersonasOwn, Memory: MemoryAuto, Language: lang.Auto, DocumentLanguage: lang.Auto,
		Rubrics: filepath.Join(project, filepath.FromSlash(DefaultRubrics)),
		Verify:  map[workflow.StageID]string{}, VerifyBy: map[workflow.StageID]workflow.Setter{}, PersonVerify: map[workflow.StageID]string{},
		byPerson: map[string]bool{}, setBy: map[string]workflow.Setter{}, VerifyTimeout: DefaultVerifyTimeout, VerifyOutput: DefaultVerifyOutput,
	}
}

// Load returns the settings of the project in dir, which is nil for a process outside
// every project.
func (s Source) Load(dir *durable.Dir) (Config, error) {
	project := ""
	if dir != nil {
		project = dir.Path()
	}
	c := Default(project)
	c.from, c.confined, c.scoring = user, s.Confined, s.Scoring
	c.addWorkflows(s.UserFolder, dir) // settings name their stages
	if s.UserFolder != "" {
		name := filepath.Join(s.UserFolder, filepath.FromSlash(UserFile))
		c.project, c.userFile = project, name
		data, err := durable.ReadPath(name, maxFile)
		if err := c.file(name, data, err, filepath.Dir(name)); err != nil {
			return c, err
		}
	}
	c.from = own
	if dir != nil {
		data, err := dir.ReadFile(ProjectFile, maxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && dir.LeadsOut(".claude") {
			return c, fault.New(fault.InvalidArgument, "the folder %s is a symbolic link that leads out of the project", dir.Join(".claude")).
				WithHint("bmad-mcp stays inside the project: make .claude a real folder in it")
		}
		if err := c.file(ProjectFile, data, err, project); err != nil {
			return c, err
		}
	}
	c.from = environment
	if err := c.environ(s.Environ, project); err != nil {
		return c, err
	}
	c.settle()
	return c, nil
}

func (c *Config) file(name string, data []byte, err error, base string) error {
	var large *durable.TooLargeError
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	case errors.As(err, &large):
		return fault.New(fault.InvalidArgument, "the configuration %w", err).
			WithHint("shorten it, or remove it to use the defaults")
	case err != nil:
		return fault.New(fault.Storage, "the configuration %s cannot be read: %w", name, err).
			WithHint("make it a readable file, or remove it to use the defaults")
	}
	return eachSetting(name, data, func(key string, values []string) error { return c.apply(key, values, base) })
}

func (c *Config) environ(environ []string, project string) error {
	for _, entry := range environ {
		variable, value, _ := strings.Cut(entry, "=")
		key, ok := c.keyOf(variable)
		if !ok || value == "" {
			continue
		}
		values := []string{value}
		if strings.HasSuffix(key, ".engines") {
			values = nil
			for v := range strings.SplitSeq(value, ",") {
				values = append(values, strings.TrimSpace(v))
			}
		}
		if err := c.apply(key, values, project); err != nil {
			return fault.New(fault.InvalidArgument, "environment variable %s: %w", variable, err).
				WithHint("correct or unset the variable where the server is started")
		}
	}
	return nil
}

// keyOf returns the key that a variable sets, for example stages.po.gate_score for BMAD_PO_GATE_SCORE. Other
// programs use the prefix too, so only a name that begins like one of our settings counts.
func (c *Config) keyOf(variable string) (string, bool) {
	name, ok := strings.CutPrefix(variable, "BMAD_")
	if !ok {
		return "", false
	}
	name = strings.ToLower(name)
	if slices.Contains(topKeys, name) && name != "stages" {
		return name, true
	}
	for _, stage := range c.StageIDs() {
		if rest, ok := strings.CutPrefix(name, strings.ReplaceAll(stage, "-", "_")+"_"); ok {
			return "stages." + stage + "." + rest, true
		}
	}
	return "", false
}

var (
	topKeys = []string{
		"audit_floor", "base_url", "checks", "cost_limit", "document_language", "form_timeout", "gate",
		"host_confirm", "language", "lock_timeout", "log_level", "max_iterations", "max_rework",
		"max_submission_bytes",
		"memory", "memory_dir", "memory_embedding_model", "memory_embeddings", "memory_qdrant", "model", "pause",
		"personas", "projects", "prompts", "proved", "provider", "rubrics", "scoring", "sources", "stages",
		"toolsets", "verdict", "verify", "verify_output_bytes", "verify_timeout", "workflow",
	}
	stageKeys = []string{"audit_floor", "engines", "gate", "gate_score", "pause", "proved", "scoring", "verdict", "verify"}
	logLevels = []string{"debug", "info", "warn", "error"}
)

// set applies one setting. Relative paths are resolved against base.
func (c *Config) set(key string, values []string, base string) error {
	one := func() (string, error) {
		if len(values) != 1 {
			return "", lang.Errorf("%s takes one value, not %d", key, len(values))
		}
		return values[0], nil
	}
	parts := strings.Split(key, ".")
	if parts[0] == "stages" && len(parts) == 3 {
		return c.setStage(parts[1], parts[2], key, values, one)
	}
	switch key {
	case "toolsets", "sources":
		return c.setMethod(key, values)
	case "projects":
		return c.setProjects(values)
	case "checks":
		return c.setChecks(values)
	}
	v, err := one()
	if err != nil {
		return err
	}
	switch key {
	case "personas", "language", "document_language":
		return c.setChoice(key, v)
	case "log_level":
		if !slices.Contains(logLevels, v) {
			return lang.Errorf("log_level %q is not one of %s", v, strings.Join(logLevels, ", "))
		}
		return c.LogLevel.UnmarshalText([]byte(v))
	case "lock_timeout", "form_timeout", "verify_timeout", "verify_output_bytes", "max_submission_bytes", "max_rework", "max_iterations":
		return c.setLimit(key, v)
	case "gate", "scoring", "pause", "audit_floor", "host_confirm", "verdict", "proved":
		return c.setPolicy(key, v)
	case "memory", "memory_dir", "memory_embeddings", "memory_embedding_model", "memory_qdrant":
		return c.setMemory(key, v)
	case "provider", "model", "base_url", "cost_limit":
		return c.setModel(key, v)
	case "verify":
		c.setVerifies(v)
	case "workflow":
		return c.setWorkflow(v)
	case "prompts":
		return c.folder(&c.Prompts, key, v, base)
	case "rubrics":
		return c.setRubrics(key, v, base)
	default:
		if slices.Contains(stageKeys, key) {
			return lang.Errorf("%s is a setting of a stage: write it below stages, such as stages: {po: {%s: %s}}", key, key, v)
		}
		return unknownName(lang.T("unknown key %q", key), key, topKeys, lang.T("valid keys: %s", strings.Join(topKeys, ", ")))
	}
	return nil
}

// setRubrics sets the folder of rubrics, for which the person takes precedence over the project.
func (c *Config) setRubrics(key, v, base string) error {
	if c.from == own && c.byPerson[key] {
		c.ignore(lang.T("%s %s", key, v))
		return nil
	}
	c.OwnRubrics, c.byPerson[key] = c.from == own, c.from != own
	return c.folder(&c.Rubrics, key, v, base)
}

// setChoice sets one of a few words.
func (c *Config) setChoice(key, v string) error {
	switch key {
	case "personas":
		return pick(&c.Personas, key, v, []string{PersonasOwn, PersonasBMAD})
	case "language":
		if c.from == own && c.byPerson[key] {
			return nil // their language is their own
		}
		c.byPerson[key] = c.from != own
		return pick(&c.Language, key, v, lang.Settings())
	default:
		return pick(&c.DocumentLanguage, key, v, lang.Settings())
	}
}

// setLimit sets a numeric limit.
func (c *Config) setLimit(key, v string) error {
	before := *c
	err := c.readLimit(key, v)
	if c.from != own {
		c.byPerson[key] = true
	}
	if err != nil || c.from != own || !c.byPerson[key] {
		return err
	}
	// The project must not allow more rounds before the person is asked, or give them less time
	// to answer, than they have set.
	if c.MaxRework > before.MaxRework || c.MaxIterations > before.MaxIterations || c.FormTimeout < before.FormTimeout {
		c.MaxRework, c.MaxIterations, c.FormTimeout = before.MaxRework, before.MaxIterations, before.FormTimeout
		c.ignore(lang.T("%s %s", key, v))
	}
	return nil
}

func (c *Config) readLimit(key, v string) error {
	switch key {
	case "lock_timeout":
		return duration(&c.LockTimeout, key, v, minLockTimeout, maxLockTimeout)
	case "form_timeout":
		return duration(&c.FormTimeout, key, v, time.Second, time.Hour)
	case "verify_timeout":
		return duration(&c.VerifyTimeout, key, v, time.Second, time.Hour)
	case "verify_output_bytes":
		return whole(&c.VerifyOutput, key, v, 200, 64<<10)
	case "max_submission_bytes":
		return whole(&c.MaxSubmission, key, v, 1024, 1<<30)
	case "max_rework":
		return whole(&c.MaxRework, key, v, 1, 100)
	default:
		return whole(&c.MaxIterations, key, v, 1, 100)
	}
}

func (c *Config) setStage(stage, name, key string, values []string, one func() (string, error)) error {
	id := workflow.StageID(stage)
	if !slices.Contains(c.StageIDs(), stage) {
		return unknownName(lang.T("unknown stage %q", stage), stage, c.StageIDs(), lang.T("valid stages: %s", strings.Join(c.StageIDs(), ", ")))
	}
	if !slices.Contains(stageKeys, name) {
		return unknownName(lang.T("unknown key %q", name), name, stageKeys, lang.T("valid keys of a stage: %s", strings.Join(stageKeys, ", ")))
	}
	if name == "engines" {
		return c.setEngines(id, key, values)
	}
	scored := c.those(func(_ *workflow.Definition, st workflow.Stage) bool { return st.Gate == workflow.GateScore })
	gated := c.those((*workflow.Definition).Gated)
	if (name == "gate_score" || name == "scoring") && !slices.Contains(scored, id) {
		return lang.Errorf("stage %q has no score gate; %s is for %s", stage, name, listStages(scored))
	}
	judged := c.those(func(_ *workflow.Definition, st workflow.Stage) bool { return st.Gate == workflow.GateVerdict })
	if (name == "verdict" || name == "proved") && !slices.Contains(judged, id) {
		return lang.Errorf("stage %q hands in no verdict; %s is for %s", stage, name, listStages(judged))
	}
	if name == "gate" && !slices.Contains(gated, id) {
		return lang.Errorf("stage %q has no gate", stage)
	}
	floored := c.those(func(_ *workflow.Definition, st workflow.Stage) bool { return st.Floored() })
	if name == "audit_floor" && !slices.Contains(floored, id) {
		return lang.Errorf("stage %q has no audit floor; %s is for %s", stage, name, listStages(floored))
	}
	if verified := c.Verified(); name == "verify" && !slices.Contains(verified, id) {
		return lang.Errorf("stage %q is not verified; verify is for %s", stage, listStages(verified))
	}
	v, err := one()
	if err != nil {
		return err
	}
	said := c.layers[c.from].stage(id)
	if name == "verify" {
		c.setVerify(id, v)
		return nil
	}
	return setPolicy(said, name, key, v)
}

// those lists the stages of all workflows that meet a condition, each once.
func (c *Config) those(holds func(*workflow.Definition, workflow.Stage) bool) []workflow.StageID {
	var out []workflow.StageID
	for _, d := range c.definitions() {
		for _, st := range d.Stages {
			if holds(d, st) && !slices.Contains(out, st.ID) {
				out = append(out, st.ID)
			}
		}
	}
	return out
}

// listStages lists stages as "a, b and c".
func listStages(ids []workflow.StageID) lang.Text {
	texts := make([]lang.Text, len(ids))
	for i, id := range ids {
		texts[i] = lang.T("%s", id)
	}
	if last := len(texts) - 1; last > 0 {
		return lang.T("%s and %s", lang.Join(texts[:last], ", "), texts[last])
	}
	return lang.Join(texts, ", ")
}

func (c *Config) setEngines(stage workflow.StageID, key string, values []string) error {
	var engines []workflow.Engine
	for _, v := range values {
		e := workflow.Engine(v)
		if !slices.Contains(workflow.Engines(), e) || slices.Contains(engines, e) {
			return lang.Errorf("%s: %q is not one of claude, codex, each at most once", key, v)
		}
		engines = append(engines, e)
	}
	if len(engines) == 0 {
		return lang.Errorf("%s names no engine; valid engines: claude, codex", key)
	}
	c.engines[stage] = engines
	return nil
}
