package recall_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/recall"
)

func keys(hits []recall.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.Key)
	}
	return out
}

// TestSearch checks that each query finds the one note that has it in another form.
func TestSearch(t *testing.T) {
	x := built([]recall.Doc{
		{Key: "deploy", Text: "Le déploiement de la semaine passée a échoué"},
		{Key: "identifier", Text: "retry in getUserById when the cache is cold"},
		{Key: "path", Text: "the rule is in src/auth/token_store.go:42"},
		{Key: "chinese", Text: "測試資料庫需要預熱"},
		{Key: "tag", Text: "we settled on plan B", Extra: []string{"ledger", "billing-core"}},
		{Key: "version", Text: "broken since 2.14.1 of the ORM"},
		{Key: "wide", Text: "ＧＰＵ　quota was raised"},
		{Key: "ligature", Text: "Œuvres d'art et cœur"},
		{Key: "cyrillic", Text: "Ошибка при запуске сервера"},
		{Key: "homophone", Text: "部署之前要先检查磁盘"},
	})
	for query, want := range map[string]string{
		"deployed": "deploy", "deployements": "deploy", "rollout": "deploy", "mises en production": "deploy", "semaines passees": "deploy",
		"get_user_by_id": "identifier", "GetUserByID": "identifier", "user by id": "identifier", "cahce": "identifier", "réessayer": "identifier",
		"token_store": "path", "tokenStore": "path", "token store": "path", "src/auth": "path",
		"数据库": "chinese", "測試": "chinese", "test database": "chinese", "base de données": "chinese",
		"ledgers": "tag", "billingCore": "tag", "2.14.1": "version", "gpu": "wide", "oeuvre": "ligature", "coeur": "ligature", "сервера": "cyrillic",
		"部属": "homophone",
	} {
		if got := keys(x.Search(query, 3, nil)); len(got) == 0 || got[0] != want {
			t.Errorf("%q: got %v, want %s first", query, got, want)
		}
	}
	for _, query := range []string{"", "  ", "?!", "zzzzzz", "\xff\xfe"} {
		if hits := x.Search(query, 3, nil); len(hits) != 0 {
			t.Errorf("%q: got %+v, want nothing", query, hits)
		}
	}
}

// TestNamesAndNumbers checks that short names count though they are written as words without a meaning, and that a
// number belongs to the word before it.
func TestNamesAndNumbers(t *testing.T) {
	x := built([]recall.Doc{
		{Key: "go", Text: "Go 1.24 is the least version, because of the test of generics."},
		{Key: "ci", Text: "The CI must finish within ten minutes."},
		{Key: "2fa", Text: "2FA by app only, since codes by SMS were stolen."},
		{Key: "e2e", Text: "e2e tests run at night"},
		{Key: "ai", Text: "AI features are off by default."},
		{Key: "get", Text: "A GET request never changes a row."},
		{Key: "it", Text: "The laptops belong to IT, not to the team."},
		{Key: "s4", Text: "Sprint 4: the scanner went live, with feedback of 7 couriers.", Time: 1},
		{Key: "s7", Text: "Sprint 7: the invoices were postponed, since 4 of 6 people were ill.", Time: 2},
		{Key: "s12", Text: "Sprint #12 - the map was rewritten, see story 3.2", Time: 3},
		{Key: "story", Text: "story 3.1 adds the login, story 2.3 the logout", Time: 4},
		{Key: "plan", Text: "Plan B is the second supplier.", Time: 5},
		{Key: "plan-c", Text: "Plan C is a loan.", Time: 6},
		{Key: "zh4", Text: "冲刺4：扫描上线", Time: 7},
		{Key: "zh7", Text: "冲刺 7：发票推迟，4人生病", Time: 8},
	})
	for query, want := range map[string]string{
		"go": "go", "go version": "go", "Go 1.24": "go", "which version of Go": "go", "ci": "ci", "CI": "ci", "is the ci slow": "ci", "2fa": "2fa", "2FA": "2fa",
		"E2E": "e2e", "e2e": "e2e", "ai": "ai", "AI": "ai", "may we use AI": "ai", "GET": "get", "who owns IT": "it",
		"sprint 4": "s4", "sprint 7": "s7", "Sprint #4": "s4", "sprint-4": "s4", "sprint4": "s4", "what happened in sprint 12?": "s12", "sprint 12": "s12",
		"story 3.1": "story", "story 3.2": "s12", "plan b": "plan", "plan C": "plan-c", "冲刺4": "zh4", "冲刺 7": "zh7", "冲刺7": "zh7",
	} {
		got := x.Search(query, 3, nil)
		if len(got) == 0 || got[0].Key != want || got[0].Weak() {
			t.Errorf("%q: got %+v, want %s first, and close", query, got, want)
		}
	}
}

func TestSearchKeepsBeforeItCuts(t *testing.T) {
	var docs []recall.Doc
	for i := range 50 {
		docs = append(docs, recall.Doc{Key: fmt.Sprint(i), Text: "invoice " + strings.Repeat("invoice ", 50-i), Time: int64(i)})
	}
	x := built(docs)
	even := func(key string) bool { return strings.HasSuffix(key, "8") }
	for _, limit := range []int{-1, 0, 1, 3, 100} {
		got := x.Search("invoices", limit, even)
		if want := max(0, min(limit, 5)); len(got) != want {
			t.Errorf("limit %d: got %d hits, want %d", limit, len(got), want)
		}
		for _, h := range got {
			if !even(h.Key) {
				t.Errorf("limit %d: %s was not to be kept", limit, h.Key)
			}
		}
	}
}

func TestTheLaterOfEqualsIsFirst(t *testing.T) {
	x := built([]recall.Doc{{Key: "a", Text: "use postgres", Time: 1}, {Key: "c", Text: "use postgres", Time: 3}, {Key: "b", Text: "use postgres", Time: 3}})
	if got := keys(x.Search("postgres", 5, nil)); !reflect.DeepEqual(got, []string{"b", "c", "a"}) {
		t.Errorf("got %v, want the later ones first, and those of one time by their key", got)
	}
}

// TestDropLeavesNothing checks that, after puts, replacements and drops, an index answers as one that
// was built of the remaining documents.
func TestDropLeavesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pool := append(distractors(200), judgedNotes(t, "testdata")...)
	x := recall.New(recall.Builtin())
	left := map[string]recall.Doc{}
	for range 1500 {
		d := pool[r.IntN(len(pool))]
		if r.IntN(3) == 0 {
			x.Drop(d.Key)
			delete(left, d.Key)
			continue
		}
		d.Text += " " + pool[r.IntN(len(pool))].Text
		x.Put(d)
		left[d.Key] = d
	}
	again := recall.New(recall.Builtin())
	for _, d := range left {
		again.Put(d)
	}
	if x.Len() != len(left) {
		t.Fatalf("the index has %d documents, want %d", x.Len(), len(left))
	}
	for _, q := range judgedQueries(t, "testdata") {
		got, want := x.Search(q.text, 10, nil), again.Search(q.text, 10, nil)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %v, want %v", q.text, got, want)
		}
	}
	for key := range left {
		x.Drop(key)
	}
	x.Drop("unknown")
	if hits := x.Search("payment cache 数据库", 5, nil); len(hits) != 0 || x.Len() != 0 {
		t.Errorf("an empty index found %v", hits)
	}
}

func TestSimilar(t *testing.T) {
	x := built(append(distractors(500), judgedNotes(t, "testdata")...))
	for _, d := range judgedNotes(t, "testdata") {
		hits := x.Similar(d.Text+" ", 3, 0.85, nil)
		if len(hits) == 0 {
			t.Errorf("%s is not similar to itself", d.Key)
		}
		for _, h := range hits {
			if h.Cosine < 0.85 || h.Cosine > 1 {
				t.Errorf("%s: the cosine of %s is %v", d.Key, h.Key, h.Cosine)
			}
		}
		if all := x.Similar(d.Text, 1000, 0.01, nil); len(all) < 2 || all[0].Cosine < all[len(all)-1].Cosine {
			t.Errorf("%s: got %d similar notes at 0.01, want more, the closest first", d.Key, len(all))
		}
	}
	edited := "Stripe sends payment_intent.succeeded twice, so the handler must be idempotent on event.id, or customers get two confirmation mails"
	if got := keys(x.Similar(edited, 3, 0.85, nil)); !reflect.DeepEqual(got, []string{"t03"}) {
		t.Errorf("got %v, want the note with other punctuation", got)
	}
	if got := x.Similar("a plan for the garden", 3, 0.85, nil); len(got) != 0 {
		t.Errorf("got %v, want nothing", got)
	}
	if got := x.Similar(edited, 3, 0.85, func(string) bool { return false }); len(got) != 0 {
		t.Errorf("got %v, want nothing to be kept", got)
	}
}

// TestReadersShare checks that searches at the same time have the results of each alone.
func TestReadersShare(t *testing.T) {
	x := built(append(distractors(200), judgedNotes(t, "testdata")...))
	queries := judgedQueries(t, "testdata")[:40]
	want := make([][]recall.Hit, len(queries))
	for i, q := range queries {
		want[i] = x.Search(q.text, 5, nil)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i, q := range queries {
				if got := x.Search(q.text, 5, nil); !reflect.DeepEqual(got, want[i]) {
					t.Errorf("%q: got %v, want %v", q.text, got, want[i])
				}
				x.Relevant(q.text, 5, nil)
				x.Similar(q.text, 5, 0.5, nil)
			}
		})
	}
	wg.Wait()
}

// FuzzIndex checks that no text breaks the index, that every document is found by its own words if it
// has any, and that a document that is dropped leaves no trace.
func FuzzIndex(f *testing.F) {
	for _, s := range []string{"", "getUserById", "déploiement", "測試資料庫", "a_b-c/d.e", "\xff\x00", "ﬁn İstanbul ß", "👩‍💻 コード ก็", "１２３ 1.2.3", strings.Repeat("aB_", 300), "e\u0301\u0301", "comment"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		x := recall.New(recall.Builtin())
		x.Put(recall.Doc{Key: "other", Text: "payment cache 数据库"})
		before := x.Search("payment cache 数据库", 3, nil)
		x.Put(recall.Doc{Key: "note", Text: text, Extra: []string{query}})
		for _, h := range append(append(x.Search(query, 3, nil), x.Relevant(query, 3, nil)...), x.Similar(query, 3, 0.5, nil)...) {
			if !(h.Score > 0 && h.Coverage >= 0 && h.Coverage <= 1 && h.Cosine >= 0 && h.Cosine <= 1) {
				t.Errorf("%q in %q: %+v", query, text, h)
			}
		}
		if hits := x.Similar(text, 3, 0.9, func(key string) bool { return key == "note" }); query == "" && len(hits) == 0 && len(x.Similar(text, 3, 0, nil)) > 0 {
			t.Errorf("%q is not similar to itself", text)
		}
		x.Drop("note")
		if after := x.Search("payment cache 数据库", 3, nil); !reflect.DeepEqual(after, before) {
			t.Errorf("%q left %v, want %v", text, after, before)
		}
	})
}

// FuzzParseLexicon checks that every line is a concept, a problem, or skipped, and that the lexicon
// can be used.
func FuzzParseLexicon(f *testing.F) {
	for _, s := range []string{"en|a|invoice\tfr|facture\tzh|发票", "# c\n\nen|x", "en|\tfr|", "zz|ok|ко\n|", "\xff", "en|the of\tzh|的"} {
		f.Add([]byte(s), "invoice 发票")
	}
	f.Fuzz(func(t *testing.T, tsv []byte, query string) {
		l, problems := recall.ParseLexicon(tsv)
		lines := strings.Count(string(tsv), "\n") + 1
		if l.Concepts()+len(problems) > lines {
			t.Errorf("%d concepts and %d problems of %d lines", l.Concepts(), len(problems), lines)
		}
		x := recall.New(l)
		x.Put(recall.Doc{Key: "note", Text: string(tsv)})
		x.Search(query, 3, nil)
	})
}
