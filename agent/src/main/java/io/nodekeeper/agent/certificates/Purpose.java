package io.nodekeeper.agent.certificates;

/** What a certificate is for, with Kubernetes' signer and usage. */
enum Purpose {
    /** The node's API shows it to its clients. */
    SERVING("serving", "server", "kubernetes.io/kubelet-serving", "server auth"),
    /** The agent shows it to the API server. */
    CLIENT("client", "client", "kubernetes.io/kube-apiserver-client-kubelet", "client auth");

    private final String text;
    private final String file;
    private final String signer;
    private final String usage;

    Purpose(String text, String file, String signer, String usage) {
        this.text = text;
        this.file = file;
        this.signer = signer;
        this.usage = usage;
    }

    /** As messages name it. */
    String text() {
        return text;
    }

    /** The part of the names of its files. */
    String file() {
        return file;
    }

    String signer() {
        return signer;
    }

    String usage() {
        return usage;
    }
}
