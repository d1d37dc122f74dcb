// Package workflow holds the rules of a run, as pure values and functions: it
// reads no clock, no file and no network.
//
// A [Definition] is the ordered list of stages, as data. A [Stage] is a role with its
// kind, its engines, its gate and the name of its artifact. A [Session] is one run for one
// objective, with a copy of its definition; its [State] is that of the current stage. A caller
// requests an [Action]; its outcome is an [Event], fired on the one transition table in
// machine.go; the step taken is a [Transition], kept in the session's history.
package workflow
