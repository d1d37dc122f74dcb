package engine

// Ready opens the project of a request and reports the first setting, prompt file or
// rubric that would keep an action from being done.
func (e *Engine) Ready(req Request) error {
	p, err := e.home(req)
	if err != nil {
		return err
	}
	defer p.close()
	if err := p.checkPrompts(); err != nil {
		return err
	}
	for _, st := range p.cfg.Workflow.Stages {
		if _, _, err := p.rubric(st.ID, e.trust); err != nil {
			return err
		}
	}
	return nil
}
