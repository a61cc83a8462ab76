package block

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
)

// A Session is a shell block with the output that the text block right after it
// shows. "sh exit=N" says that the block ends with exit code N.
type Session struct {
	Block
	Exit   int
	Output string
	Shown  bool // whether an output block follows
}

// Sessions pairs the shell blocks among blocks with their outputs.
func Sessions(blocks []Block) []Session {
	var out []Session
	for i, b := range blocks {
		if b.Language != "sh" {
			continue
		}
		s := Session{Block: b}
		s.Exit, _ = strconv.Atoi(b.Value("exit"))
		if i+1 < len(blocks) && blocks[i+1].Language == "text" && blocks[i+1].Adjacent {
			s.Output, s.Shown = blocks[i+1].Text, true
		}
		out = append(out, s)
	}
	return out
}

// Run gives the block to sh in dir, with bin in front of the search path, and
// returns what it wrote to standard output and standard error, in the order it
// was written, and its exit code. The shell stops at the first command that
// fails.
func (s Session) Run(ctx context.Context, dir, bin string) (output string, exit int, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", s.Text)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_COLOR=1", "COLUMNS=80")
	data, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return string(data), failed.ExitCode(), nil
	}
	if err != nil {
		return "", 0, fmt.Errorf("%s:%d: %w", s.File, s.Line, err)
	}
	return string(data), 0, nil
}
