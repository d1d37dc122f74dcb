package web

// icons are the drawings of the pages, on a grid of 16 by 16, for a round pen of 1.5. They have the colour of the
// text around them.
var icons = map[string]string{
	"mark":    "M8 1.75 13.4 4.9v6.2L8 14.25 2.6 11.1V4.9zM5.6 8.1l1.7 1.7 3.1-3.5",
	"search":  "M11.25 7a4.25 4.25 0 1 1-8.5 0 4.25 4.25 0 0 1 8.5 0M10.2 10.2l3.3 3.3",
	"failed":  "M5.4 1.75h5.2l3.65 3.65v5.2l-3.65 3.65H5.4L1.75 10.6V5.4zM6 6l4 4m0-4-4 4",
	"ask":     circle + "M6.2 6.4a1.85 1.85 0 1 1 2.6 1.7c-.5.2-.8.6-.8 1.2M8 11.5v.01",
	"gate":    circle + "M5.3 8.2l1.9 1.9 3.6-4",
	"stopped": circle + "M6.2 6.2h3.6v3.6H6.2z",
	"now":     circle + "M8 6.6a1.4 1.4 0 1 0 0 2.8 1.4 1.4 0 0 0 0-2.8",
	"ring":    circle,
	"warn":    "M8 2.2 14.3 13.3H1.7zM8 6.5v3M8 11.4v.01",
	"clock":   circle + "M8 4.5V8l2.3 1.6",
	"done":    "m3 8.4 3.2 3.2L13 4.6",
	"close":   "m4 4 8 8m0-8-8 8",
	"next":    "m6 3.5 4.5 4.5L6 12.5",
	"back":    "M6 3.5 2.5 7 6 10.5M3 7h6.5a3.75 3.75 0 0 1 0 7.5H8",
	"copy":    "M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z",
	"comment": "M2 3h12v8H7.5L4.5 13.5V11H2z",
	"pen":     "m10.8 2.7 2.5 2.5-7.8 7.8-3.2.7.7-3.2zM9.2 4.3l2.5 2.5",
	"bin":     "M2.5 4.25h11M6 4V2.5h4V4M4 4.5l.6 9h6.8l.6-9M6.75 7v4m2.5-4v4",
	"lines":   "M2.5 4h11M2.5 8h11M2.5 12H9",
	"file":    "M4 1.75h5l3.25 3.25v9.25H4zM8.75 2v3.25H12",
	"folder":  "M1.75 3.5h4.5l1.5 1.75h6.5v7.5H1.75z",
	"play":    "M4.75 3v10l8-5z",
	"plus":    "M8 3v10M3 8h10",
	"bell":    "M3.5 11.5V7a4.5 4.5 0 0 1 9 0v4.5l1 1h-11zM6.6 14.25h2.8",
	"person":  "M10.5 5a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M3 14c.3-3 2.2-4.25 5-4.25S12.7 11 13 14",
	"money":   circle + "M9.9 5.8C9.4 5.2 8.8 5 8 5c-1.1 0-1.9.5-1.9 1.45C6.1 8.5 10 7.5 10 9.5c0 1-.9 1.5-2 1.5-.9 0-1.6-.3-2.1-.9M8 3.9v8.2",
	"signed":  "M6 9.5a3.5 3.5 0 1 1 2.4-2.4l5.1 5.1v1.8h-2.3v-1.7H9.5v-1.7H8.3zM5 5v.01",
	"out":     "M6.5 3H3v10h10V9.5M9 2.5h4.5V7M13.25 2.75 7.5 8.5",
	"key":     "M2 4.5h12v7H2zM4.5 7v.01M8 7v.01m3.5-.01v.01M5 9.5h6",
}

// circle surrounds a drawing.
const circle = "M14.25 8a6.25 6.25 0 1 1-12.5 0 6.25 6.25 0 0 1 12.5 0"
