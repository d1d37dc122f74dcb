package format

// ClassicIdentity is the beginning of the block in an agent's file.
type ClassicIdentity struct {
	Agent struct {
		Name          string `yaml:"name"`
		ID            string `yaml:"id"`
		Title         string `yaml:"title"`
		Icon          string `yaml:"icon"`
		WhenToUse     string `yaml:"whenToUse"`
		Customization string `yaml:"customization"`
	} `yaml:"agent"`
}

// SourceAgentSuffix ends the names of agents as the method's repository has them, before they are
// compiled.
const SourceAgentSuffix = ".agent.yaml"

// SourceAgent is an agent in source form, not compiled.
type SourceAgent struct {
	Agent struct {
		Metadata struct {
			Name         string `yaml:"name"`
			Title        string `yaml:"title"`
			Icon         string `yaml:"icon"`
			Capabilities string `yaml:"capabilities"`
		} `yaml:"metadata"`
		Customization `yaml:",inline"`
	} `yaml:"agent"`
}

// Customization is a file of the project with changes to an agent of version 6.
type Customization struct {
	Agent struct {
		Metadata struct {
			Name  string `yaml:"name"`
			Title string `yaml:"title"`
			Icon  string `yaml:"icon"`
		} `yaml:"metadata"`
	} `yaml:"agent"`
	Persona struct {
		Role       string `yaml:"role"`
		Identity   string `yaml:"identity"`
		Style      string `yaml:"communication_style"`
		Principles any    `yaml:"principles"`
	} `yaml:"persona"`
	Critical any              `yaml:"critical_actions"`
	Memories any              `yaml:"memories"`
	Menu     []map[string]any `yaml:"menu"`
	Prompts  []struct {
		ID      string `yaml:"id"`
		Content string `yaml:"content"`
	} `yaml:"prompts"`
}
