package process

import (
	"strings"
	"testing"
)

func TestEnviron(t *testing.T) {
	t.Parallel()
	in := "PATH=/b GIT_DIR=/r GIT_INDEX_FILE=/i git_work_tree=/w GIT_AUTHOR_NAME=ana BMAD_GATE=relay CLAUDECODE=1 CLAUDE_CODE_SESSION_ACCESS_TOKEN=t CLAUDE_CODE_OAUTH_TOKEN=mine CODEX_HOME=/c ANTHROPIC_API_KEY=k"
	const want = "PATH=/b GIT_AUTHOR_NAME=ana CLAUDE_CODE_OAUTH_TOKEN=mine CODEX_HOME=/c ANTHROPIC_API_KEY=k"
	if got := strings.Join(Environ(strings.Fields(in)), " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
