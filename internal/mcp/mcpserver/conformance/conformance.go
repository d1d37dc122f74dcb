// Package conformance has the fixtures of the MCP conformance suite: tools, prompts and resources with the
// names that the suite expects. Only a build with the tag conformance has them.
package conformance
