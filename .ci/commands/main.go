// Command commands prints the page of the site with the help of every command.
package main

import (
	"log"
	"os"

	"github.com/bmad-mcp/bmad-mcp/internal/cli"
)

func main() {
	if err := cli.WriteCommandReference(os.Stdout); err != nil {
		log.Fatal(err)
	}
}
