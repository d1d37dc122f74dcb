package mcpserver

import (
	"slices"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// TestWhatWaitsIsListedFirst: a resource that waits for the person is before the others, whatever
// its name, on the first page; the pages together have each once.
func TestWhatWaitsIsListedFirst(t *testing.T) {
	most := 1.0
	long := make([]byte, maxList/3)
	for i := range long {
		long[i] = 'x'
	}
	all := []mcp.Resource{
		{Name: "clock", Description: string(long)}, {Name: "bell", Description: string(long)}, {Name: "door", Description: string(long)},
		{Name: "zoo", Annotated: mcp.Annotated{Annotations: &mcp.Annotations{Priority: &most}}},
		{Name: "alarm", Annotated: mcp.Annotated{Annotations: &mcp.Annotations{LastModified: "2026-01-02T03:04:05Z"}}},
	}
	var got []string
	pages := 0
	for cursor := mcp.Cursor(""); pages == 0 || cursor != ""; pages++ {
		var page []mcp.Resource
		page, cursor = pageOf(slices.Clone(all), cursor, resourceOrder)
		for _, r := range page {
			got = append(got, r.Name)
		}
	}
	if want := []string{"zoo", "alarm", "bell", "clock", "door"}; !slices.Equal(got, want) || pages != 2 {
		t.Errorf("got %v on %d pages, want %v on 2", got, pages, want)
	}
}
