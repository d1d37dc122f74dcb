package pattern

import (
	"regexp/syntax"
)

// program is a compiled expression with facts about each instruction.
type program struct {
	insts []inst
	start uint32
	// anchored is true if a match can only begin with the text.
	anchored bool
	// asked has the conditions of the expression, match1 is the last instruction.
	asked  syntax.EmptyOp
	match1 uint32
	// reached has rows of instructions, each behind its length; seen serves to make one.
	reached threads
	seen    sparse
}

// inst is an instruction of package syntax in less space.
type inst struct {
	out, arg uint32
	// row is the place in reached of the instructions after this one without a character or a condition
	// between, or 0; set is the number of its set of characters.
	row uint32
	set uint16
	op  syntax.InstOp
}

// compile returns the program of an expression, and the program of package syntax behind it.
func compile(source string) (program, *syntax.Prog) {
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		panic("pattern: " + err.Error())
	}
	prog, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		panic("pattern: " + err.Error())
	}
	p := program{
		insts: make([]inst, len(prog.Inst)), start: uint32(prog.Start), //nolint:gosec // instructions are numbered in 32 bits
		anchored: prog.StartCond()&syntax.EmptyBeginText != 0, reached: threads{0}, seen: newSparse(len(prog.Inst)),
	}
	for i, from := range prog.Inst {
		p.insts[i] = inst{out: from.Out, arg: from.Arg, op: from.Op}
		switch from.Op {
		case syntax.InstMatch:
			p.match1 = uint32(i)
		case syntax.InstEmptyWidth:
			p.asked |= syntax.EmptyOp(from.Arg) //nolint:gosec // package syntax keeps it there
		}
	}
	return p, prog
}

// reachableFrom returns the instructions directly after an instruction, as far as they match something: a
// character, a condition or the end.
func (p *program) reachableFrom(from uint32) threads {
	row := p.insts[from].row
	if row == 0 {
		row = uint32(len(p.reached)) //nolint:gosec // instructions are numbered in 32 bits
		p.insts[from].row, p.reached = row, append(p.reached, 0)
		p.seen.clear()
		p.walkFrom(from)
		p.reached[row] = uint32(len(p.reached)) - row - 1 //nolint:gosec // as above
	}
	return p.reached[row+1:][:p.reached[row]]
}

func (p *program) walkFrom(at uint32) {
	if p.seen.has(at) {
		return
	}
	p.seen.add(at)
	switch inst := p.insts[at]; inst.op {
	case syntax.InstFail:
	case syntax.InstAlt, syntax.InstAltMatch:
		p.walkFrom(inst.out)
		p.walkFrom(inst.arg)
	case syntax.InstCapture, syntax.InstNop:
		p.walkFrom(inst.out)
	default:
		p.reached = append(p.reached, at)
	}
}

// kind has the properties of a character for conditions, or of the beginning or end of a text.
type kind uint8

const (
	other kind = iota
	word
	newline
	atBegin
	atEnd
)

// kindOf returns the part of the kind asked for by the expression.
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

// conditionsBetween returns the conditions that hold between two characters.
func conditionsBetween(before, after kind) syntax.EmptyOp {
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
