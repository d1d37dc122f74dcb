//go:build linux

package main

// row is a thing that is measured.
type row struct {
	name, unit, about string
	goal              float64 // the most that it should be, with bare the most times of what the bare server takes
	// once is true if the value is the same each time, or takes long; large if it takes minutes.
	once, large bool
	// bare is true if the yardstick is the bare server.
	bare    bool
	measure func(*bench, string) (float64, error)
	// yardstick measures the yardstick beside it; nil if a ratio to that means nothing.
	yardstick func(*bench, string) (float64, error)
}

var rows = []row{
	{name: "start", unit: "ms", about: "start of a server to its answer to initialize, processor", goal: 8, measure: startTime, yardstick: life},
	{name: "bare-start", unit: "ms", about: "the same beside a bare server of the protocol's library", goal: 1.6, bare: true, measure: startTime, yardstick: startTime},
	{name: "http-list", unit: "ms", about: "a list of tools over HTTP, 50 clients, processor", goal: 3, bare: true, measure: httpCall("tools/list", nil), yardstick: bareCall("tools/list", nil)},
	{name: "http-status", unit: "ms", about: "a status over HTTP, 50 clients, processor", goal: 5, bare: true,
		measure:   httpCall("tools/call", map[string]any{"name": "bmad-task", "arguments": map[string]any{"action": "status"}}),
		yardstick: bareCall("tools/call", map[string]any{"name": "status", "arguments": map[string]any{}})},
	{name: "hook", unit: "ms", about: "a call of the hook of Claude Code, processor", goal: 8, measure: hookTime, yardstick: life},
	{name: "hook-share", unit: "", about: "such a call, of a start of a server", goal: 0.7, measure: hookShare},
	{name: "first-run", unit: "ms", about: "first run of a process, processor", goal: 100, measure: firstRun, yardstick: work},
	{name: "warm-run", unit: "ms", about: "a later run, processor", goal: 60, measure: warmRun, yardstick: work},
	{name: "idle", unit: "MB", about: "memory of a server that has listed its tools", goal: 24, measure: memory(0, "VmRSS"), yardstick: waiting},
	{name: "idle-anonymous", unit: "MB", about: "of the memory of such a server, not a part of files", goal: 5, measure: memory(0, "RssAnon")},
	{name: "one-run", unit: "MB", about: "memory right after one run", goal: 44, once: true, measure: memory(1, "VmRSS"), yardstick: waiting},
	{name: "one-run-anonymous", unit: "MB", about: "of the memory right after one run, not a part of files", goal: 18, once: true, measure: memory(1, "RssAnon")},
	{name: "runs", unit: "MB", about: "memory right after 14 runs", goal: 48, once: true, measure: memory(14, "VmRSS"), yardstick: waiting},
	{name: "runs-anonymous", unit: "MB", about: "of the memory right after 14 runs, not a part of files", goal: 22, once: true, measure: memory(14, "RssAnon")},
	{name: "rested", unit: "MB", about: "memory 6 s after 14 runs", goal: 40, once: true, measure: restedMemory(14, "VmRSS"), yardstick: waiting},
	{name: "rested-anonymous", unit: "MB", about: "of the memory 6 s after 14 runs, not a part of files", goal: 18, once: true, measure: restedMemory(14, "RssAnon")},
	{name: "runs-peak", unit: "MB", about: "most memory during 14 runs", goal: 48, once: true, measure: memory(14, "VmHWM"), yardstick: waiting},
	{name: "pause", unit: "ms", about: "a pause of 6 s after a run, in which memory is given back, processor", goal: 8, once: true, measure: pauseTime, yardstick: life},
	{name: "calls", unit: "", about: "system calls of an action, median", goal: 250, once: true, measure: systemCalls(50)},
	{name: "most-calls", unit: "", about: "system calls of an action, most", goal: 330, once: true, measure: systemCalls(100)},
	{name: "size", unit: "MB", about: "the program, without symbols", goal: 32, once: true, measure: size, yardstick: size},
	{name: "packed", unit: "MB", about: "the program, gzip", goal: 12.5, once: true, measure: packed, yardstick: packed},
	{name: "run-bytes", unit: "kB", about: "replies of a run with a clarification and a rework", goal: 48, once: true, measure: runBytes},
	{name: "lean-run", unit: "", about: "lean replies of the same run, in bytes beside the others", goal: 0.92, once: true, measure: leanRun},
	{name: "recall", unit: "ms", about: "first recall of a process among 10,000 notes, processor", goal: 100, measure: firstRecall, yardstick: work},
	{name: "doctor", unit: "s", about: "doctor with 20,000 sessions, processor", goal: 8, once: true, large: true, measure: doctor(false), yardstick: workSeconds},
	{name: "doctor-peak", unit: "MB", about: "doctor with 20,000 sessions, memory at its peak", goal: 60, once: true, large: true, measure: doctor(true), yardstick: waiting},
	{name: "list", unit: "ms", about: "list of 100,000 sessions, warm", goal: 25, once: true, large: true, measure: list, yardstick: work},
	{name: "build", unit: "s", about: "go build after a change of internal/workflow", goal: 3.3, large: true, measure: build},
}
