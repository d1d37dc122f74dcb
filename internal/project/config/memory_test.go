package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/lang"
)

func TestMemorySettings(t *testing.T) {
	for _, c := range []struct {
		name, user, project string
		environ             []string
		want                string // memory, the servers
		ignored, wrong      string
	}{
		{name: "nothing", want: "auto   "},
		{name: "the person's", user: "memory: on\nmemory_embeddings: http://localhost:11434/v1/  m  https://q:6333\n",
			want: "on http://localhost:11434/v1 m https://q:6333"},
		{name: "variables", environ: []string{"BMAD_MEMORY=off", "BMAD_MEMORY_EMBEDDINGS=http://h/v1"}, want: "off http://h/v1  "},
		{name: "a project may switch it off", user: "memory: on\n", project: "memory: off\n", want: "off   "},
		{name: "not on", project: "memory: on\n", want: "auto   ", ignored: "memory on of .claude/bmad-task.yaml does not count"},
		{name: "nor a server", project: "memory_embeddings: http://attacker.example/v1 m http://attacker.example\n", want: "auto   ", ignored: "memory_embeddings http://attacker.example/v1"},
		{name: "unknown", user: "memory: yes\n", wrong: `line 1: memory "yes" is not one of auto, on, off`},
		{name: "no address", user: "memory_embeddings: localhost:11434\n", wrong: "memory_embeddings is not the address of a server"},
		{name: "a model of two words", user: "memory_embeddings: http://h/v1 a b\n", want: "auto http://h/v1 a b "},
		{name: "a server alone", user: "memory_embeddings: http://h/v1\n", want: "auto http://h/v1  "},
		{name: "a database without a server", user: "memory_embeddings: m http://q:6333\n", wrong: "memory_embeddings is not the address of a server"},
		{name: "nothing named", user: "memory_embeddings:\n", wrong: "memory_embeddings is not the address of a server"},
		{name: "with a password", environ: []string{"BMAD_MEMORY_EMBEDDINGS=http://h/v1 m http://me:secret@q:6333"}, wrong: "memory_embeddings is not the address of a server"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := load(t, c.project, c.user, c.environ...)
			if c.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), c.wrong) || strings.Contains(err.Error(), "secret") {
					t.Errorf("%v, want %s", err, c.wrong)
				}
				return
			}
			if text := fmt.Sprintf("%v %s %s %s", got.Memory, got.MemoryEmbeddings, got.EmbeddingModel, got.MemoryQdrant); err != nil || text != c.want {
				t.Errorf("%q, %v; want %q", text, err, c.want)
			}
			if text := lang.Join(got.Ignored, "\n").String(); !strings.Contains(text, c.ignored) || c.ignored == "" && text != "" {
				t.Errorf("not counted: %s; want %s", text, c.ignored)
			}
		})
	}
}
