package config_test

import "testing"

// TestWhoChoosesTheReplies: a project may choose their form if the person has not.
func TestWhoChoosesTheReplies(t *testing.T) {
	for _, tt := range []struct {
		project, user string
		environ       []string
		want          string
	}{
		{"", "", nil, "full"},
		{"replies: lean\n", "", nil, "lean"},
		{"replies: lean\n", "replies: full\n", nil, "full"},
		{"replies: full\n", "replies: lean\n", nil, "lean"},
		{"replies: full\n", "", []string{"BMAD_REPLIES=lean"}, "lean"},
	} {
		c, err := load(t, tt.project, tt.user, tt.environ...)
		if err != nil || c.Replies != tt.want {
			t.Errorf("project %q, user %q, %v: got %q, %v; want %q", tt.project, tt.user, tt.environ, c.Replies, err, tt.want)
		}
	}
	if _, err := load(t, "replies: short\n", ""); err == nil {
		t.Error("a form that does not exist was taken")
	}
}

// TestWhoChoosesTheLanguage: people are spoken to as they have said, not as a project says; the
// documents of a project are in the language of its file.
func TestWhoChoosesTheLanguage(t *testing.T) {
	for _, tt := range []struct {
		project, user       string
		environ             []string
		language, documents string
	}{
		{"", "", nil, "auto", "auto"},
		{"language: zh\ndocument_language: zh\n", "", nil, "zh", "zh"},
		{"language: zh\n", "language: en\n", nil, "en", "auto"},
		{"language: zh\n", "language: auto\n", nil, "auto", "auto"},
		{"document_language: zh\n", "document_language: en\n", nil, "auto", "zh"},
		{"language: en\n", "language: en\n", []string{"BMAD_LANGUAGE=zh", "BMAD_DOCUMENT_LANGUAGE=en"}, "zh", "en"},
	} {
		c, err := load(t, tt.project, tt.user, tt.environ...)
		if err != nil || c.Language != tt.language || c.DocumentLanguage != tt.documents {
			t.Errorf("project %q, user %q, %v: got %q, %q, %v; want %q, %q", tt.project, tt.user, tt.environ, c.Language, c.DocumentLanguage, err, tt.language, tt.documents)
		}
	}
	if _, err := load(t, "language: fr\n", ""); err == nil {
		t.Error("a language without a catalogue was taken")
	}
}
