// Token counts of every function literal and declaration with a body, as go/scanner reads
// them. Paths come on standard input, one a line; each answer is one line of JSON, as from
// the other scripts here.
package main

import (
	"bufio"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
)

type answer struct {
	Path      string   `json:"path"`
	Fault     *string  `json:"fault"`
	Line      *int     `json:"line"`
	Functions [][4]int `json:"functions"`
}

func main() {
	input := bufio.NewScanner(os.Stdin)
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	encoder := json.NewEncoder(output)
	for input.Scan() {
		if err := encoder.Encode(measure(input.Text())); err != nil {
			panic(err)
		}
	}
}

func measure(path string) answer {
	result := answer{Path: path, Functions: [][4]int{}}
	source, err := os.ReadFile(path)
	if err != nil {
		panic(err)
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		fault := err.Error()
		line := 0
		if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
			line = list[0].Pos.Line
		}
		result.Fault, result.Line = &fault, &line
		return result
	}
	starts := tokens(source)
	file := files.File(tree.Pos())
	type span struct{ from, to int }
	var spans []span
	ast.Inspect(tree, func(node ast.Node) bool {
		switch it := node.(type) {
		case *ast.FuncDecl:
			if it.Body != nil {
				spans = append(spans, span{file.Offset(it.Type.Func), file.Offset(it.Body.Rbrace) + 1})
			}
		case *ast.FuncLit:
			spans = append(spans, span{file.Offset(it.Pos()), file.Offset(it.End())})
		}
		return true
	})
	count := func(of span) int {
		total := 0
		for _, start := range starts {
			if of.from <= start && start < of.to {
				total++
			}
		}
		return total
	}
	for at, one := range spans {
		total := count(one)
		own := total
		last := one.from
		for _, inner := range spans[at+1:] {
			if inner.from >= one.to {
				break
			}
			if inner.from >= last {
				own -= count(inner)
				last = inner.to
			}
		}
		result.Functions = append(result.Functions, [4]int{one.from, one.to, own, total})
	}
	return result
}

// tokens gives the first byte of every token that is written.
func tokens(source []byte) []int {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(source))
	var scan scanner.Scanner
	scan.Init(file, source, nil, 0)
	var starts []int
	for {
		at, kind, text := scan.Scan()
		if kind == token.EOF {
			return starts
		}
		if kind == token.SEMICOLON && text == "\n" {
			continue
		}
		starts = append(starts, file.Offset(at))
	}
}
