package mcpwire

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// taskAddress is the prefix of ids of tasks that pass the library as addresses of resources. A client may
// subscribe to tasks, but the library knows no ids of tasks in a filter, and ends a stream that subscribes to
// nothing else.
const taskAddress = "bmad-mcp-task:"

// listenIn turns the ids of tasks in a request for a stream into addresses for the library. It returns an
// error if the client takes no tasks. page reports whether the client is a web page, which never takes tasks.
func listenIn(request []byte, page bool) (out []byte, err error) {
	var q struct {
		Params struct {
			Meta          *mcp.Meta `json:"_meta"`
			Notifications struct {
				TaskIDs   []string `json:"taskIds"`
				Resources []string `json:"resourceSubscriptions"`
			} `json:"notifications"`
		} `json:"params"`
	}
	want := &q.Params.Notifications
	if json.Unmarshal(request, &q) != nil || len(want.TaskIDs) == 0 || !mcp.IsModernProtocol(q.Params.Meta.ProtocolVersion()) {
		return request, nil
	}
	if can := q.Params.Meta.ClientCapabilities(); can == nil || page || !takesTasks(*can) {
		return nil, TasksNeeded()
	}
	for _, id := range want.TaskIDs {
		want.Resources = append(want.Resources, taskAddress+id)
	}
	return editJSON(request, func(message map[string]any) {
		params, _ := message["params"].(map[string]any)
		filter, _ := params["notifications"].(map[string]any)
		delete(filter, "taskIds")
		filter["resourceSubscriptions"] = want.Resources
	}), nil
}

// addFollower has the stream of a request report the tasks in the filter, as far as they belong to the
// client. It removes the addresses of all others from the filter, so that they are not acknowledged.
func (t *tasks) addFollower(ctx context.Context, id any, message *mcp.SubscriptionsListenRequest) {
	session := server.ClientSessionFromContext(ctx)
	if session == nil {
		return
	}
	f := &follower{tasks: map[*task]bool{}, tag: id, to: session.NotificationChannel()}
	filter := &message.Params.Notifications
	t.mu.Lock()
	defer t.mu.Unlock()
	filter.ResourceSubscriptions = slices.DeleteFunc(filter.ResourceSubscriptions, func(address string) bool {
		name, isTask := strings.CutPrefix(address, taskAddress)
		if !isTask {
			return false
		}
		k, err := t.findTask(taskClient(ctx), name)
		if err == nil {
			f.tasks[k] = true
		}
		return err != nil
	})
	if len(f.tasks) == 0 {
		return
	}
	t.followers[f] = true
	context.AfterFunc(ctx, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.followers, f)
	})
}

// acknowledgeTasks turns addresses back into ids of tasks, if the message is the acknowledgment of a stream.
func acknowledgeTasks(message []byte) []byte {
	if !bytes.Contains(message, []byte(taskAddress)) || !bytes.Contains(message, []byte(mcp.MethodNotificationSubscriptionsAcknowledged)) {
		return message
	}
	return editJSON(message, func(n map[string]any) {
		params, _ := n["params"].(map[string]any)
		filter, _ := params["notifications"].(map[string]any)
		resources, _ := filter["resourceSubscriptions"].([]any)
		var ids []string
		resources = slices.DeleteFunc(resources, func(address any) bool {
			text, _ := address.(string)
			id, isTask := strings.CutPrefix(text, taskAddress)
			if isTask {
				ids = append(ids, id)
			}
			return isTask
		})
		if n["method"] != mcp.MethodNotificationSubscriptionsAcknowledged || len(ids) == 0 {
			return
		}
		filter["taskIds"], filter["resourceSubscriptions"] = ids, resources
		if len(resources) == 0 {
			delete(filter, "resourceSubscriptions")
		}
	})
}

// editJSON returns a message with changed JSON, and with a line end for stdio.
func editJSON(message []byte, change func(map[string]any)) []byte {
	var m map[string]any
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.UseNumber()
	if decoder.Decode(&m) != nil {
		return message
	}
	change(m)
	out, err := json.Marshal(m)
	if err != nil {
		return message
	}
	return append(out, '\n')
}
