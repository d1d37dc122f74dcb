package verify_test

import (
	"flag"
	"os"
	"testing"
)

// TestMain runs more tests at a time than there are processors: they spend their time waiting
// for a command that has to be killed.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "32"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
