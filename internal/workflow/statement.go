package workflow

// Statement returns the canonical text of a decision about a run, which the person's machine signs: the decision,
// the person and the text, but none of the person's words.
func (g Grant) Statement(session, task string) []byte {
	return canonicalJSON(struct {
		Session   string    `json:"session"`
		Task      string    `json:"task"`
		Stage     StageID   `json:"stage"`
		Decision  Decision  `json:"decision"`
		Subject   string    `json:"subject,omitempty"`
		Name      string    `json:"name,omitempty"`
		Channel   Channel   `json:"channel"`
		Assurance Assurance `json:"assurance"`
		At        string    `json:"at"`
		Revision  int       `json:"revision"`
		SHA256    string    `json:"sha256,omitempty"`
		Policy    GateMode  `json:"policy,omitempty"`
	}{
		session, task, g.Stage, g.Decision, g.Subject, g.Name, g.Channel, g.Assurance, g.At.UTC().Format(timeLayout), g.Revision, g.SHA256, g.Policy,
	})
}

// timeLayout is the layout of times in signed statements.
const timeLayout = "2006-01-02T15:04:05.999999999Z07:00"
