package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// lifetime is longer than any test run and short enough that a certificate left behind is of no use.
const lifetime = 48 * time.Hour

type signer struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// writeCertificates fills the folder of its one argument with throw-away certificates: the authority, the API server's,
// one for each client (the user name is the file's name), and the key that signs the tokens of service accounts.
func writeCertificates() {
	if len(os.Args) != 2 {
		exit(fmt.Errorf("usage: control-plane certificates FOLDER"))
	}
	folder := os.Args[1]
	authority := issue(folder, "authority", pkix.Name{CommonName: "bayplan-tests"}, nil)
	issue(folder, "server", pkix.Name{CommonName: "kube-apiserver"}, authority)
	issue(folder, "admin", pkix.Name{CommonName: "admin", Organization: []string{"system:masters"}}, authority)
	issue(folder, "kube-controller-manager", pkix.Name{CommonName: "system:kube-controller-manager"}, authority)
	issue(folder, "kube-scheduler", pkix.Name{CommonName: "system:kube-scheduler"}, authority)
	writeKey(folder, "service-account", newKey())
}

func issue(folder string, file string, name pkix.Name, authority *signer) *signer {
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()),
		Subject:      name,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(lifetime),
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		DNSNames:     []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 96, 0, 1)},
	}
	made := &signer{certificate: template, key: newKey()}
	by := authority
	if by == nil {
		template.IsCA = true
		template.BasicConstraintsValid = true
		template.KeyUsage |= x509.KeyUsageCertSign
		by = made
	}
	der, err := x509.CreateCertificate(rand.Reader, template, by.certificate, made.key.Public(), by.key)
	exit(err)
	writePem(filepath.Join(folder, file+".crt"), "CERTIFICATE", der)
	writeKey(folder, file, made.key)
	return made
}

func newKey() *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	exit(err)
	return key
}

func writeKey(folder string, file string, key *ecdsa.PrivateKey) {
	der, err := x509.MarshalECPrivateKey(key)
	exit(err)
	writePem(filepath.Join(folder, file+".key"), "EC PRIVATE KEY", der)
}

func writePem(path string, kind string, der []byte) {
	exit(os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
