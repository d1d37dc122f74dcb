package recall_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/recall"
)

func TestSearch(t *testing.T) {
	x := recall.New(recall.Builtin())
	x.Put(recall.Doc{Key: "a", Text: "Le déploiement de la semaine passée a échoué"})
	x.Put(recall.Doc{Key: "b", Text: "retry in getUserById when the cache is cold"})
	x.Put(recall.Doc{Key: "c", Text: "测试数据库需要预热"})
	for query, want := range map[string]string{
		"deployed": "a", "deployements": "a", "rollout": "a", "get_user_by_id": "b", "cahce": "b", "数据库": "c", "資料測試": "c", "testing": "c",
	} {
		hits := x.Search(query, 3, nil)
		if len(hits) == 0 || hits[0].Key != want {
			t.Errorf("%q: got %+v, want %s first", query, hits, want)
		}
	}
	x.Drop("a")
	if hits := x.Search("rollout", 3, nil); len(hits) != 0 {
		t.Errorf("a dropped document was found: %+v", hits)
	}
}
