package render

import (
	"strings"
)

// syntax is how a family of languages writes comments, strings and names.
type syntax struct {
	// names lists the languages, words the keywords, both between blanks.
	names, words string
	// line begins a comment up to the end of the line; blocks has the two ends of longer ones.
	line   []string
	blocks [][2]string
	// quotes begin and end strings of one line, in which a backslash escapes; raw ones go over lines without escapes.
	quotes, raw string
	// after follows the words that are names.
	after string
	// folds reports whether the keywords are written in any case.
	folds bool
}

var (
	slashes = []string{"//"}
	hashes  = []string{"#"}
	stars   = [][2]string{{"/*", "*/"}}
	triple  = [][2]string{{`"""`, `"""`}, {"'''", "'''"}}
)

// syntaxes are the languages with colours; other code has none.
var syntaxes = []syntax{
	{
		names: " go golang ", line: slashes, blocks: stars, quotes: `"'`, raw: "`", after: "(",
		words: " any bool break byte case chan comparable complex128 const continue default defer else error fallthrough false float32 float64 " +
			"for func go goto if import int int16 int32 int64 int8 interface iota map nil package range return rune select string struct " +
			"switch true type uint uint16 uint32 uint64 uint8 uintptr var ",
	},
	{
		names: " js javascript mjs cjs jsx ts typescript tsx ", line: slashes, blocks: stars, quotes: `"'`, raw: "`", after: "(",
		words: " abstract any as async await boolean break case catch class const continue debugger declare default delete do else enum export " +
			"extends false finally for from function get if implements import in infer instanceof interface keyof let namespace never new " +
			"null number of private protected public readonly return satisfies set static string super switch this throw true try type " +
			"typeof undefined unknown var void while with yield ",
	},
	{
		names: " java kotlin kt scala groovy cs csharp c# swift dart php ", line: slashes, blocks: stars, quotes: `"'`, after: "(",
		words: " abstract actor as async await bool boolean break by byte case catch char class companion const constructor continue data " +
			"decimal def default defer delegate do double echo else enum event extends extension false fileprivate final finally float for " +
			"foreach fn fun func function get given guard if implements implicit import in init inline instanceof int interface internal " +
			"is lateinit lazy let lock long match mixin module namespace native new nil null object open operator out override package " +
			"partial private protected protocol public readonly record repeat required return sealed self set short static string struct " +
			"super suspend switch synchronized template this throw throws trait transient true try type typealias typeof unsafe use using " +
			"val var virtual void volatile when where while with yield ",
	},
	{
		names: " c h cpp c++ cc hpp objc proto protobuf glsl ", line: slashes, blocks: stars, quotes: `"'`, after: "(",
		words: " alignas auto bool break case catch char class concept const constexpr continue decltype default delete do double else enum " +
			"explicit extern false final float for friend goto if import inline int int32 int64 long message mutable namespace new " +
			"noexcept nullptr oneof operator option override package private protected public register repeated requires reserved return " +
			"returns rpc service short signed sizeof static string struct switch syntax template this throw true try typedef typename " +
			"uint32 uint64 union unsigned using virtual void volatile while ",
	},
	{
		names: " rust rs zig ", line: slashes, blocks: stars, quotes: `"`, after: "(!",
		words: " as async await bool break char const continue crate dyn else enum extern f32 f64 false fn for i16 i32 i64 i8 if impl in isize " +
			"let loop match mod move mut pub ref return self Self static str struct super trait true type u16 u32 u64 u8 unsafe use usize " +
			"where while ",
	},
	{
		names: " css scss less ", blocks: stars, quotes: `"'`, after: ":(",
	},
	{
		names: " python py ", line: hashes, blocks: triple, quotes: `"'`, after: "(",
		words: " and as assert async await break case class continue def del elif else except False finally for from global if import in is " +
			"lambda match None nonlocal not or pass raise return self True try while with yield ",
	},
	{
		names: " ruby rb elixir ex perl pl r julia jl ", line: hashes, quotes: `"'`, after: "(",
		words: " alias and begin break case class def defmodule do else elsif end ensure false fn for foreach function if in module my next " +
			"nil not or our package private redo require rescue retry return self struct sub super then true undef unless until use using " +
			"when while yield ",
	},
	{
		names: " sh bash shell zsh fish console dockerfile docker make makefile powershell ps1 ", line: hashes, quotes: `"'`,
		words: " case do done elif else esac export fi for function if in local return set source then until while ADD ARG CMD COPY ENTRYPOINT " +
			"ENV EXPOSE FROM HEALTHCHECK LABEL RUN USER VOLUME WORKDIR ",
	},
	{
		names: " yaml yml ", line: hashes, quotes: `"'`, after: ":",
		words: " false no null off on true yes ",
	},
	{
		names: " toml ini cfg conf properties env hcl terraform tf nginx ", line: []string{"#", ";"}, quotes: `"'`, after: "=",
		words: " data false locals module output provider resource terraform true variable ",
	},
	{
		names: " json json5 jsonc ", line: slashes, blocks: stars, quotes: `"`, after: ":",
		words: " false null true ",
	},
	{
		names: " graphql gql ", line: hashes, blocks: triple, quotes: `"`, after: ":(",
		words: " directive enum extend false fragment implements input interface mutation null on query scalar schema subscription true type " +
			"union ",
	},
	{
		names: " sql postgres postgresql psql mysql sqlite plpgsql ", line: []string{"--"}, blocks: stars, raw: "'", after: "(", folds: true,
		words: " add all alter and any as asc begin between bigint boolean by bytea cascade case check column commit conflict constraint " +
			"create cross database default delete desc distinct do drop else end exists false for foreign from full function grant group " +
			"having if in index inner insert int integer interval into is join jsonb key language left like limit not null numeric of " +
			"offset on or order outer partition primary procedure references replace returning returns revoke right rollback row schema " +
			"select serial set smallint table text then timestamp timestamptz to transaction trigger true truncate union unique update " +
			"using uuid values varchar view when where with ",
	},
	{
		names: " lua haskell hs elm ", line: []string{"--"}, blocks: [][2]string{{"{-", "-}"}, {"--[[", "]]"}}, quotes: `"`, after: "(",
		words: " and break case class data deriving do else elseif end false for function if import in instance let local module newtype nil " +
			"not of or repeat return then true type until where while ",
	},
	{
		names: " html xml svg vue ", blocks: [][2]string{{"<!--", "-->"}}, quotes: `"'`, after: "=",
	},
}

// The limits of code with colours, in bytes: a block, and a string of one line, in which the time would be quadratic.
const (
	maxCode   = 64 << 10
	maxString = 1000
)

func syntaxOf(language string) *syntax {
	name := " " + strings.ToLower(language) + " "
	for i := range syntaxes {
		if len(name) > 2 && strings.Contains(syntaxes[i].names, name) {
			return &syntaxes[i]
		}
	}
	return nil
}

// ScanCode splits code into parts of the classes k (keyword), t (string or number), f (name), c (comment) and "". The
// parts put together are the code.
func ScanCode(language, code string, emit func(class, part string)) {
	s := syntaxOf(language)
	if s == nil || len(code) > maxCode {
		emit("", code)
		return
	}
	plain := 0
	for at := 0; at < len(code); {
		class, n := s.scanToken(code, at)
		if class != "" {
			if plain < at {
				emit("", code[plain:at])
			}
			emit(class, code[at:at+n])
			plain = at + n
		}
		at += n
	}
	if plain < len(code) {
		emit("", code[plain:])
	}
}

// scanToken returns the class and the length of the token at a place, at least 1.
func (s *syntax) scanToken(code string, at int) (class string, n int) {
	rest := code[at:]
	if n := s.measureComment(rest, at == 0 || strings.IndexByte(" \t\n", code[at-1]) >= 0); n > 0 {
		return "c", n
	}
	c := rest[0]
	switch {
	case strings.IndexByte(s.raw, c) >= 0:
		if end := strings.IndexByte(rest[1:], c); end >= 0 {
			return "t", end + 2
		}
	case strings.IndexByte(s.quotes, c) >= 0:
		if n := measureString(rest); n > 0 {
			if strings.HasPrefix(strings.TrimLeft(rest[n:], " "), ":") && s.after == ":" {
				return "f", n // a key
			}
			return "t", n
		}
	case isWordByte(c):
		n := 1
		for n < len(rest) && isWordByte(rest[n]) {
			n++
		}
		return s.classOf(rest[:n], rest[n:]), n
	}
	return "", 1
}

// classOf returns the class of a word.
func (s *syntax) classOf(word, rest string) string {
	if word[0] >= '0' && word[0] <= '9' {
		return "t"
	}
	key := word
	if s.folds {
		key = strings.ToLower(word)
	}
	switch {
	case strings.Contains(s.words, " "+key+" "):
		return "k"
	case rest != "" && strings.IndexByte(s.after, rest[0]) >= 0:
		return "f"
	}
	return ""
}

// measureComment returns the length of the comment at the start of a text, or 0. A number sign
// begins one only after a blank.
func (s *syntax) measureComment(rest string, isFree bool) int {
	for _, b := range s.blocks {
		if strings.HasPrefix(rest, b[0]) {
			if end := strings.Index(rest[len(b[0]):], b[1]); end >= 0 {
				return len(b[0]) + end + len(b[1])
			}
			return len(rest)
		}
	}
	for _, sign := range s.line {
		if strings.HasPrefix(rest, sign) && (isFree || sign != "#") {
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				return end
			}
			return len(rest)
		}
	}
	return 0
}

// measureString returns the length of the string at the start of a text, or 0 if the line does not end it.
func measureString(rest string) int {
	for i := 1; i < min(len(rest), maxString) && rest[i] != '\n'; i++ {
		switch rest[i] {
		case '\\':
			i++
		case rest[0]:
			return i + 1
		}
	}
	return 0
}

// isWordByte reports whether a byte is part of a word, as all beyond ASCII are.
func isWordByte(c byte) bool {
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
