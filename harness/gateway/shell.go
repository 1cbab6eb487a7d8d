package gateway

import (
	"fmt"
	"strings"
)

// Reading and writing files for clients that have a shell only. Paths and content are the script's, and quoted.

// shellQuote quotes s for a POSIX shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// shellPath quotes a path; a leading ~/ stays the shell's to expand.
func shellPath(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return "~/" + shellQuote(rest)
	}
	return shellQuote(path)
}

func shellRead(path string) string { return "cat " + shellPath(path) }

// shellWrite makes the file's folder and the file, byte for byte. A command is one argument of a process, at most
// 128 KiB on Linux; a larger content fails in the client.
func shellWrite(path, content string) string {
	folder := path[:max(strings.LastIndex(path, "/"), 0)]
	mkdir := ""
	if folder != "" {
		mkdir = "mkdir -p " + shellPath(folder) + " && "
	}
	if !strings.HasSuffix(content, "\n") {
		return mkdir + "printf %s " + shellQuote(content) + " > " + shellPath(path)
	}
	end := hereEnd(content)
	return fmt.Sprintf("%scat > %s <<'%s'\n%s%s", mkdir, shellPath(path), end, content, end)
}

// codexWrite writes a file with Codex's own apply_patch where its format can say the content, so that the client reports
// a file change; its "Add File" replaces a file that is there.
func codexWrite(path, content string) string {
	if content == "" || !strings.HasSuffix(content, "\n") || strings.ContainsAny(content+path, "\r\x00") || strings.HasPrefix(path, "~/") {
		return shellWrite(path, content)
	}
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Add File: " + path + "\n")
	for line := range strings.Lines(content) {
		b.WriteString("+" + line)
	}
	b.WriteString("*** End Patch\n")
	end := hereEnd(b.String())
	return fmt.Sprintf("apply_patch <<'%s'\n%s%s", end, b.String(), end)
}

// hereEnd is a word that is no line of text, to end a here-document with.
func hereEnd(text string) string {
	end := "EOF"
	for n := 1; strings.Contains("\n"+text, "\n"+end+"\n"); n++ {
		end = fmt.Sprintf("EOF%d", n)
	}
	return end
}
