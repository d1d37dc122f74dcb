// Package conformance has the fixtures of the MCP conformance suite: the tools, prompts and
// resources that it looks for by name. Only a build with the tag conformance has them.
package conformance
