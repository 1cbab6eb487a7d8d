package main

import (
	"io"
	"net"
	"path/filepath"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdServe opens services that answer every connection with "canary" until the script's end: on
// 127.0.0.1 and ::1 at $PORT, on $ADDRESS (an address of this machine that is not loopback) at the
// same port, on the unix socket $SOCKET and on the abstract one $ABSTRACT.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: serve")
	}
	open := func(network, address string) net.Listener {
		l, err := net.Listen(network, address)
		ts.Check(err)
		ts.Defer(func() { _ = l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\ncanary\n")
				_ = c.Close()
			}
		}()
		return l
	}
	_, port, err := net.SplitHostPort(open("tcp", "127.0.0.1:0").Addr().String())
	ts.Check(err)
	ts.Setenv("PORT", port)
	open("tcp", "[::1]:"+port)
	addrs, err := net.InterfaceAddrs()
	ts.Check(err)
	for _, a := range addrs {
		if ip, ok := a.(*net.IPNet); ok && !ip.IP.IsLoopback() && ip.IP.To4() != nil {
			ts.Setenv("ADDRESS", ip.IP.String())
			open("tcp", net.JoinHostPort(ip.IP.String(), port))
			break
		}
	}
	if ts.Getenv("ADDRESS") == "" {
		ts.Fatalf("this machine has no address but loopback: there is nothing to show")
	}
	ts.Setenv("SOCKET", ts.MkAbs("socket"))
	open("unix", ts.MkAbs("socket"))
	abstract := "proctor-" + filepath.Base(filepath.Dir(ts.MkAbs(".."))) + "-" + port
	ts.Setenv("ABSTRACT", abstract)
	open("unix", "@"+abstract)
}
