package mcpserver

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxList is the size in bytes that no list of resources, prompts or tools exceeds.
const maxList = 19_000

// pageOf returns the page of a list that begins after a cursor, and the cursor of the next.
// The list is in the order of its names; a cursor is the last name of a page, as the library
// has it, so that a list that has changed meanwhile goes on where it was.
func pageOf[T any](all []T, cursor mcp.Cursor, name func(T) string) ([]T, mcp.Cursor) {
	slices.SortStableFunc(all, func(a, b T) int { return strings.Compare(name(a), name(b)) })
	if last, err := base64.StdEncoding.DecodeString(string(cursor)); err == nil && cursor != "" {
		all = slices.DeleteFunc(all, func(v T) bool { return name(v) <= string(last) })
	}
	size := 0
	for n, v := range all {
		data, err := json.Marshal(v)
		if size += len(data) + 1; err == nil && size > maxList && n > 0 {
			return all[:n], mcp.Cursor(base64.StdEncoding.EncodeToString([]byte(name(all[n-1]))))
		}
	}
	if all == nil {
		all = []T{}
	}
	return all, ""
}
