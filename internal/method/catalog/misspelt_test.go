package catalog_test

import (
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/method/catalog"
)

// TestSearchForgivesMistakes: words that are nearly right find the items that they mean.
func TestSearchForgivesMistakes(t *testing.T) {
	c := project(t, "v6-files")
	for query, want := range map[string]string{
		"analist": "bmm/analyst", "aanlyst": "bmm/analyst", "anlyst": "bmm/analyst", "dev-stori": "bmm/dev-story", "buziness analst": "bmm/analyst", "dev-stry": "bmm/dev-story", "create prdd": "bmm/create-prd",
	} {
		found := false
		hits := c.Search(query)
		for _, hit := range hits {
			found = found || hit.Full() == want
		}
		if !found {
			t.Errorf("%q finds %v, not %s", query, hits, want)
		}
	}
	if hits := c.Search("qqqqzzzz", catalog.Agent); len(hits) != 0 {
		t.Errorf("nothing like it finds %v", hits)
	}
}
