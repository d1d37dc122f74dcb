package engine

// Ready opens the project of a request and reports the first setting, prompt file or
// rubric that would keep an action from being done.
func (e *Engine) Ready(req Request) error {
	p, err := e.home(req)
	if err != nil {
		return err
	}
	defer p.Close()
	for _, w := range p.Config.Workflows {
		if err := w.Err(); err != nil {
			return err
		}
		if err := p.CheckPrompts(w.Definition); err != nil {
			return err
		}
		for _, st := range w.Definition.Stages {
			if _, _, err := p.rubric(w.Definition, st, e.trust); err != nil {
				return err
			}
		}
	}
	return nil
}
