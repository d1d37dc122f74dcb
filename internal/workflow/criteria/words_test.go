package criteria

import "testing"

func TestWrongLists(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(){
		"a list twice":    func() { readLists("x: a\ny: b\nx: c\n") },
		"an unknown list": func() { words("words of nobody") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("nothing was said")
				}
			}()
			read()
		})
	}
}
