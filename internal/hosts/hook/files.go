package hook

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// stateFolder holds the runs of a project, and its workFolder the drafts, which people and assistants
// edit.
const (
	stateFolder = ".bmad-task"
	workFolder  = "work"
)

// ownRecord matches the name of a file that only this program writes. It has no folder, because a
// command may run in any.
var ownRecord = pattern.New(`(?i)^(session-[0-9a-f-]{8,}|task-mapping(-\d+)?)\.json$`)

// personsState matches a path of the person's own state, outside the projects.
var personsState = pattern.New(`(?i)(^|/)\.local/state/bmad-mcp(/|$)`)

// isState reports whether a path is one of the records that this program keeps.
func isState(name string) bool {
	if name == "" {
		return false
	}
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		if part == stateFolder {
			return i+1 == len(parts) || parts[i+1] != workFolder
		}
	}
	return ownRecord.MatchString(path.Base(name)) || personsState.MatchString(name)
}

// readers are programs that only read the files they are given.
var readers = words(`[ ag base64 basename bat cat cd cksum cmp column comm cut diff dirname du echo egrep fgrep file find fold
	gh git grep head hexdump jq less ls md5sum more od paste printf pushd pwd readlink realpath rg sha1sum sha256sum sort stat strings
	tail tac test tr tree type uniq wc which xxd bmad-mcp bmad-mcp.exe`)

// changers are options by which a reading program changes files after all.
var changers = pattern.New(`^(-delete|-exec|-execdir|-ok|-okdir|-fprintf?|-fls|-o|--output(=.*)?|checkout|restore|clean|rm|mv|stash|reset|apply|-i.*)$`)

// changesState reports whether a tool's call writes to the records that this program keeps.
func changesState(tool string, input json.RawMessage) bool {
	switch tool {
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		var file struct {
			Path     string `json:"file_path"`
			Notebook string `json:"notebook_path"`
		}
		_ = json.Unmarshal(input, &file)
		return isState(file.Path) || isState(file.Notebook)
	}
	return isShell(tool) && shellChangesState(readShell(input))
}

// mentionsState matches a command that may change the records.
var mentionsState = pattern.New(`(?i)bmad-task|session-[0-9a-f*?-]|task-mapping|bmad-mcp/`)

func shellChangesState(command string) bool {
	if !mentionsState.MatchString(quoting.Replace(command)) {
		return false
	}
	file, err := parse(command)
	if err != nil {
		return strings.Contains(command, stateFolder+"/") && strings.ContainsAny(command, ">")
	}
	known := scope{work: new(int), input: func(*syntax.Stmt) (string, bool) { return "", false }}
	known.learn(file)
	changes := false
	syntax.Walk(file, func(n syntax.Node) bool {
		if stmt, ok := n.(*syntax.Stmt); ok {
			changes = changes || known.writesState(stmt)
		}
		return !changes
	})
	return changes
}

// writesState reports whether one command writes to the records: by a redirection, or by naming them
// to a program that does not only read.
func (s *scope) writesState(stmt *syntax.Stmt) bool {
	if slices.ContainsFunc(stmt.Redirs, s.overwrites) {
		return true
	}
	call, ok := stmt.Cmd.(*syntax.CallExpr)
	if !ok || len(call.Args) == 0 {
		return false
	}
	return slices.ContainsFunc(s.expansions(call.Args...), func(args []string) bool { return len(args) > 0 && changesFiles(args) })
}

// changesFiles reports whether a command, as its words, writes to the records.
func changesFiles(args []string) bool {
	base := strings.ToLower(baseName(args[0]))
	switch {
	case ourProgram.MatchString(base), onlyReads(base, args[1:]):
		return false
	case base == "cp" && len(args) > 2: // a copy of the records changes nothing of them
		return isState(args[len(args)-1])
	}
	return slices.ContainsFunc(args[1:], func(w string) bool {
		return isState(strings.TrimPrefix(w, "of=")) || stateInText.MatchString(w) && strings.ContainsAny(w, " ('\"")
	})
}

// overwrites reports whether a redirection writes to the records.
func (s *scope) overwrites(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrAll, syntax.AppAll, syntax.RdrClob, syntax.RdrInOut:
		return slices.ContainsFunc(s.literal(r.Word), isState)
	}
	return false
}

// onlyReads reports whether a program with these arguments changes no file that they name.
func onlyReads(base string, args []string) bool {
	switch {
	case !readers[base]:
		return false
	case slices.Contains([]string{"jq", "grep", "rg", "ls", "test", "["}, base):
		return true
	}
	return !slices.ContainsFunc(args, func(w string) bool {
		alternative := base == "find" && (w == "-o" || strings.HasPrefix(w, "-i"))
		return !alternative && changers.MatchString(w)
	})
}

// stateInText matches a record that a program text names, for example after python -c.
var stateInText = pattern.New(`(?i)\.bmad-task/(session-|task-mapping|names/|locks/|temp/)`)
