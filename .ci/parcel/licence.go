package main

import (
	"fmt"
	"regexp"
	"strings"
)

// licences are those that a library may have, told by words that every copy of the text has. The
// first that fits counts.
var licences = []struct {
	id    string
	words []string
}{
	{"MPL-2.0", []string{"Mozilla Public License Version 2.0"}},
	{"Apache-2.0", []string{"Apache License", "Version 2.0, January 2004"}},
	{"ISC", []string{"Permission to use, copy, modify, and/or distribute this software", "ISC"}},
	{"MIT", []string{"Permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "Neither the name"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "may not be used to endorse"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}},
	{"0BSD", []string{"Permission to use, copy, modify, and/or distribute this software"}},
}

var space = regexp.MustCompile(`\s+`)

// licenceOf returns the SPDX id of a text. A text that is unknown fails the release, since it may ask
// for what the packages do not do.
func licenceOf(text string) (string, error) {
	plain := space.ReplaceAllString(text, " ")
next:
	for _, l := range licences {
		for _, words := range l.words {
			if !strings.Contains(plain, words) {
				continue next
			}
		}
		return l.id, nil
	}
	return "", fmt.Errorf("unknown licence: %.80q", plain)
}
