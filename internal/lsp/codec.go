package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"strconv"
	"strings"
)

// A codec frames messages as the base protocol has them: header lines, an empty one, and the
// body. What is no message is passed over and logged: one that is broken does not end a
// session in which nothing is saved yet.
type codec struct{ log *log.Logger }

// maxMessage bounds what a client may send at once.
const maxMessage = 1 << 28

var errHeader = errors.New("no header of a message, which is \"Content-Length: N\"")

// WriteObject implements jsonrpc2.ObjectCodec.
func (c codec) WriteObject(w io.Writer, message any) error {
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}

// ReadObject implements jsonrpc2.ObjectCodec. The error is io.EOF where the client is gone.
func (c codec) ReadObject(r *bufio.Reader, message any) error {
	for {
		body, err := frame(r)
		if err != nil {
			return err
		}
		if err = json.Unmarshal(body, message); err == nil {
			return nil
		}
		c.log.Printf("a message was passed over: %v", err)
	}
}

// frame reads the body of a message. Its header lines may end with LF alone.
func frame(r *bufio.Reader) ([]byte, error) {
	length := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, io.EOF
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "" && length >= 0 {
			break
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return nil, errHeader
		}
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil || length < 0 || length > maxMessage {
				return nil, errHeader
			}
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, io.EOF
	}
	return body, nil
}
