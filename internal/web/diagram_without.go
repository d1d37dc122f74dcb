//go:build nomermaid

package web

const drawsDiagrams = false

func diagramFile(string) (data []byte, kind string, packed bool) { return nil, "", false }
