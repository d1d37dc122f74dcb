// Command house measures the source of this module: how long its files, functions and lines are, how
// much they branch, how wide its types are, whether the files of a package lean on each other in one
// direction, and how large its wings are. It prints a table and fails if a limit of limits.go is broken.
//
// Run it from the top of the module: go run ./.ci/house
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func main() {
	if err := run(".", os.Stdout); err != nil { //nolint:forbidigo // the table is for the terminal
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

// run measures the module in dir, prints the table, and returns the limits that are broken.
func run(dir string, out io.Writer) error {
	f, err := measure(dir)
	if err != nil {
		return err
	}
	gauges := limits.gauges(f)
	return errors.Join(f.print(out, gauges), limits.check(f), checkAll(gauges))
}
