package lang

import (
	"io/fs"
	"testing"

	"github.com/bmad-mcp/bmad-mcp/internal/base/durable"
)

// TestErrorsOfTheDisk checks that errors of the disk keep their own words in English, and have those of
// the catalogue in other languages, even within other sentences.
func TestErrorsOfTheDisk(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		&durable.BusyError{Name: "lock"}:                             "锁 lock 被另一个调用者占用",
		&durable.BusyError{Name: "lock", Holder: "process 7"}:        "锁 lock 被占用：process 7",
		&durable.UnconfirmedError{Name: "s.json", Err: fs.ErrClosed}: "s.json 已写入，但磁盘没有确认：file already closed",
		&durable.NotFolderError{Name: "a"}:                           "a 是文件，不是文件夹",
		&durable.NotRegularError{Name: "a", Mode: fs.ModeDir}:        "a 是文件夹，不是普通文件",
		&durable.NotRegularError{Name: "a", Mode: fs.ModeNamedPipe}:  "a 是命名管道，不是普通文件",
		&durable.NotRegularError{Name: "a", Mode: fs.ModeSocket}:     "a 是套接字，不是普通文件",
		&durable.NotRegularError{Name: "a", Mode: fs.ModeDevice}:     "a 是设备，不是普通文件",
		&durable.NotRegularError{Name: "a", Mode: fs.ModeIrregular}:  "a 是特殊文件，不是普通文件",
		&durable.TooLargeError{Name: "a", Size: 9, Limit: 8}:         "a 有 9 字节；最多读取 8 字节",
		&durable.TooLargeError{Name: "a", Size: 8, Limit: 8}:         "a 在读取时增大；最多读取 8 字节",
		&durable.TooManyError{Name: "a", Limit: 8}:                   "文件夹 a 中超过 8 个条目",
		durable.ErrOutside: "该文件夹在别处",
	} {
		said := Of(err)
		if said.String() != err.Error() {
			t.Errorf("English has %q, the error %q", said, err)
		}
		if got := said.In(zh); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		if got := Errorf("session file %w", err).(speaker).In(zh); got != "会话文件 "+want {
			t.Errorf("within a sentence: got %q", got)
		}
	}
}
