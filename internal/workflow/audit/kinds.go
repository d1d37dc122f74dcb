package audit

import (
	"maps"
	"slices"
)

// kind is one way of checking.
type kind struct {
	// keys are the parameters besides the common ones, needs the required ones.
	keys, needs []string
	// whats are the values of "what", if the kind has this key; an empty one if it may be left out.
	whats []string
	// worded marks a kind that goes by words of English and Chinese; of the kind "has", some whats do.
	worded bool
	// find returns what is missing or wrong; nil if nothing is.
	find func(check, *document) *miss
}

// kinds are the possible checks of a rubric.
var kinds = map[string]kind{
	"section":      {worded: true, keys: []string{"name", "also", "ids", "what", "figures_in"}, needs: []string{"name"}, whats: contents, find: findSection},
	"figures":      {worded: true, keys: []string{"name", "also", "what", "figures_in"}, needs: []string{"name"}, whats: contents, find: findFigures},
	"placeholders": {keys: []string{"words"}, find: findPlaceholders},
	"copied":       {keys: []string{"words"}, needs: []string{"words"}, find: findCopied},
	"criteria":     {worded: true, find: findStoriesWithoutCriteria},
	"vague":        {worded: true, keys: []string{"words"}, needs: []string{"words"}, find: findVague},
	"phrases":      {worded: true, keys: []string{"words"}, needs: []string{"words"}, find: findPhrases},
	"unique":       {keys: []string{"ids"}, needs: []string{"ids"}, find: findDuplicates},
	"trace":        {keys: []string{"ids", "from", "only", "through", "alone"}, needs: []string{"ids", "from"}, find: findUntraced},
	"questions":    {worded: true, keys: []string{"name", "also"}, needs: []string{"name"}, find: findOpenQuestions},
	"counts":       {worded: true, find: findWrongCounts},
	"tests":        {worded: true, find: findContradictedTests},
	"short":        {keys: []string{"min"}, needs: []string{"min"}, find: findShort},
	"sprints":      {find: findNoSprints},
	"sprint":       {worded: true, keys: []string{"words"}, needs: []string{"words"}, find: findSprintsWithout},
	"sprint_story": {worded: true, keys: []string{"what"}, needs: []string{"what"}, whats: []string{"any", "acceptance", "size"}, find: findSprintStories},
	"has":          {keys: []string{"what"}, needs: []string{"what"}, whats: []string{"commands", "files", "results", "specifics", "priorities", "ids", "findings"}, find: findHas},
	"filler":       {keys: []string{"what", "at", "full"}, needs: []string{"what", "at"}, whats: []string{"placeholder", "jargon", "announced"}, find: findFiller},
	"objective":    {keys: []string{"at", "full"}, find: findOffObjective},
}

// retired are kinds that no longer find anything, but that projects' rubrics may still have.
var retired = setOf([]string{"disowned", "echoed", "evidence", "gibberish", "instructed", "places", "repeated", "restated", "templated"})

func kindNames() []string { return slices.Sorted(maps.Keys(kinds)) }
