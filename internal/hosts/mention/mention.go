// Package mention finds the calls of an assistant that name this program with a decision, or write to its records.
// It imports little, so that it is initialised before the libraries of the program.
package mention

import (
	"encoding/json"
	"path"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

// A shell command is judged by its words, not by a shell's reading of them: it is held up if it names this
// program with a word of a decision, or a record of a run with a program that can write. A name put together by
// the command, or read from a file, is not seen. The server holds the gates either way, and signs its records.

// IsShell reports whether a tool runs commands.
func IsShell(tool string) bool { return tool == "Bash" || tool == "PowerShell" || tool == "Monitor" }

// Command returns the command of a shell tool, without quotes and the ends of continued lines, which a shell
// takes out.
func Command(input json.RawMessage) string {
	var call struct {
		Command string `json:"command"`
	}
	_ = json.Unmarshal(input, &call) // without a command there is nothing to judge
	return unquoted.Replace(call.Command)
}

var unquoted = strings.NewReplacer("\\\r\n", "", "\\\n", "", "`\n", "", `\`, "", `'`, "", `"`, "", "`", " ")

var (
	// parts separates the commands of a line, as far as they show.
	parts = pattern.New(`[;&|\n(){}]+`)
	// assignments matches the variables before a program.
	assignments = pattern.New(`^(?:\s*\w+=\S*\s)*\s*`)
	// decision matches a word of a decision for the person.
	decision = pattern.New(`(?i)(?:^|[^\w./-])(?:confirm(?:_save)?|approved?|reject|reopen|cancel|answer|adopt|allow|decide)(?:[^\w./-]|$)`)
	// unknownAction matches a command of this program whose action a shell puts in.
	unknownAction = pattern.New(`(?i)bmad-mcp\S*[ \t]+(?:task[ \t]+)?\S*[$*?\[]`)
	// harmless matches a command of this program without a decision, whatever words follow, and the help of
	// one.
	harmless = pattern.New(`(?i)^(?:(?:timeout \S+|env|time)\s+)?\S*bmad-mcp\S*(?:\s+--(?:json|cwd[= ]\S+))*\s+(?:` +
		`(?:agents?|audit|check|completion|demo|diff|doctor|gc|graph|help|install|log|memory|method|report|search|sessions|show|signer|` +
		`sources|status|sync|version|workflows|serve)(?:\s|$)|task\s+(?:start|submit|status|resume|--help)(?:\s|$)|\w+\s+--help\s*$|allow --list\s*$)`)
	// quoting matches programs for the search and storage of texts, which may speak of a decision.
	quoting = pattern.New(`^(?:git (?:commit|log|grep|tag)|gh|grep|egrep|rg|ag|ps|pkill)\b`)
	// running matches the options by which one of these runs a command.
	running = pattern.New(`\s(?:--pre|-O|--open-files-in-pager|alias)`)
	// submitsInShell matches a command to hand in a draft.
	submitsInShell = pattern.New(`(?i)bmad-mcp[^;&|\n]*\btask\b[^;&|\n]*\bsubmit\b`)
)

// Submits reports whether a command hands in a draft.
func Submits(command string) bool { return submitsInShell.MatchString(command) }

// Nothing reports whether a call of a tool, before or after it, changes nothing of a turn, and may be made in any.
func Nothing(event, tool string, input json.RawMessage, program string) bool {
	if event != "PreToolUse" && event != "PostToolUse" || ChangesState(tool, input) {
		return false
	}
	command := Command(input)
	return IsWriter(tool) || IsShell(tool) && !Decides(command, program) && !Submits(command)
}

// Decides reports whether a command mentions a decision of the person. program is the path of this program, which
// may have another name.
func Decides(command, program string) bool {
	var rest []string // the parts not known to be harmless
	for _, part := range parts.Split(command, -1) {
		part = assignments.ReplaceAllStringFunc(part, func(set string) string { return strings.TrimLeft(set, " \t") })
		plain := strings.TrimSpace(assignments.ReplaceAllString(part, ""))
		if !harmless.MatchString(plain) && (!quoting.MatchString(plain) || running.MatchString(plain)) {
			rest = append(rest, part)
		}
	}
	text := strings.Join(rest, "\n")
	return mentionsProgram(text, program) && (decision.MatchString(text) || unknownAction.MatchString(text))
}

// mentionsProgram reports whether a text names this program. The folders of files do not count.
func mentionsProgram(text, program string) bool {
	if program != "" && strings.Contains(text, program) {
		return true
	}
	for _, word := range fields.Split(text, -1) {
		if canStandFor(path.Base(word), "bmad-mcp") {
			return true
		}
	}
	return strings.Contains(strings.ToLower(ourFolders.ReplaceAllString(text, "")), "bmad")
}

var ourFolders = pattern.New(`(?i)\.bmad-(?:task|core|method)(?:/\S*)?`)

// StateFolder holds the runs of a project, and the WorkFolder in it the drafts, which people and assistants
// edit.
const (
	StateFolder = ".bmad-task"
	WorkFolder  = "work"
)

// ownRecord matches the name of a file written by this program only. It has no folder, because a command may
// run in any.
var ownRecord = pattern.New(`(?i)^(session-[0-9a-f-]{8,}|task-mapping(-\d+)?)\.json$`)

// personsState matches a path of the person's own state, outside the projects.
var personsState = pattern.New(`(?i)(^|/)\.local/state/bmad-mcp(/|$)`)

// isState reports whether a path, or a match of its wildcards, is a record of this program.
func isState(name string) bool {
	if name == "" {
		return false
	}
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	parts := strings.Split(strings.ToLower(name), "/")
	for i, part := range parts {
		if canStandFor(part, StateFolder) {
			return i+1 == len(parts) || !canStandFor(parts[i+1], WorkFolder) || strings.ContainsAny(parts[i+1], wildcards)
		}
	}
	return ownRecord.MatchString(path.Base(name)) || personsState.MatchString(name)
}

const wildcards = "*?["

// canStandFor reports whether a part of a path is a name, or can stand for it. Wildcards with fewer than two
// other characters stand for anything, which is not a mention.
func canStandFor(part, name string) bool {
	if len(strings.Map(func(r rune) rune {
		if strings.ContainsRune(wildcards, r) {
			return -1
		}
		return r
	}, part)) < 2 {
		return false
	}
	same, err := path.Match(part, name)
	return err == nil && same
}

// IsWriter reports whether a tool writes a file.
func IsWriter(tool string) bool {
	return tool == "Edit" || tool == "Write" || tool == "MultiEdit" || tool == "NotebookEdit"
}

// ChangesState reports whether a tool's call writes to the records of this program.
func ChangesState(tool string, input json.RawMessage) bool {
	if IsWriter(tool) {
		var file struct {
			Path     string `json:"file_path"`
			Notebook string `json:"notebook_path"`
		}
		_ = json.Unmarshal(input, &file)
		return isState(file.Path) || isState(file.Notebook)
	}
	return IsShell(tool) && shellChanges(Command(input))
}

var (
	// readers matches programs that only read their files, and the words of a shell around them.
	readers = pattern.New(`^(?:do|then|else|if|while|!|\s)*(?:\[+|ag|base64|basename|bat|cat|cd|cksum|cmp|column|comm|cut|diff|dirname|done|du|echo|egrep|` +
		`fi|file|find|fold|for|gh|git (?:add|blame|diff|log|ls-files|show|status)|grep|head|hexdump|jq|less|ls|md5sum|mkdir|more|od|paste|printf|pushd|pwd|` +
		`readlink|realpath|rg|sha1sum|sha256sum|sort|stat|strings|tail|test|tr|tree|type|uniq|wc|which|xxd|\S*bmad-mcp\S*)(?:\s|$)`)
	// changers matches the options by which a reader changes files after all.
	changers = pattern.New(`\s-(?:delete|exec|execdir|ok|okdir|fprintf?|fls)\b|\s--output\b|^(?:less|sort|tree)\b.*\s-\w*[oO]|^xxd\b.*\s-\w*r|^uniq\s+(?:-\S+\s+)*[^-\s]\S*\s+\S`)
	// intoFolder matches the options by which cp gets its target first.
	intoFolder = pattern.New(`\s(?:-\w*t|--target)`)
	// writes matches a redirection, with the target.
	writes = pattern.New(`(?:&>>?|>>?\|?|<>)\s*(\S+)`)
	// fields separates the words of a command, and the names in the text of a program.
	fields = pattern.New(`[\s=<>|;&(){},:]+`)
)

// shellChanges reports whether a command mentions the records beside a program, or a redirection, that can
// write.
func shellChanges(command string) bool {
	inside := false // of the folder of the records, or of a variable with one
	for _, part := range parts.Split(command, -1) {
		plain := strings.TrimSpace(assignments.ReplaceAllString(part, ""))
		names := inside || mentionsState(part)
		if names && canWrite(plain, inside) {
			return true
		}
		for _, to := range writes.FindAllStringSubmatch(part, -1) {
			unknown := strings.HasPrefix(to[1], "$") && mentionsState(command)
			beside := inside && !strings.HasPrefix(to[1], "/dev/")
			if isState(to[1]) || unknown || beside {
				return true
			}
		}
		inside = inside || names && entering.MatchString(plain)
	}
	return false
}

// entering matches a command after which the next ones can change a record without the name of it.
var entering = pattern.New(`^(?:(?:cd|pushd|for)\s|$)`)

// canWrite reports whether a command with the name of a record, or run among them, can change one. A copy of
// the records to another place changes nothing of them.
func canWrite(command string, inside bool) bool {
	words := strings.Fields(command)
	switch {
	case len(words) == 0:
		return false
	case words[0] == "cp":
		target := words[len(words)-1]
		return inside || isState(target) || intoFolder.MatchString(command) || strings.ContainsAny(target, "$"+wildcards)
	}
	return !readers.MatchString(command) || changers.MatchString(command)
}

// mentionsState reports whether a text names a record.
func mentionsState(text string) bool {
	for _, word := range fields.Split(text, -1) {
		if isState(word) {
			return true
		}
		if at := strings.Index(word, StateFolder+"/"); at >= 0 && isState(word[at:]) {
			return true
		}
	}
	return false
}
