package blob_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
	azure "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"gocloud.dev/blob"
	"gocloud.dev/blob/azureblob"
	"gocloud.dev/blob/s3blob"

	"github.com/bmad-mcp/bmad-mcp/sdk/vfs"
	vfsblob "github.com/bmad-mcp/bmad-mcp/sdk/vfs/blob"
	"github.com/bmad-mcp/bmad-mcp/sdk/vfs/vfstest"
)

// hasETag is the condition for S3.
func hasETag(as func(any) bool, now *blob.Attributes) error {
	var input *transfermanager.UploadObjectInput
	if !as(&input) {
		return errors.New("this is not S3")
	}
	input.IfMatch = aws.String(now.ETag)
	return nil
}

// hasETagOfAzure is the condition for Azure.
func hasETagOfAzure(as func(any) bool, now *blob.Attributes) error {
	var upload *azblob.UploadStreamOptions
	if !as(&upload) {
		return errors.New("this is not Azure")
	}
	tag := azcore.ETag(now.ETag)
	upload.AccessConditions = &azure.AccessConditions{ModifiedAccessConditions: &azure.ModifiedAccessConditions{IfMatch: &tag}}
	return nil
}

// oneObject serves one object as S3 and Azure do, as far as its headers go. meanwhile is called before a write.
type oneObject struct {
	data      []byte
	version   int // 0 if there is none
	meanwhile func()
}

func (o *oneObject) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tag := fmt.Sprintf(`"version-%d"`, o.version)
	w.Header().Set("ETag", tag)
	w.Header().Set("Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT")
	w.Header().Set("X-Ms-Creation-Time", "Mon, 02 Jan 2006 15:04:05 GMT")
	switch {
	case r.URL.Query().Has("list-type"):
		_, _ = io.WriteString(w, `<ListBucketResult></ListBucketResult>`)
	case r.URL.Query().Get("comp") == "list":
		w.Header().Set("Content-Type", "application/xml")
		_, _ = io.WriteString(w, `<EnumerationResults><Blobs></Blobs></EnumerationResults>`)
	case r.Method == http.MethodPut:
		data, _ := io.ReadAll(r.Body)
		o.meanwhile()
		tag = fmt.Sprintf(`"version-%d"`, o.version)
		match, none := r.Header.Get("If-Match"), r.Header.Get("If-None-Match")
		if o.version > 0 && none == "*" || match != "" && match != tag {
			w.Header().Set("X-Ms-Error-Code", "ConditionNotMet")
			w.WriteHeader(http.StatusPreconditionFailed)
			_, _ = io.WriteString(w, `<Error><Code>PreconditionFailed</Code></Error>`)
			return
		}
		o.data, o.version = data, o.version+1
		w.WriteHeader(http.StatusCreated)
	case o.version == 0:
		w.Header().Set("X-Ms-Error-Code", "BlobNotFound")
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("Content-Length", fmt.Sprint(len(o.data)))
		if r.Method == http.MethodGet {
			_, _ = w.Write(o.data)
		}
	}
}

// TestServicesCheck: with the conditions of the drivers, the service refuses a write that comes between the
// comparison and the request.
func TestServicesCheck(t *testing.T) {
	for what, c := range map[string]struct {
		condition func(as func(any) bool, now *blob.Attributes) error
		open      func(address string) (*blob.Bucket, error)
	}{
		"s3": {hasETag, func(address string) (*blob.Bucket, error) {
			client := s3.New(s3.Options{BaseEndpoint: &address, UsePathStyle: true, Region: "nowhere", Credentials: credentials.NewStaticCredentialsProvider("a", "b", "")})
			return s3blob.OpenBucket(t.Context(), client, "bucket", nil)
		}},
		"azblob": {hasETagOfAzure, func(address string) (*blob.Bucket, error) {
			client, err := container.NewClientWithNoCredential(address+"/bucket", nil)
			if err != nil {
				return nil, err
			}
			return azureblob.OpenBucket(t.Context(), client, nil)
		}},
	} {
		t.Run(what, func(t *testing.T) {
			object := &oneObject{meanwhile: func() {}}
			server := httptest.NewServer(object)
			t.Cleanup(server.Close)
			bucket, err := c.open(server.URL)
			if err != nil {
				t.Fatal(err)
			}
			fsys := newFS(t, closeAtEnd(t, bucket), vfsblob.Options{Condition: c.condition})
			vfstest.Write(t, fsys, "/a.md", "new")
			vfstest.Write(t, fsys, "/a.md", "mine")
			for _, exists := range []bool{true, false} {
				if !exists {
					object.version = 0
					_, _ = fsys.Read("/a.md")
				}
				object.meanwhile = func() { object.version, object.data = object.version+1, []byte("theirs") }
				var conflict *vfs.ConflictError
				if err := fsys.Write("/a.md", []byte("mine, later")); !errors.As(err, &conflict) {
					t.Errorf("exists %t: %v", exists, err)
				}
				if got := vfstest.Read(t, fsys, "/a.md"); got != "theirs" {
					t.Errorf("%q", got)
				}
				object.meanwhile = func() {}
				vfstest.Write(t, fsys, "/a.md", "mine, at last")
			}
			if string(object.data) != "mine, at last" {
				t.Errorf("%q", object.data)
			}
		})
	}
}
