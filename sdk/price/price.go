// Package price turns counted tokens into money, by a dated list of prices, and keeps work within
// a limit.
//
// Money is a whole number of nano-dollars, because the price of one token in every list is a whole number of
// them. A [Table] has for each model the [Rate] in force from a date on; a [Budget] adds up the costs of calls.
package price

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Money is an amount in nano-dollars (US).
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000

// String returns an amount such as $1.50 or $0.000525: at least cents, and every digit.
func (m Money) String() string {
	sign := ""
	if m < 0 {
		sign, m = "-", -m
	}
	digits := fmt.Sprintf("%09d", int64(m%Dollar))
	digits = digits[:2] + strings.TrimRight(digits[2:], "0")
	return fmt.Sprintf("%s$%d.%s", sign, int64(m/Dollar), digits)
}

// Short returns an amount as people read it: cents, or two digits of less than a cent.
func (m Money) Short() string {
	switch {
	case m == 0 || m >= Dollar/100 || m <= -Dollar/100:
		return fmt.Sprintf("$%.2f", m.USD())
	case m < 0:
		return "-" + (-m).Short()
	}
	text := strconv.FormatFloat(m.USD(), 'g', 2, 64)
	usd, _ := strconv.ParseFloat(text, 64)
	return "$" + strconv.FormatFloat(usd, 'f', -1, 64)
}

// Plus returns the sum of two amounts, or the largest amount if it is more: a sum beyond it would be a credit.
func (m Money) Plus(n Money) Money {
	if n > 0 && m > math.MaxInt64-n {
		return math.MaxInt64
	}
	return m + n
}

// USD returns the amount in dollars, for JSON.
func (m Money) USD() float64 { return float64(m) / float64(Dollar) }

// ParseMoney reads an amount in dollars, for example 2, 0.50 or $1.25.
func ParseMoney(text string) (Money, error) {
	bad := fmt.Errorf("%q is not an amount in US dollars, such as 2 or 0.50", text)
	whole, part, dotted := strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "$"), ".")
	ends := dotted && part == ""
	if ends || whole == "" || len(part) > 9 {
		return 0, bad
	}
	for _, r := range whole + part {
		if r < '0' || r > '9' {
			return 0, bad
		}
	}
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", 9-len(part)), 10, 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%q is more than can be counted", text)
	}
	if err != nil {
		return 0, bad
	}
	return Money(n), nil
}
