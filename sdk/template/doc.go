// Package template writes documents by templates of the BMAD method, version 4: YAML files with sections.
//
// [Start] prepares an agent for a document, [Job.Estimate] has its highest cost, and [Job.Run] writes it: a
// call of the model for a section, or for neighbours with short instructions. The answers are typed, and the program
// writes the headings: their text and order are the template's, whatever the model says. A section without a text is
// asked for once more, and then stands in the document, and in the [Result], as open.
//
// Sections with elicit are put to the person as questions of the conversation, with their draft, unless NoQuestions is
// set or workflow.mode is not interactive. The work is saved with the conversation after each call: [Open] goes on in
// any process.
//
// # Invariants
//
//   - Each heading of the template is in the document, in order, and none of its level is the model's (TestEveryForm,
//     FuzzText).
//   - A section that was answered and saved is not paid again (TestKilledAtEachStep, TestLimit).
//   - No template makes the work endless: size, depth, aliases, sections and items are bounded (TestParse,
//     TestTooManyItems).
package template
