package engine

// Ready opens the project of a request and reports the first setting or prompt file
// that would keep every action from being done.
func (e *Engine) Ready(req Request) error {
	p, err := e.home(req)
	if err != nil {
		return err
	}
	defer p.close()
	return p.checkPrompts()
}
