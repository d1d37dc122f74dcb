//go:build nomermaid

package dashboard

const drawsDiagrams = false

func diagramFile(string) (data []byte, kind string, packed bool) { return nil, "", false }
