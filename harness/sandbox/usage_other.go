//go:build !unix

package sandbox

import "io/fs"

func allocated(info fs.FileInfo) int64 { return info.Size() }
