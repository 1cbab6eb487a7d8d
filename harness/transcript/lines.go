package transcript

import (
	"bufio"
	"bytes"
	"io"
)

// Line is one line of a stream, without its line end.
type Line struct {
	Number       int64  // counted from 1, blank lines included
	Data         []byte // valid until the next call of Next; the start only when Oversize
	Size         int64  // bytes in the stream, line end excluded
	Oversize     bool   // longer than the reader's limit
	Unterminated bool   // the stream ends without a line end here
	BOM          bool   // a UTF-8 byte order mark was removed
}

// LineReader reads lines of any length in bounded memory. It takes LF and
// CRLF, removes a byte order mark at the stream's start, and gives a line over
// its limit as an Oversize one with only its start.
//
// bufio.Scanner is no alternative: it stops at the first line that is too long.
type LineReader struct {
	r      *bufio.Reader
	max    int
	buf    []byte
	number int64
}

// NewLineReader reads from r; max is the longest line kept, in bytes.
func NewLineReader(r io.Reader, max int) *LineReader {
	return &LineReader{r: bufio.NewReaderSize(r, 64<<10), max: max}
}

// Next returns the next line, or io.EOF after the last one. Any other error
// comes from the underlying reader, together with what was read of the line.
func (l *LineReader) Next() (Line, error) {
	l.buf = l.buf[:0]
	line := Line{Number: l.number + 1}
	for {
		chunk, err := l.r.ReadSlice('\n')
		ended := err == nil
		if ended {
			chunk = chunk[:len(chunk)-1]
		}
		line.Size += int64(len(chunk))
		if room := l.max - len(l.buf); len(chunk) > room {
			line.Oversize = true
			chunk = chunk[:max(room, 0)]
		}
		l.buf = append(l.buf, chunk...)
		switch {
		case ended:
			return l.finish(line), nil
		case err == bufio.ErrBufferFull:
			continue
		case err == io.EOF && line.Size == 0:
			return Line{}, io.EOF
		case err == io.EOF:
			line.Unterminated = true
			return l.finish(line), nil
		default:
			line.Unterminated = true
			return l.finish(line), err
		}
	}
}

func (l *LineReader) finish(line Line) Line {
	l.number++
	data := l.buf
	if line.Number == 1 {
		if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
			data, line.BOM = rest, true
		}
	}
	if !line.Oversize {
		data = bytes.TrimSuffix(data, []byte("\r"))
	}
	line.Data = data
	return line
}
