// Package main is the control plane that the Kubernetes tests run on: each part of a real one, in one binary that links fast.
//
// It only calls the published packages. The first argument says which part to be; the rest is passed on to it.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	_ "time/tzdata"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	descheduler "sigs.k8s.io/descheduler/cmd/descheduler/app"
)

var parts = map[string]func(){
	"certificates":            writeCertificates,
	"etcd":                    func() { etcdmain.Main(os.Args) },
	"kube-apiserver":          func() { run(apiserver.NewAPIServerCommand()) },
	"kube-controller-manager": func() { run(controllermanager.NewControllerManagerCommand()) },
	"kube-scheduler":          func() { run(scheduler.NewSchedulerCommand()) },
	"kwok":                    runKwok,
	"descheduler":             func() { run(descheduler.NewDeschedulerCommand(os.Stdout)) },
}

func main() {
	if len(os.Args) < 2 || parts[os.Args[1]] == nil {
		fmt.Fprintln(os.Stderr, "usage: control-plane certificates|etcd|kube-apiserver|kube-controller-manager|kube-scheduler|kwok|descheduler [ARGUMENTS]")
		os.Exit(2)
	}
	go endWithParent()
	part := os.Args[1]
	os.Args = append([]string{part}, os.Args[2:]...)
	parts[part]()
}

func run(command *cobra.Command) {
	os.Exit(cli.Run(command))
}

// endWithParent ends this process soon after the test run that started it, even one that was killed.
func endWithParent() {
	parent, err := strconv.Atoi(os.Getenv("CONTROL_PLANE_PARENT"))
	for err == nil && os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	if err == nil {
		os.Exit(1)
	}
}
