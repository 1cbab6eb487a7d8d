package gateway

import (
	"errors"
	"net"
	"net/url"
)

func parseBase(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" {
		return nil, errors.New("is no address; give one like https://host/path") // the error would quote a password
	}
	return u, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// HostOf is the host of a base URL, with its port where it names one: the form of a sandbox's list.
func HostOf(base string) string {
	u, err := parseBase(base)
	if err != nil {
		return ""
	}
	return u.Host
}
