// Command parcel makes the parts of a release for which a shell has no portable tool. The same
// input gives the same bytes. .ci/package calls it:
//
//	parcel archive OUT NAME=FILE...    a .tar, .tar.gz or .zip, by the ending of OUT
//	parcel papers DIR VERSION PROGRAM...  licences of what is in the programs, and a bill of materials
//	parcel manual PROGRAM DIR          a manual page for each command, from the program's own help
//	parcel fill TEMPLATE OUT SUMS KEY=VALUE...  a text with values and checksums filled in
package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "parcel:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	least := map[string]int{"archive": 3, "papers": 4, "manual": 3, "fill": 4}
	if len(args) == 0 || least[args[0]] == 0 || len(args) < least[args[0]] {
		return errors.New("see the comment of .ci/parcel/main.go for its arguments")
	}
	switch args[0] {
	case "archive":
		return archive(args[1], args[2:])
	case "papers":
		return papers(args[1], args[2], args[3:])
	case "manual":
		return manual(args[1], args[2])
	default:
		return fill(args[1], args[2], args[3], args[4:])
	}
}

// epoch returns the time that everything in a package has: SOURCE_DATE_EPOCH, in seconds.
func epoch() (time.Time, error) {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
