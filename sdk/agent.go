package sdk

// AgentInfo describes an agent in a list.
type AgentInfo struct {
	// ID is the agent's name in the method, for example "pm" or "bmad-agent-pm".
	ID string `json:"id"`
	// Name is the name of the agent's person, Title the role.
	Name  string `json:"name,omitempty"`
	Title string `json:"title,omitempty"`
	Icon  string `json:"icon,omitempty"`
	// WhenToUse describes the agent's purpose.
	WhenToUse string   `json:"when_to_use,omitempty"`
	Module    string   `json:"module,omitempty"`
	Aliases   []string `json:"aliases,omitempty"`
	// Source names the origin: "project", "user", "root", or the name of a folder.
	Source string `json:"source"`
}

// Agent is an agent of an installation, with the project's customization.
type Agent struct {
	AgentInfo
	Persona Persona `json:"persona"`
	// Commands are the items of the agent's menu.
	Commands []Command `json:"commands,omitempty"`
	// Files are the paths of the agent's own files.
	Files []string `json:"files,omitempty"`
}

// Persona is the character of an agent.
type Persona struct {
	Role       string   `json:"role,omitempty"`
	Style      string   `json:"style,omitempty"`
	Identity   string   `json:"identity,omitempty"`
	Focus      string   `json:"focus,omitempty"`
	Principles []string `json:"core_principles,omitempty"`
	// Activation has the first instructions.
	Activation []string `json:"activation_instructions,omitempty"`
}

// Command is an item of an agent's menu.
type Command struct {
	Code        string `json:"code"`
	Description string `json:"description"`
}
