package mcpserver

import "testing"

// TestFilePath reads roots as clients of every system write them, on any system.
func TestFilePath(t *testing.T) {
	for _, c := range []struct{ uri, system, want string }{
		{"file:///home/ana/shop", "linux", "/home/ana/shop"},
		{"file://localhost/home/ana/shop", "darwin", "/home/ana/shop"},
		{"file:///home/ana/my%20shop/%E5%95%86%E5%BA%97", "linux", "/home/ana/my shop/商店"},
		{"file:///C:/Users/ana/shop", "linux", "/C:/Users/ana/shop"},
		{"file://server/share", "linux", ""},
		{"file:relative", "linux", ""},

		{"file:///C:/Users/ana/shop", "windows", `C:\Users\ana\shop`},
		{"file:///c%3A/Users/ana/my%20shop", "windows", `c:\Users\ana\my shop`},
		{"file:///D:/", "windows", `D:\`},
		{"file://server/share/shop", "windows", `\\server\share\shop`},
		{"file:///home/ana", "windows", ""},
		{"file:///C:", "windows", ""},
		{"file:///C:shop", "windows", ""},

		{"https://example.com/x", "linux", ""},
		{"/home/ana", "linux", ""},
		{"%", "linux", ""},
		{"", "windows", ""},
	} {
		if got := filePath(c.uri, c.system); got != c.want {
			t.Errorf("%s on %s: %q, want %q", c.uri, c.system, got, c.want)
		}
	}
}
