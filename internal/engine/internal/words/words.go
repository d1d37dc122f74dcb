// Package words turns the standing of a session into sentences: the messages that people read,
// the refusals, the notes in histories and documents. Its functions are pure; each topic has one
// file.
//
// It knows neither the names of tools nor those of commands: a standing brings those of the face
// that is in use (standing.Names).
package words
