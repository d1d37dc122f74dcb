package pattern

import (
	"regexp/syntax"
)

// program is a compiled expression with facts about its instructions.
type program struct {
	prog *syntax.Prog
	// anchored is true if a match can only begin with the text.
	anchored bool
	// asked has the conditions of the expression, match1 is the instruction that ends it.
	asked  syntax.EmptyOp
	match1 uint32
	// reached has, for each instruction, those that follow without a character or a condition.
	reached [][]uint32
}

func newProgram(source string) program {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic("pattern: " + err.Error())
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic("pattern: " + err.Error())
	}
	p := program{prog: prog, anchored: prog.StartCond()&syntax.EmptyBeginText != 0, reached: make([][]uint32, len(prog.Inst))}
	for i, inst := range prog.Inst {
		switch inst.Op {
		case syntax.InstMatch:
			p.match1 = uint32(i)
		case syntax.InstEmptyWidth:
			p.asked |= syntax.EmptyOp(inst.Arg) //nolint:gosec // package syntax keeps it there
		}
	}
	return p
}

// reach returns the instructions that match something, a character, a condition or the end, and
// that follow an instruction directly.
func (p *program) reach(from uint32) []uint32 {
	if p.reached[from] == nil {
		out := []uint32{}
		p.walk(from, map[uint32]bool{}, &out)
		p.reached[from] = out
	}
	return p.reached[from]
}

func (p *program) walk(at uint32, seen map[uint32]bool, out *[]uint32) {
	if seen[at] {
		return
	}
	seen[at] = true
	inst := &p.prog.Inst[at]
	switch inst.Op {
	case syntax.InstFail:
	case syntax.InstAlt, syntax.InstAltMatch:
		p.walk(inst.Out, seen, out)
		p.walk(inst.Arg, seen, out)
	case syntax.InstCapture, syntax.InstNop:
		p.walk(inst.Out, seen, out)
	default:
		*out = append(*out, at)
	}
}

// kind has the properties of a character that conditions look at, or of the beginning or end of a text.
type kind uint8

const (
	other kind = iota
	word
	newline
	atBegin
	atEnd
)

// kindOf returns the part of the kind that the expression asks for.
func (p *program) kindOf(k kind) kind {
	var asks syntax.EmptyOp
	switch k {
	case word:
		asks = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	case newline:
		asks = syntax.EmptyBeginLine | syntax.EmptyEndLine
	case atBegin:
		if p.anchored {
			return atBegin
		}
		asks = syntax.EmptyBeginLine | syntax.EmptyBeginText
	default:
		return k
	}
	if p.asked&asks == 0 {
		return other
	}
	return k
}

// between returns the conditions that hold between two characters.
func between(before, after kind) syntax.EmptyOp {
	var holds syntax.EmptyOp
	switch before {
	case atBegin:
		holds |= syntax.EmptyBeginText | syntax.EmptyBeginLine
	case newline:
		holds |= syntax.EmptyBeginLine
	}
	switch after {
	case atEnd:
		holds |= syntax.EmptyEndText | syntax.EmptyEndLine
	case newline:
		holds |= syntax.EmptyEndLine
	}
	if (before == word) != (after == word) {
		return holds | syntax.EmptyWordBoundary
	}
	return holds | syntax.EmptyNoWordBoundary
}
