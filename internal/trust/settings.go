package trust

import (
	"context"
	"slices"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
	"github.com/bmad-mcp/bmad-mcp/internal/workflow"
)

// A person's key signs under the settings of the first signature. A variable can lead a program to other settings
// with loose rules of the gates, and a file of a project can set the variable: a step under them is refused.

var settings = list[Settings]{"settings.json", "settings", lang.T("it is not known under which settings the key signs"), lang.T("the settings of the next step count")}

// Settings is a folder of settings under which the key signs.
type Settings struct {
	// Folder has no links.
	Folder string `json:"folder"`
}

// SignerUnder is Signer for a program with the settings in a folder. It is an error if the key has signed under
// others, and the person has not accepted these.
func (u UserState) SignerUnder(ctx context.Context, folder string) (workflow.Signer, error) {
	known, err := settings.readList(u)
	if err != nil {
		return nil, err
	}
	if other := otherSettings(known, folder); other != "" {
		return nil, fault.New(fault.NotAllowed, "the settings are in %s, and those under which the key has signed are in %s", folder, other).
			WithHint("if these are yours, say so by bmad-mcp allow, at a terminal; else correct XDG_CONFIG_HOME")
	}
	signer, err := u.Signer(ctx)
	if err == nil && len(known) == 0 {
		err = u.UseSettings(ctx, folder)
	}
	return signer, err
}

// OtherSettings returns the folder of the settings under which the key signs, if it is not the given one; "" if it is, or
// if there is none yet.
func (u UserState) OtherSettings(folder string) (other string, err error) {
	known, err := settings.readList(u)
	return otherSettings(known, folder), err
}

func otherSettings(known []Settings, folder string) string {
	if len(known) == 0 || slices.Contains(known, Settings{PathOf(folder)}) {
		return ""
	}
	return known[len(known)-1].Folder
}

// UseSettings has the key sign under the settings in a folder, too.
func (u UserState) UseSettings(ctx context.Context, folder string) error {
	return u.withFolder(func(d dir) error {
		return settings.change(ctx, d, func(list []Settings) ([]Settings, error) {
			if one := (Settings{PathOf(folder)}); !slices.Contains(list, one) {
				list = append(list, one)
			}
			return list, nil
		})
	})
}
