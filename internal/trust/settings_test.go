package trust_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/fault"
	"github.com/bmad-mcp/bmad-mcp/internal/trust"
)

// TestSettings checks that the key signs under the settings with which it has signed first, and under those of which the
// person has said that they count.
func TestSettings(t *testing.T) {
	ctx, root := context.Background(), t.TempDir()
	u := trust.UserState(filepath.Join(root, "state"))
	own, other := filepath.Join(root, "config"), filepath.Join(root, "other")
	signs := func(folder string) error {
		_, err := u.SignerUnder(ctx, folder)
		return err
	}
	if err := signs(own); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := signs(other); !fault.Is(err, fault.NotAllowed) {
			t.Errorf("other settings: %v", err)
		}
	}
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	if err := signs(filepath.Join(root, "link")); err != nil {
		t.Errorf("the same folder by a link: %v", err)
	}
	if err := u.UseSettings(ctx, other); err != nil {
		t.Fatal(err)
	}
	if signs(other) != nil || signs(own) != nil {
		t.Error("settings of which the person has said that they count")
	}
	if err := os.WriteFile(filepath.Join(string(u), "settings.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := signs(own); !fault.Is(err, fault.Storage) {
		t.Errorf("a broken list: %v", err)
	}
}
