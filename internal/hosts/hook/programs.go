package hook

import (
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/pattern"
)

var (
	// harmless are our subcommands that decide nothing for the person.
	harmless = words(`agents audit completion demo diff doctor gc graph help install log method read search sessions show
		sources status resume tasks uninstall version workflows serve`)
	// harmlessActions are those of our subcommand task.
	harmlessActions = words("start submit status resume help")
	// decisions are our subcommands, and the actions of task, that may decide.
	decisions = words("adopt allow answer approve cancel confirm confirm_save reject reopen task")
	// flagsWithValue are our flags that take the next word.
	flagsWithValue = words("--cwd --toolsets --stage --claude-result --claude-result-path --codex-result --codex-result-path")
)

// Programs that are known to run their arguments or input, and programs that are known not to.
var (
	// inert are programs that never run their arguments.
	inert = words(`: [ ag base64 basename bat bg cat cd chmod cksum cmp column comm cp cut date df diff dirname disown du echo
		egrep exit expr false fg fgrep file find fmt fold gh git grep head hexdump id jobs jq kill killall less ln ls md5sum mkdir more mv
		od paste pkill popd printenv printf ps pushd pwd read readlink realpath return rg rm rmdir sed sha1sum sha256sum shift
		shopt sleep sort stat strings tail tac tee test touch tr tree true type uname uniq unset wait wc whereis which whoami xxd yq`)
	// shells run a script: their argument after -c, a file, or their input.
	shells = words("ash bash dash fish ksh sh zsh")
	// languages do so with programs in languages of their own.
	languages = words("awk bun deno gawk lua mawk node osascript perl php powershell powershell.exe pwsh python python2 python3 ruby tclsh")
	// takingScripts run one of their arguments as a shell would.
	takingScripts = words("alias at batch eval expect flock parallel runuser screen script ssh su tmux trap watch")
	// takingInput run their input.
	takingInput = words("at batch crontab parallel")
	// wrappers run the program that their arguments name, or a file.
	wrappers = words(`. builtin busybox chroot cmd cmd.exe command csh docker doas env exec fish ionice nice nohup nsenter podman
		rlwrap setsid source stdbuf strace sudo tcsh time timeout unshare wsl xargs`)
	// makers are programs that print another text than they read.
	makers = words(`awk base32 base64 basenc bunzip2 curl cut dd echo envsubst fold gawk gpg gunzip iconv jq m4 mawk nc openssl paste
		printf rev sed tr uudecode wget xxd xz xzcat yq zcat`)
	// settingVariables are builtins that set the variables that they name.
	settingVariables = words("getopts mapfile printf read readarray")
	// gitVerbs are the commands of git that run none of their arguments.
	gitVerbs = words(`add blame branch checkout commit diff fetch grep log merge mv pull push restore reset rev-parse rm
		show stash status switch tag`)
	// gitTexts are the options of git that take a text, which may look like an option.
	gitTexts = words("-m -F -e")
)

// executor reports whether a program is known to run its arguments, its input or a file.
func executor(name string) bool {
	return shells[name] || languages[name] || takingScripts[name] || takingInput[name] || wrappers[name]
}

var (
	// hands matches the options by which an inert program runs another program after all.
	hands = pattern.New(`^(-exec|-execdir|-ok|-okdir|--pre|--ext-diff|--open-files-in-pager.*|-O.+|--upload-pack.*|--receive-pack.*|--exec.*|-x|-c|!.*)$`)
	// sedRuns matches a script of sed that runs commands.
	sedRuns = pattern.New(`(?:^|[;{}\n\d$/!])\s*e(?:\s|$)|/[gimp0-9]*e[gimp0-9]*\s*(?:$|[;\n}])`)
	// starts matches a program text that starts other programs, evaluates one that evaluates texts,
	// and decodes one that puts texts together.
	starts = pattern.New(`(?i)subprocess|child_process|\bos\.(?:system|popen|exec|spawn|posix_spawn)|\bsystem\b|` +
		`popen|shell_exec|passthru|proc_open|\bqx\b|\bpty\b|open3|execv|(?:^|[^.\w])exec\s*["'(@$]|` +
		`\bdo shell script\b|start-process`)
	evaluates = pattern.New(`(?i)(?:^|[^.\w])(?:exec|eval)\b|__import__|getattr|\bnew function\b|\biex\b|invoke-expression`)
	decodes   = pattern.New(`(?i)base64|b64|fromhex|unhexlify|\[::-1\]|revers|strrev|rot.?13|hex2bin|\bchr\b|` +
		`fromcharcode|\batob\b|\b(?:un)?pack\b|buffer\.from|codecs|substr|\[char\]|-join`)
	// callsValue matches how PowerShell calls a program whose name is a value.
	callsValue = pattern.New(`(?:^|[;|{(\s])[&.]\s*[($]`)
	// encodedCommand matches the option by which PowerShell runs an encoded text.
	encodedCommand = pattern.New(`(?i)\s-e(?:c|nc\w*)?\s+[A-Za-z0-9+/=]{8,}`)
)

// decisionWord matches a text that can decide something.
var decisionWord = pattern.New(`(?i)confirm|approv|reject|reopen|cancel|answer|accept|decline|adopt|\ballow|确认|批准|同意`)

// hides reports whether a program text may do more than it spells out.
func hides(code string) bool {
	runs := starts.MatchString(code)
	switch {
	case encodedCommand.MatchString(code):
		return true
	case runs && decisionWord.MatchString(code):
		return true
	}
	return decodes.MatchString(code) && (runs || evaluates.MatchString(code))
}

// subcommand returns the first word that is not a flag.
func subcommand(args []string) (sub string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch w := args[i]; {
		case w == "":
		case !strings.HasPrefix(w, "-"):
			return w, args[i+1:]
		case flagsWithValue[w]:
			i++
		}
	}
	return "", nil
}

// runsInput reports whether a program, other than a shell, with these arguments runs its input.
func runsInput(base string, args []string) bool {
	operand, _ := subcommand(args)
	switch {
	case base == "xargs":
		return false
	case base == "make":
		return slices.Contains(args, "-")
	case base == "parallel", wrappers[base]:
		return operand == ""
	}
	return takingInput[base]
}

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

// isInert reports whether a program runs none of these arguments.
func isInert(base string, args []string) bool {
	switch base {
	case "git":
		if len(args) == 0 || !gitVerbs[args[0]] {
			return false
		}
	case "sed":
		return !sedRuns.MatchString(strings.Join(args, "\n"))
	case "find", "rg":
	default:
		return inert[base]
	}
	for i, w := range args {
		text := base == "git" && i > 0 && gitTexts[args[i-1]]
		counts := base == "rg" && (w == "-c" || w == "-x")
		if !text && !counts && hands.MatchString(w) {
			return false
		}
	}
	return true
}

func baseName(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	return path[strings.LastIndexByte(path, '/')+1:]
}
