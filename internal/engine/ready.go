package engine

// Ready opens the project of a request and reports the first setting, prompt file or
// rubric that would keep an action from being done.
func (e *Engine) Ready(req Request) error {
	p, err := e.home(req)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := p.CheckPrompts(); err != nil {
		return err
	}
	for _, st := range p.Config.Workflow.Stages {
		if _, _, err := p.rubric(st.ID, e.trust); err != nil {
			return err
		}
	}
	return nil
}
