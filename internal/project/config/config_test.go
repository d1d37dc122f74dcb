package config_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang/langtest"
	"github.com/bmad-mcp/bmad-mcp/internal/project/config"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

func load(t *testing.T, project, user string, environ ...string) (config.Config, error) {
	t.Helper()
	root, home := t.TempDir(), t.TempDir()
	write := func(path, text string) {
		if text == "" {
			return
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(root, config.ProjectFile), project)
	write(filepath.Join(home, config.UserFile), user)
	if err := os.Mkdir(filepath.Join(root, "own"), 0o750); err != nil {
		t.Fatal(err)
	}
	dir, err := durable.OpenDir(root)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dir.Close() })
	return config.Source{UserFolder: home, Environ: environ}.Load(dir)
}

func gate(c config.Config, id workflow.StageID) float64 {
	st, _ := c.Under(workflow.Default()).Stage(id)
	return st.GateScore
}

func TestPrecedence(t *testing.T) {
	c, err := load(t, "stages:\n  po:\n    gate_score: 95.5\n  dev: {engines: [claude]}\n",
		"stages:\n  po: {gate_score: 70}\n  architect: {gate_score: 80, engines: [codex, claude]}\n",
		"BMAD_ARCHITECT_GATE_SCORE=95", "BMAD_QA_ENGINES=claude, codex", "BMAD_HOME=/x", "BMAD_GATES=strict", "OTHER=1")
	if err != nil {
		t.Fatal(err)
	}
	if gate(c, workflow.PO) != 95.5 || gate(c, workflow.Architect) != 95 {
		t.Errorf("gates %v, %v", gate(c, workflow.PO), gate(c, workflow.Architect))
	}
	for id, want := range map[workflow.StageID]string{workflow.Dev: "[claude]", workflow.Architect: "[codex claude]", workflow.QA: "[claude codex]", workflow.PO: "[claude codex]"} {
		st, _ := c.Under(workflow.Default()).Stage(id)
		if got := fmt.Sprint(st.EnginesFor("with codex")); got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, project := range []string{"", "# nothing\n", "stages:\n  po: {}\n"} {
		c, err := load(t, project, "")
		if err != nil || gate(c, workflow.PO) != 90 {
			t.Errorf("%q: %+v, %v", project, c, err)
		}
	}
}

// TestProjectOnlyTightens: the project's file is one that an assistant can write.
func TestProjectOnlyTightens(t *testing.T) {
	gates := len(workflow.Default().Stages) - 1 // all stages but dev have one
	tests := []struct {
		name, project, user, env string
		want                     string // gate and gate score of po
		ignored                  int
	}{
		{"nothing said", "", "", "", "auto 90", 0},
		{"project tightens", "gate: strict\nstages: {po: {gate_score: 95}}", "", "", "strict 95", 0},
		{"project loosens", "gate: relay\nstages: {po: {gate_score: 10}}", "", "", "auto 90", gates + 1}, // and a score
		{"project against the person", "gate: auto\nstages: {po: {gate_score: 91}}", "gate: strict\nstages: {po: {gate_score: 92}}", "", "strict 92", gates + 1},
		{"person loosens", "", "gate: relay\nstages: {po: {gate_score: 60}}", "", "relay 60", 0},
		{"variable alone", "", "", "BMAD_GATE=relay", "relay 90", 0},
		{"variable cannot loosen the person's file", "", "gate: strict", "BMAD_GATE=relay", "strict 90", 0},
		{"variable tightens the person's file", "", "gate: relay", "BMAD_PO_GATE=strict", "strict 90", 0},
		{"project within what the person loosened", "gate: auto", "gate: relay", "", "auto 90", 0},
		{"a stage goes before all", "", "gate: strict\nstages: {po: {gate: relay}}", "", "relay 90", 0},
		{"score within", "stages: {po: {gate_score: 70}}", "stages: {po: {gate_score: 60}}", "", "auto 70", 0},
	}
	for _, tt := range tests {
		c, err := load(t, tt.project, tt.user, tt.env)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		st, _ := c.Under(workflow.Default()).Stage(workflow.PO)
		if got := fmt.Sprint(st.Rules.Gate, " ", st.GateScore); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if len(c.Ignored) != tt.ignored {
			t.Errorf("%s: ignored %q, want %d", tt.name, c.Ignored, tt.ignored)
		}
	}
}

// effective is a row of settings from all sources with their joint effect.
type effective struct {
	name, project, user, env string
	want                     string
	ignored                  int // settings of the project
}

// checkEffective loads each row's settings, and compares the value that read takes from the workflow under them.
func checkEffective(t *testing.T, read func(*workflow.Definition) string, rows []effective) {
	t.Helper()
	for _, tt := range rows {
		c, err := load(t, tt.project, tt.user, tt.env)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := read(c.Under(workflow.Default())); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if len(c.Ignored) != tt.ignored {
			t.Errorf("%s: ignored %q, want %d", tt.name, c.Ignored, tt.ignored)
		}
	}
}

// TestAuditFloor: the person may set any, a project only a higher one, for those stages that have
// one.
func TestAuditFloor(t *testing.T) {
	ofPOAndSMAndDev := func(w *workflow.Definition) string {
		var got []string
		for _, id := range []workflow.StageID{workflow.PO, workflow.SM, workflow.Dev} {
			st, _ := w.Stage(id)
			if p := st.Policy(); p.AuditFloor != nil {
				got = append(got, fmt.Sprint(*p.AuditFloor))
			} else {
				got = append(got, "none")
			}
		}
		return strings.Join(got, " ")
	}
	checkEffective(t, ofPOAndSMAndDev, []effective{
		{"nothing said", "", "", "", "60 60 none", 0},
		{"the person lowers it", "", "audit_floor: 0", "", "0 0 none", 0},
		{"the project raises it", "audit_floor: 80", "", "", "80 80 none", 0},
		{"the project lowers it", "audit_floor: 10", "", "", "60 60 none", 3},
		{"the project within what the person lowered", "audit_floor: 30", "audit_floor: 20", "", "30 30 none", 0},
		{"a variable", "", "", "BMAD_AUDIT_FLOOR=40", "40 40 none", 0},
		{"a variable below the person's file", "", "audit_floor: 70", "BMAD_AUDIT_FLOOR=40", "70 70 none", 0},
	})
	for settings, want := range map[string]string{
		"audit_floor: 101": "audit_floor \"101\" is not a number from 0 to 100", "audit_floor: NaN": "is not a number", "audit_floor: ''": "is not a number",
	} {
		if _, err := load(t, "", settings, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", settings, err, want)
		}
	}
}

// TestScoringOfAProgram: the scoring that a program asks for holds for each stage with a score.
func TestScoringOfAProgram(t *testing.T) {
	c, err := config.Source{Scoring: workflow.ScoringAudited}.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := c.Under(workflow.Default()).Stage(workflow.PO); st.Rules.Scoring != workflow.ScoringAudited {
		t.Errorf("got %s", st.Rules.Scoring)
	}
}

// TestProjectOnlyPausesMore: a repository cannot make a run go faster than its person wants.
func TestProjectOnlyPausesMore(t *testing.T) {
	ofPOAndDev := func(w *workflow.Definition) string {
		po, _ := w.Stage(workflow.PO)
		dev, _ := w.Stage(workflow.Dev)
		return fmt.Sprint(po.Rules.Pause, " ", dev.Rules.Pause)
	}
	checkEffective(t, ofPOAndDev, []effective{
		{"nothing said", "", "", "", "gates gates", 0},
		{"the person", "", "pause: stages", "", "stages stages", 0},
		{"a stage", "", "stages: {dev: {pause: stages}}", "", "gates stages", 0},
		{"a stage against all", "", "pause: stages\nstages: {dev: {pause: gates}}", "", "stages gates", 0},
		{"a variable", "", "", "BMAD_PAUSE=stages", "stages stages", 0},
		{"a stage's variable", "", "", "BMAD_DEV_PAUSE=stages", "gates stages", 0},
		{"a variable cannot loosen the person's file", "", "pause: stages", "BMAD_PAUSE=gates", "stages stages", 0},
		{"project tightens", "stages: {po: {pause: stages}}", "", "", "stages gates", 0},
		{"project loosens", "pause: gates", "pause: stages", "", "stages stages", len(workflow.Default().Stages)},
	})
	if _, err := load(t, "pause: never", "", ""); err == nil || !strings.Contains(err.Error(), `pause "never" is not one of gates, stages`) {
		t.Errorf("got %v", err)
	}
}

func TestOnlyThePersonTrustsAHost(t *testing.T) {
	for _, tt := range []struct {
		project, user string
		want          config.HostConfirm
	}{
		{"", "", config.HostConfirmAuto},
		{"host_confirm: always", "", config.HostConfirmAuto},
		{"host_confirm: never", "", config.HostConfirmAuto},
		{"host_confirm: never", "host_confirm: always", config.HostConfirmAlways},
		{"host_confirm: auto", "host_confirm: never", config.HostConfirmNever},
		{"", "host_confirm: always", config.HostConfirmAlways},
	} {
		c, err := load(t, tt.project, tt.user)
		if err != nil || c.HostConfirm != tt.want {
			t.Errorf("%q %q: %v, %v", tt.project, tt.user, c.HostConfirm, err)
		}
	}
}

func TestProjectCannotSwitchOffWhatThePersonSet(t *testing.T) {
	c, err := load(t, "verify: ' '\nmax_rounds: 9\n", "verify: make test\nmax_rounds: 4\n", "BMAD_VERIFY= ")
	if err != nil || c.Verify[workflow.Dev] != "make test" || c.Verify[workflow.QA] != "make test" || c.MaxRounds != 4 || len(c.Ignored) != 2 {
		t.Errorf("%v %d %q, %v", c.Verify, c.MaxRounds, c.Ignored, err)
	}
}

func TestVerifyTakesAWholeCommand(t *testing.T) {
	c, err := load(t, "verify: go test ./...\nstages: {qa: {verify: 'make e2e, please'}}", "", "BMAD_DEV_VERIFY=a,b c")
	if err != nil || c.Verify[workflow.Dev] != "a,b c" || c.Verify[workflow.QA] != "make e2e, please" || c.Verify[workflow.PO] != "" {
		t.Errorf("%v, %v", c.Verify, err)
	}
}

func TestErrorsNamePlaceAndChoices(t *testing.T) {
	tests := []struct{ project, user, env, want string }{
		{project: "a: 1", want: ".claude/bmad-task.yaml, line 1: unknown key \"a\"; valid keys: approvers, audit_floor, base_url, check_assurance, checks, cost_limit, document_language, four_eyes, gate, host_confirm, language,"},
		{project: "replies: full\nstages:\n  po:\n    gates: 90\n", want: "line 4: unknown key \"gates\", did you mean gate? valid keys of a stage: approvers, engines, four_eyes, gate, gate_score, pause, quorum, verify"},
		{project: "gate: loose", want: "gate \"loose\" is not one of relay, auto, strict"},
		{project: "stages: {qa: {gate: 1}}", want: "stages.qa.gate \"1\" is not one of relay, auto, strict"},
		{project: "ran: no", want: "ran \"no\" is not one of none, some, all"},
		{project: "stages: {qa: {gate_score: 90}}", want: "stage \"qa\" has no score gate; gate_score is for po and architect"},
		{project: "stages: {po: {verify: make}}", want: "stage \"po\" is not verified; verify is for dev and qa"},
		{project: "gate_score: 90", want: "line 1: gate_score is a setting of a stage: write it below stages"},
		{project: "max_rounds: 0", want: "max_rounds \"0\" is not a whole number from 1 to 100"},
		{user: "host_confirm: maybe", want: "is not one of auto, always, never"},
		{project: "verify_timeout: 1ms", want: "is not a duration from 1s to 1h0m0s"},
		{project: "stages:\n  boss: {gate_score: 1}", want: "line 2: unknown stage \"boss\"; valid stages: " + strings.Join(workflow.Default().IDs(), ", ")},
		{project: "stages:\n  po: {gate_score: 101}", want: "line 2: stages.po.gate_score \"101\" is not a number from 0 to 100"},
		{project: "stages:\n  po: {gate_score: .nan}", want: "not a number from 0 to 100"},
		{project: "stages:\n  sm: {gate_score: 90}", want: "stage \"sm\" has no score gate"},
		{project: "stages:\n  po: {engines: [gemini]}", want: "\"gemini\" is not one of claude, codex"},
		{project: "stages:\n  po: {engines: []}", want: "names no worker"},
		{project: "stages:\n  po: 90", want: "line 2: expected a block of key: value lines"},
		{project: "stages: 90", want: "line 1: expected a block of key: value lines"},
		{project: "- a\n- b", want: "line 1: expected a block"},
		{project: "replies: loud", want: "replies \"loud\" is not one of full, lean"},
		{project: "replies: [full, lean]", want: "takes one value, not 2"},
		{project: "replies:\n  deep: 1", want: "replies takes a value, not a block"},
		{project: "verify_timeout: 3", want: "is not a duration from 1s to 1h0m0s"},
		{project: "verify_timeout: 61m", want: "is not a duration from 1s to 1h0m0s"},
		{project: "max_rounds: lots", want: "is not a whole number"},
		{project: "a: [1", want: "line 1"},
		{project: "gate: auto\n\ngate: strict", want: "line 3: gate is in line 1 already"},
		{project: "gate: auto\n\"gate\": auto", want: "line 2: gate is in line 1 already"},
		{user: "stages:\n  po: {gate: auto}\n  qa: {gate: auto}\n  po: {pause: gates}", want: "line 4: stages.po is in line 2 already"},
		{user: "stages: {po: {}}\nstages: {qa: {}}", want: "line 2: stages is in line 1 already"},
		{user: "stages:\n  po:\n    'gate': auto\n    gate: strict", want: "line 4: stages.po.gate is in line 3 already"},
		{user: "stages: {po: {gate: auto}}\nstages.po.gate: strict", want: "line 2: stages.po.gate is in line 1 already"},
		{project: "replies: full\n\tb: 1", want: "line 2"},
		{project: "stages:\n\tpo: {gate: strict}", want: "line 2: a character stands where YAML takes none, such as a tab"},
		{user: "gate: auto\n---\ngate: strict", want: "line 3: a second document begins"},
		{user: "---\n---\ngate: strict", want: "line 3: a second document begins"},
		{user: "gate: auto\n---\n---\ngate: strict", want: "line 4: a second document begins"},
		{project: "gate: auto\n...\ngate: strict", want: "line 2: a second document begins"},
		{project: "gate: auto\n...\n{[", want: "line 2: a second"},
		{project: "gate: &g strict\nstages: {po: {gate: *g}}", want: "line 1: anchors (&), aliases (*) and merges (<<) are not read"},
		{project: "gate: &unused strict", want: "line 1: anchors"},
		{user: "stages:\n  po: {gate: auto}\n  sm: {<<: {gate: strict}}", want: "line 3: anchors"},
		{user: "<<: [{gate: strict}]", want: "line 1: anchors"},
		{user: "projects: {a: /tmp}", want: "projects takes a value, not a block"},
		{user: "checks:\n  a: go vet", want: "checks takes a value, not a block"},
		{user: "sources: {a: b}", want: "sources takes a value, not a block"},
		{user: "stages: {po: {gate: {mode: strict}}}", want: "stages.po.gate takes a value, not a block"},
		{user: "gates: {po: strict}", want: "unknown key \"gates\", did you mean gate?"},
		{user: "model: ~", want: "model \"\" is not the name"},
		{user: "approvers: [ann, null]", want: "approvers \"ann,\" does not name accounts"},
		{user: "Gate: strict", want: "unknown key \"Gate\", did you mean gate?"},
		{user: "gate: str\xffict", want: "line 1: it is not a text in UTF-8"},
		{project: "# caf\xe9\ngate: strict", want: "line 1: it is not a text in UTF-8"},
		{project: "g\x00a\x00", want: "line 1: it is not a text in UTF-8"},
		{project: "gate = strict", want: "line 1: expected a block of key: value lines"},
		{user: "replies: loud", want: "config.yaml, line 1: replies"},
		{env: "BMAD_PO_GATE_SCORE=high", want: "environment variable BMAD_PO_GATE_SCORE: stages.po.gate_score \"high\""},
		{env: "BMAD_PO_GATESCORE=90", want: "environment variable BMAD_PO_GATESCORE: unknown key \"gatescore\""},
		{env: "BMAD_REPLIES=loud", want: "environment variable BMAD_REPLIES"},
		{project: "replies: full # " + strings.Repeat("x", 70000), want: "at most 65536 are read"},
	}
	const both = "the environment variables BMAD_GATE and BMAD_Gate set the same"
	if _, err := load(t, "", "", "BMAD_GATE=strict", "BMAD_Gate=auto"); err == nil || err.Error() != both || len(langtest.English(fault.From(err).In("zh"))) > 0 {
		t.Errorf("got %v, want %q", err, both)
	}
	for _, tt := range tests {
		_, err := load(t, tt.project, tt.user, tt.env)
		if !fault.Is(err, fault.InvalidArgument) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q%q%q: got %v, want %q", tt.project, tt.user, tt.env, err, tt.want)
		}
		if found := langtest.English(fault.From(err).In("zh"), "did not find expected"); len(found) > 0 {
			t.Errorf("%q%q%q: English in Chinese: %q", tt.project, tt.user, tt.env, found)
		}
	}
}

// TestFormsOfAFile checks that a file counts as a whole, in whichever form an editor saves it.
func TestFormsOfAFile(t *testing.T) {
	t.Parallel()
	wide := func(order binary.AppendByteOrder) (out string) {
		for _, r := range utf16.Encode([]rune("\ufeffgate: strict\nquorum: 2\n")) {
			out += string(order.AppendUint16(nil, r))
		}
		return out
	}
	for name, text := range map[string]string{
		"plain": "gate: strict\nquorum: 2\n", "CRLF": "gate: strict\r\nquorum: 2\r\n", "a BOM": "\ufeffgate: strict\nquorum: 2\n",
		"UTF-16, little": wide(binary.LittleEndian), "UTF-16, big": wide(binary.BigEndian), "JSON": `{"gate": "strict", "quorum": 2}`,
		"marks around": "---\ngate: strict\nquorum: 2\n---\n", "the end marked": "gate: strict\nquorum: 2\n...\n", "tabs behind": "gate:\tstrict\t\nquorum: 2\n",
		"dotted": "gate: strict\nquorum: 2\nstages.po.gate: strict\n", "lists of one": "gate: [strict]\nquorum: [2]\n",
	} {
		c, err := load(t, "", text)
		po := c.Under(workflow.Default()).Stages[0]
		if err != nil || po.Policy().Gate != workflow.GateStrict || po.Policy().Quorum != 2 {
			t.Errorf("%s: %v, %v", name, po, err)
		}
	}
	for name, text := range map[string]string{"empty": "", "blank": " \n\n", "a remark": "# gate: strict\n", "null": "null\n", "marks": "---\n---\n"} {
		if c, err := load(t, "", text); err != nil || len(c.Ignored) > 0 {
			t.Errorf("%s: %v, %v", name, c.Ignored, err)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("stages:\n  po: {gate_score: 85, engines: [claude]}\nreplies: lean\n")
	f.Add("a: &x [*x]\nb: *x")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) < 2000 {
			_, _ = load(t, text, "")
		}
	})
}

// TestRulesForPeople checks that each source can only narrow who lets a stage pass, and that a stage which nobody could
// let pass is an error that names all lists.
func TestRulesForPeople(t *testing.T) {
	for name, tt := range map[string]struct {
		user, project string
		environ       []string
		want          string // approvers, four_eyes, quorum
		ignored       string
		err           string
	}{
		"unset":          {want: " false 0"},
		"of all stages":  {project: "approvers: [ann, bob]\nfour_eyes: true\nquorum: 2\n", want: "ann bob true 2"},
		"of one stage":   {user: "approvers: [ann]\nquorum: 3\nstages: {po: {approvers: bob, quorum: 2}}\n", want: "bob false 2"},
		"variables":      {environ: []string{"BMAD_APPROVERS=ann, bob", "BMAD_PO_FOUR_EYES=true", "BMAD_PO_QUORUM=2"}, want: "ann bob true 2"},
		"narrower":       {user: "approvers: [ann, bob]\n", project: "approvers: [bob, cat]\nquorum: 2\n", want: "bob false 2", ignored: "approvers bob, cat"},
		"looser":         {user: "four_eyes: true\nquorum: 3\n", project: "four_eyes: false\nquorum: 2\n", want: " true 3", ignored: "four_eyes false"},
		"looser in one":  {user: "approvers: [ann, bob]\nfour_eyes: true\nquorum: 3\n", project: "stages: {po: {approvers: [ann, bob, cat], four_eyes: false, quorum: 1}}\n", want: "ann bob true 3", ignored: "approvers ann, bob, cat"},
		"own exception":  {user: "four_eyes: true\nstages: {po: {four_eyes: false}}\n", want: " false 0"},
		"nobody":         {user: "approvers: [ann]\n", project: "approvers: [bob, cat]\n", err: "no account is among all of its approvers, ann (bmad-mcp/config.yaml); bob, cat (.claude/bmad-task.yaml)"},
		"nobody, either": {user: "approvers: [ann]\n", environ: []string{"BMAD_PO_APPROVERS=eve"}, err: "ann (bmad-mcp/config.yaml); eve (BMAD_*)"},
		"no name":        {project: "approvers: []\n", err: "does not name accounts"},
		"a long name":    {project: "approvers: [" + strings.Repeat("a", 101) + "]\n", err: "does not name accounts"},
		"the longest":    {project: "approvers: [" + strings.Repeat("a", 100) + "]\n", want: strings.Repeat("a", 100) + " false 0"},
		"too many":       {project: "quorum: 21\n", err: `quorum "21" is not a whole number from 1 to 20`},
		"a name twice":   {project: "approvers: [ann, ann]\n", err: "each once"},
		"not a truth":    {project: "four_eyes: two\n", err: `four_eyes "two" is not one of true, false`},
		"no quorum":      {project: "quorum: 0\n", err: `quorum "0" is not a whole number from 1 to 20`},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, tt.project, tt.user, tt.environ...)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("got %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			st, _ := c.Under(workflow.Default()).Stage(workflow.PO)
			p := st.Policy()
			if got := strings.TrimPrefix(strings.Join(p.Approvers, " "), " ") + fmt.Sprintf(" %v %d", p.Watched(), p.Quorum); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			var ignored []string
			for _, text := range c.Ignored {
				ignored = append(ignored, text.String())
			}
			if text := strings.Join(ignored, "; "); !strings.Contains(text, tt.ignored) || tt.ignored == "" && text != "" {
				t.Errorf("ignored: %q, want %q", text, tt.ignored)
			}
		})
	}
}
