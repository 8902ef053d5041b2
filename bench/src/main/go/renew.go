// Renews leases as a client of Go's standard library does, which kubelets and client-go use: JSON, one request at a time on
// each connection, and one watch of all leases. Prints one line of a table. scripts/bench-foreign runs it.
package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"

// microTime is the format of a lease's times.
const microTime = "2006-01-02T15:04:05.000000Z"

type meta struct {
	Name              string `json:"name,omitempty"`
	Namespace         string `json:"namespace,omitempty"`
	UID               string `json:"uid,omitempty"`
	ResourceVersion   string `json:"resourceVersion,omitempty"`
	CreationTimestamp string `json:"creationTimestamp,omitempty"`
}

type spec struct {
	HolderIdentity       string `json:"holderIdentity,omitempty"`
	LeaseDurationSeconds int    `json:"leaseDurationSeconds,omitempty"`
	RenewTime            string `json:"renewTime,omitempty"`
}

type lease struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   meta   `json:"metadata"`
	Spec       spec   `json:"spec"`
}

type access struct {
	server string
	tls    *tls.Config
}

// load reads the kubeconfig that the API server writes: one cluster and one user, each value on its own line.
func load(file string) access {
	text, err := os.ReadFile(file)
	check(err)
	values := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		name, value, found := strings.Cut(strings.TrimLeft(line, " -"), ": ")
		if found {
			values[name] = strings.Trim(value, "\"' ")
		}
	}
	decode := func(name string) []byte {
		bytes, err := base64.StdEncoding.DecodeString(values[name])
		check(err)
		return bytes
	}
	authorities := x509.NewCertPool()
	if !authorities.AppendCertsFromPEM(decode("certificate-authority-data")) {
		log.Fatalf("%s has no certificate of an authority", file)
	}
	identity, err := tls.X509KeyPair(decode("client-certificate-data"), decode("client-key-data"))
	check(err)
	return access{values["server"], &tls.Config{RootCAs: authorities, Certificates: []tls.Certificate{identity}}}
}

// client has a connection of its own.
func (a access) client(http1 bool) *http.Client {
	transport := &http.Transport{TLSClientConfig: a.tls.Clone(), ForceAttemptHTTP2: !http1, MaxConnsPerHost: 1}
	if http1 {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	return &http.Client{Transport: transport}
}

// send writes a lease and reads the stored one.
func send(client *http.Client, method, url string, object *lease) error {
	body, err := json.Marshal(object)
	if err != nil {
		return err
	}
	request, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s %s", method, url, response.Status, answer)
	}
	return json.Unmarshal(answer, object)
}

// watch counts the events of all leases.
func watch(a access, http1 bool, seen *int64) {
	response, err := a.client(http1).Get(a.server + "/apis/coordination.k8s.io/v1/leases?watch=1&timeoutSeconds=3600")
	check(err)
	if response.StatusCode != http.StatusOK {
		log.Fatalf("the watch was answered with %s", response.Status)
	}
	go func() {
		lines := bufio.NewReaderSize(response.Body, 1<<16)
		for {
			line, err := lines.ReadBytes('\n')
			check(err)
			var event struct {
				Type   string `json:"type"`
				Object lease  `json:"object"`
			}
			check(json.Unmarshal(line, &event))
			atomic.AddInt64(seen, 1)
		}
	}()
}

// cpu is the processor time of a process in seconds; Linux counts it in hundredths.
func cpu(pid int) float64 {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	check(err)
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+2:]))
	user, err := strconv.Atoi(fields[11])
	check(err)
	system, err := strconv.Atoi(fields[12])
	check(err)
	return float64(user+system) / 100
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the administrator's kubeconfig")
	pid := flag.Int("pid", 0, "the API server's process")
	nodes := flag.Int("nodes", 10000, "leases to renew in turn")
	connections := flag.Int("connections", 64, "connections, each with one request at a time")
	http1 := flag.Bool("http1", false, "HTTP/1.1 instead of HTTP/2")
	warmup := flag.Duration("warmup", 30*time.Second, "time before the measurement")
	measured := flag.Duration("measured", 30*time.Second, "time of the measurement")
	flag.Parse()
	if *nodes < *connections {
		log.Fatalf("-nodes is %d, but each of the %d connections needs one", *nodes, *connections)
	}

	a := load(*kubeconfig)
	var done, seen int64
	var measuring, stop int32
	latencies := make([][]time.Duration, *connections)
	var all sync.WaitGroup
	created := make(chan bool, *connections)
	for worker := 0; worker < *connections; worker++ {
		all.Add(1)
		go func(worker int) {
			defer all.Done()
			client := a.client(*http1)
			var own []*lease
			for node := worker; node < *nodes; node += *connections {
				object := &lease{"coordination.k8s.io/v1", "Lease", meta{Name: fmt.Sprintf("go-node-%d", node)},
					spec{fmt.Sprintf("go-node-%d", node), 40, time.Now().UTC().Format(microTime)}}
				check(send(client, "POST", a.server+leases, object))
				own = append(own, object)
			}
			created <- true
			for turn := 0; atomic.LoadInt32(&stop) == 0; turn++ {
				object := own[turn%len(own)]
				object.Spec.RenewTime = time.Now().UTC().Format(microTime)
				began := time.Now()
				check(send(client, "PUT", a.server+leases+"/"+object.Metadata.Name, object))
				if atomic.LoadInt32(&measuring) == 1 {
					latencies[worker] = append(latencies[worker], time.Since(began))
					atomic.AddInt64(&done, 1)
				}
			}
		}(worker)
	}
	for worker := 0; worker < *connections; worker++ {
		<-created
	}
	watch(a, *http1, &seen)
	time.Sleep(*warmup)
	server, own, events := cpu(*pid), cpu(os.Getpid()), atomic.LoadInt64(&seen)
	atomic.StoreInt32(&measuring, 1)
	began := time.Now()
	time.Sleep(*measured)
	atomic.StoreInt32(&measuring, 0)
	took := time.Since(began).Seconds()
	server, own, events = cpu(*pid)-server, cpu(os.Getpid())-own, atomic.LoadInt64(&seen)-events
	atomic.StoreInt32(&stop, 1)
	all.Wait()

	var sorted []time.Duration
	for _, some := range latencies {
		sorted = append(sorted, some...)
	}
	sort.Slice(sorted, func(i, j int) bool { return sorted[i] < sorted[j] })
	protocol := "HTTP/2"
	if *http1 {
		protocol = "HTTP/1.1"
	}
	fmt.Printf("| %s, %d connections | %.0f | %.1f; %.1f ms | %.0f | %.3f; %.3f ms |\n", protocol, *connections,
		float64(done)/took, millis(sorted[len(sorted)/2]), millis(sorted[len(sorted)*99/100]), float64(events)/took,
		server*1e3/float64(done), own*1e3/float64(done))
}

func millis(time time.Duration) float64 {
	return float64(time.Microseconds()) / 1e3
}
