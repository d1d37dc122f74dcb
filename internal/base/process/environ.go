package process

import (
	"slices"
	"strings"
)

// marks are the variables that an assistant sets for the programs of its session, its tokens among them.
var marks = []string{
	"AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_PARENT_SESSION_ID", "CLAUDE_CODE_REMOTE",
	"CLAUDE_CODE_SESSION_ACCESS_TOKEN", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_WEBSOCKET_AUTH_FILE_DESCRIPTOR",
	"CLAUDE_PROJECT_DIR", "CODEX_INTERNAL_ORIGINATOR_OVERRIDE", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED", "CODEX_THREAD_ID",
}

// places are the variables by which git names its repository to a hook or an alias: with them, git in another folder
// would work on that repository. Source: git rev-parse --local-env-vars, without the variables for settings.
var places = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_DIR", "GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE",
	"GIT_INTERNAL_SUPER_PREFIX", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_QUARANTINE_PATH", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
}

// Environ returns an environment for a program at work for the person: with their tools, caches and login, but without
// the settings of this server (BMAD_*), without the session of an assistant around it, and without the repository of a
// hook around it.
func Environ(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		name = strings.ToUpper(name) // Windows ignores case
		return strings.HasPrefix(name, "BMAD_") || slices.Contains(marks, name) || slices.Contains(places, name)
	})
}
