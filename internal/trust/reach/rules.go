package reach

import (
	_ "embed"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

// Way is the reason why a folder may be usable.
type Way int

const (
	// Opened is a folder opened by the person in their host, or as the server's working folder.
	Opened Way = iota
	// Known is a project in which a session was started before.
	Known
	// Listed is a folder added by the person at a terminal or in their own settings.
	Listed
	// Asked is a folder named by an assistant and allowed by the person in a form.
	Asked
)

// Rules exclude folders, some of them in every way. They judge paths only: a missing folder is judged as if it
// existed.
type Rules struct {
	homes    []string
	homeKeys []key
	kept     []kept
}

// kept is a folder with other contents than projects.
type kept struct {
	path, why string
	key       key
	// itself is true if it stands for the folder only, not for the folders below it.
	itself bool
	// own is true if the environment names the folder. A folder above it may be a project,
	// because a variable can name any folder.
	own bool
}

// keptText lists the kept folders; its head explains the format.
//
//go:embed kept.txt
var keptText string

// keptAnywhere has the names of folders with credentials at any place, keptInHome the paths of such folders in a
// home.
var keptAnywhere, keptInHome = readKept(keptText)

func readKept(text string) (anywhere map[string]string, inHome []kept) {
	anywhere = map[string]string{}
	for line := range strings.Lines(text) {
		path, why, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok || strings.HasPrefix(path, "#") {
			continue
		}
		name, everywhere := strings.CutPrefix(path, "*/")
		if everywhere {
			anywhere[strings.ToLower(name)] = why
		}
		name, itself := strings.CutPrefix(name, "=")
		inHome = append(inHome, kept{path: name, why: why, itself: itself})
	}
	return anywhere, inHome
}

// variables names the variables to move a folder of the home elsewhere.
var variables = map[string]string{
	"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share", "XDG_STATE_HOME": ".local/state", "XDG_CACHE_HOME": ".cache",
	"APPDATA": "AppData/Roaming", "LOCALAPPDATA": "AppData/Local",
	"GNUPGHOME": ".gnupg", "DOCKER_CONFIG": ".docker", "AZURE_CONFIG_DIR": ".azure", "GH_CONFIG_DIR": ".config/gh",
	"CLOUDSDK_CONFIG": ".config/gcloud", "PASSWORD_STORE_DIR": ".password-store", "PULUMI_HOME": ".pulumi",
}

// systems are folders of the system that are never a project, guarded the ones that count only if the person works
// in them.
var (
	systems = map[string]lang.Text{"/proc": lang.T("it is the system's view of its processes"), "/sys": lang.T("it is the system's view of its devices")}
	guarded = map[string]lang.Text{
		"/dev": lang.T("it holds devices"), "/etc": lang.T("it holds the settings of the system"), "/private/etc": lang.T("it holds the settings of the system"),
		"/run/user": lang.T("it holds what programs keep while they run"), "/run/secrets": lang.T("it holds secrets"), "/boot": lang.T("it holds the system"),
	}
)

// homeFolders returns the homes of the person: from the environment, in which a project can have set it, and from
// their account.
func homeFolders() []string {
	var out []string
	add := func(home string) {
		if filepath.IsAbs(home) && !slices.Contains(out, filepath.Clean(home)) {
			out = append(out, filepath.Clean(home))
		}
	}
	if home, err := os.UserHomeDir(); err == nil {
		add(home)
	}
	if account, err := user.Current(); err == nil {
		add(account.HomeDir)
	}
	return out
}

// NewRules returns the rules for a person with these homes, by default the homes of this process's account, and an
// environment in the form of os.Environ.
func NewRules(homes, environ []string) Rules {
	if homes == nil {
		homes = homeFolders()
	}
	var r Rules
	below := make([]key, len(keptInHome)) // in any home
	for i, k := range keptInHome {
		below[i] = keyOf(k.path)
	}
	for _, home := range homes {
		for _, home := range pathAndTarget(home) {
			if home == filepath.Dir(home) {
				continue // an account without a home: everything lies below /
			}
			of := keyOf(home)
			r.homes, r.homeKeys = append(r.homes, home), append(r.homeKeys, of)
			for i, k := range keptInHome {
				k.path, k.key = filepath.Join(home, filepath.FromSlash(k.path)), of+below[i]
				r.kept = append(r.kept, k)
			}
		}
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		place, named := variables[name]
		if !named || !filepath.IsAbs(value) {
			continue
		}
		for _, value := range pathAndTarget(value) {
			for _, k := range keptInHome {
				if rest, below := strings.CutPrefix(k.path+"/", place+"/"); below {
					path := filepath.Join(value, filepath.FromSlash(rest))
					r.kept = append(r.kept, kept{path: path, key: keyOf(path), why: k.why, itself: k.itself, own: true})
				}
			}
		}
	}
	return r
}

// pathAndTarget returns a path, and the path without links if it is another one.
func pathAndTarget(path string) []string {
	path = filepath.Clean(path)
	if real := followLinks(path); real != path {
		return []string{path, real}
	}
	return []string{path}
}

// Judge returns the reason why a folder named in a way may not be used, or an empty text if it may. The path is
// absolute and clean, and has no links if it comes from Real.
func (r Rules) Judge(folder string, by Way) lang.Text {
	if why := r.neverReason(folder); !why.Empty() {
		return why
	}
	if by == Asked && r.isHidden(folder) {
		return lang.T("it lies in a hidden folder of the home folder, where programs keep their settings")
	}
	if by == Asked || by == Listed {
		return systemFolder(folder, guarded)
	}
	return lang.Text{}
}

// neverReason returns the reason why a folder may not be used in any way, or an empty text.
func (r Rules) neverReason(folder string) lang.Text {
	if filepath.Dir(folder) == folder {
		return lang.T("it is the root of the disk")
	}
	at := keyOf(folder)
	for _, home := range r.homeKeys {
		if at == home {
			return lang.T("it is the home folder itself")
		}
		if home.isBelow(at) {
			return lang.T("it holds the home folder")
		}
	}
	for part := range strings.SplitSeq(string(at), "/") {
		if why := keptAnywhere[part]; why != "" {
			return lang.T("%s are kept there", phrase(why))
		}
	}
	for _, k := range r.kept {
		switch {
		case at == k.key, !k.itself && at.isBelow(k.key):
			return lang.T("it is where this is kept: %s", phrase(k.why))
		case !k.itself && !k.own && k.key.isBelow(at):
			return lang.T("it holds a folder where this is kept: %s", phrase(k.why))
		}
	}
	return systemFolder(folder, systems)
}

// phrase returns the text of a line of kept.txt.
func phrase(why string) lang.Text { return lang.T(why) }

func systemFolder(folder string, of map[string]lang.Text) lang.Text {
	at := keyOf(folder)
	if runtime.GOOS == "windows" {
		windows := os.Getenv("SystemRoot")
		if windows == "" {
			return lang.Text{}
		}
		if k := keyOf(windows); at == k || at.isBelow(k) {
			return lang.T("it holds the system")
		}
		return lang.Text{}
	}
	for name, why := range of {
		if k := keyOf(name); at == k || at.isBelow(k) {
			return why
		}
	}
	return lang.Text{}
}

// documents are folders below hidden ones in which people keep their own files.
var documents = []string{"Library/Mobile Documents", "Library/CloudStorage"}

// isHidden reports whether a folder lies in a hidden one of a home, which is for programs.
func (r Rules) isHidden(folder string) bool {
	at := keyOf(folder)
	for n, home := range r.homeKeys {
		if !at.isBelow(home) {
			continue
		}
		isDocument := slices.ContainsFunc(documents, func(name string) bool {
			return at.isBelow(keyOf(filepath.Join(r.homes[n], filepath.FromSlash(name))))
		})
		first, _, _ := strings.Cut(string(at[len(home)+1:]), "/")
		forPrograms := strings.HasPrefix(first, ".") || first == "library" || first == "appdata"
		if forPrograms && !isDocument {
			return true
		}
	}
	return false
}
