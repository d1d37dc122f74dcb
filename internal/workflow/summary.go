package workflow

import (
	"encoding/json"
	"time"
)

// Summary is what a list shows of a session. Its fields are those of [Session].
type Summary struct {
	SessionID    string
	TaskName     string
	Objective    string
	CurrentStage StageID
	CurrentState State
	CreatedAt    time.Time
	UpdatedAt    time.Time
	Version      int
	Revision     int
}

// Summary returns the summary of a session.
func (s *Session) Summary() Summary {
	return Summary{s.SessionID, s.TaskName, s.Objective, s.CurrentStage, s.CurrentState, s.CreatedAt, s.UpdatedAt, s.Version, s.Revision}
}

// bareSession and bareRecord are Session and Record without their way of keeping
// unknown keys, which takes several passes over every part of a file. A list needs
// none of that, but must find fault with the same files.
type bareSession struct {
	SessionID      string                         `json:"session_id"`
	TaskName       string                         `json:"task_name"`
	Cwd            string                         `json:"cwd"`
	Objective      string                         `json:"objective"`
	CurrentStage   StageID                        `json:"current_stage"`
	CurrentState   State                          `json:"current_state"`
	Workflow       *Definition                    `json:"workflow"`
	Stages         map[StageID]*bareRecord        `json:"stages"`
	Artifacts      []string                       `json:"artifacts"`
	Sprints        []plainSprint                  `json:"sprints"`
	ReworkCount    int                            `json:"rework_count"`
	CreatedAt      time.Time                      `json:"created_at"`
	UpdatedAt      time.Time                      `json:"updated_at"`
	Version        int                            `json:"version"`
	Revision       int                            `json:"revision"`
	History        []plainTransition              `json:"history"`
	Policy         map[StageID]plainPolicy        `json:"policy"`
	VerifyCommands map[StageID]plainVerifyCommand `json:"verify"`
	Seals          []plainSeal                    `json:"seals"`
}

type bareRecord struct {
	Status          Status             `json:"status"`
	ClaudeResultRef *plainContentRef   `json:"claude_result_ref"`
	CodexResultRef  *plainContentRef   `json:"codex_result_ref"`
	FinalResultRef  *plainContentRef   `json:"final_result_ref"`
	Score           *float64           `json:"score"`
	ClaimedScore    *float64           `json:"claimed_score"`
	EstimatedScore  *float64           `json:"estimated_score"`
	ScoreNote       string             `json:"score_note"`
	Verdict         Verdict            `json:"verdict"`
	Objections      []string           `json:"objections"`
	Findings        []plainFinding     `json:"findings"`
	Criteria        []plainCriterion   `json:"criteria"`
	Resolved        []plainResolution  `json:"resolved"`
	Questions       []plainQuestion    `json:"questions"`
	Asked           []plainQuestion    `json:"asked"`
	Answers         map[string]string  `json:"answers"`
	Gaps            []string           `json:"gaps"`
	Feedback        string             `json:"feedback"`
	Scope           []int              `json:"scope"`
	ApprovedScope   *plainContentRef   `json:"approved_scope"`
	Approved        bool               `json:"approved"`
	Iteration       int                `json:"iteration"`
	Artifact        *plainArtifact     `json:"artifact"`
	Audit           *plainAudit        `json:"audit"`
	Evidence        *plainEvidence     `json:"evidence"`
	Policy          *plainPolicy       `json:"policy"`
	AnswerChannels  map[string]Channel `json:"answer_channels"`
	Progress        *plainProgress     `json:"progress"`
	Needs           string             `json:"needs"`
	WorkTree        string             `json:"work_tree"`
}

// ReadSummary reads the summary from the stored form of a session. It fails where
// decoding the session would.
func ReadSummary(data []byte) (Summary, error) {
	var s bareSession
	if err := json.Unmarshal(data, &s); err != nil {
		return Summary{}, err
	}
	return Summary{s.SessionID, s.TaskName, s.Objective, s.CurrentStage, s.CurrentState, s.CreatedAt, s.UpdatedAt, s.Version, s.Revision}, nil
}
