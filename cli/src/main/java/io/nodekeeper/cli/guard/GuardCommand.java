package io.nodekeeper.cli.guard;

import io.nodekeeper.api.Failures;
import io.nodekeeper.api.Names;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.yaml.Yaml;
import io.nodekeeper.cli.command.CommandRunner;
import io.nodekeeper.cli.command.Faults;
import io.nodekeeper.cli.command.NodekeeperCommand;
import io.nodekeeper.cli.options.KubeconfigOptions;
import io.nodekeeper.client.HttpTransport;
import io.nodekeeper.client.KubeClient;
import io.nodekeeper.controller.guard.GuardRights;
import io.nodekeeper.controller.guard.Webhook;
import io.nodekeeper.time.ThreadLoop;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code guard}: applies, removes or prints the webhook configuration of guard mode. */
@Command(
        name = "guard",
        description = "Applies, removes or prints the webhook configuration with which the API server asks a controller"
                + " in guard mode before it stores a write that blames a node.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  nodekeeper guard print | kubectl apply -f -",
            "      The webhook configuration and the rights of the guard's ServiceAccount.",
            "  nodekeeper guard apply --kubeconfig admin.kubeconfig --url https://10.0.0.7:9443",
            "      For a controller in guard mode outside the cluster.",
            "  nodekeeper guard remove --kubeconfig admin.kubeconfig",
            "      From then on no write is checked."
        })
public final class GuardCommand extends NodekeeperCommand {
    /** What to do. */
    enum Action {
        apply,
        remove,
        print
    }

    private static final Pattern SERVICE = Pattern.compile("([^/:]+)/([^/:]+)(?::(\\d{1,5}))?");
    /** The port of a Service for HTTPS, as the API assumes. */
    private static final int HTTPS = 443;
    /** The deadline of each call: a person waits at a terminal. */
    private static final Duration CALL_LIMIT = Duration.ofSeconds(10);

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "apply|remove|print",
            defaultValue = "print",
            description = "apply writes the webhook configuration, and keeps the certificates and annotations of an"
                    + " existing one. remove deletes it. print prints it and the rights as YAML. Default:"
                    + " ${DEFAULT-VALUE}.")
    Action action = Action.print;

    @Option(
            names = "--service",
            paramLabel = "NAMESPACE/NAME[:PORT]",
            defaultValue = "kube-system/nodekeeper-guard",
            description = "The Service in front of the guard. Default: ${DEFAULT-VALUE}.")
    String service = "kube-system/nodekeeper-guard";

    @Option(
            names = "--url",
            paramLabel = "URL",
            description = "The address of a guard outside the cluster, instead of --service.")
    Optional<URI> url = Optional.empty();

    @Option(
            names = "--match-conditions",
            paramLabel = "true|false",
            arity = "0..1",
            defaultValue = "true",
            fallbackValue = "true",
            description = "Whether the API server selects the writes by user itself, which Kubernetes does since 1.28."
                    + " With false it sends all updates of nodes, heartbeats included. Default: ${DEFAULT-VALUE}.")
    boolean conditions = true;

    @Mixin
    GuardUsers users = new GuardUsers();

    @Mixin
    KubeconfigOptions kubeconfig = new KubeconfigOptions();

    private final PrintWriter out;

    /** Prints results to {@code out}. */
    public GuardCommand(PrintWriter out) {
        this.out = out;
    }

    @Override
    public void check(Faults faults) {
        super.check(faults);
        if (action != Action.print) {
            kubeconfig.check(faults);
        }
        users.check(faults);
        Matcher form = SERVICE.matcher(service);
        faults.require(
                form.matches()
                        && Names.subdomainFault(form.group(1)).isEmpty()
                        && Names.subdomainFault(form.group(2)).isEmpty()
                        && port(form) >= 1
                        && port(form) <= 65_535
                        && form.group(1).length() <= 63
                        && form.group(2).length() <= 63,
                "--service is \"" + (service.length() > 80 ? service.substring(0, 80) + "..." : service)
                        + "\"; expected NAMESPACE/NAME or NAMESPACE/NAME:PORT");
        url.ifPresent(address -> faults.require(
                Faults.isUrl(address, "https")
                        && address.getRawQuery() == null
                        && address.getRawFragment() == null
                        && address.getRawPath().matches("/?"),
                "--url is " + Faults.shown(address) + "; expected a form like https://10.0.0.7:9443"));
    }

    private static int port(Matcher form) {
        return form.group(3) == null ? HTTPS : Integer.parseInt(form.group(3));
    }

    private Webhook webhook() {
        return Webhook.of(
                url.<Webhook.Target>map(Webhook.Target.Address::new).orElseGet(this::target),
                users.names(),
                conditions);
    }

    private Webhook.Target.Service target() {
        Matcher form = SERVICE.matcher(service);
        if (!form.matches()) {
            throw new IllegalStateException("--service is \"" + service + "\"; it was checked before");
        }
        return new Webhook.Target.Service(form.group(1), form.group(2), port(form));
    }

    @Override
    public int run() throws IOException {
        if (action == Action.print) {
            print();
            return CommandRunner.OK;
        }
        ThreadLoop loop = new ThreadLoop("guard-command");
        HttpTransport transport = new HttpTransport(kubeconfig.access());
        try {
            KubeClient client = new KubeClient(transport, loop, CALL_LIMIT);
            out.println(action == Action.apply ? apply(client) : remove(client));
            out.flush();
            return CommandRunner.OK;
        } catch (CompletionException e) {
            throw new IOException(Failures.text(e), e);
        } finally {
            transport.close();
            loop.close();
        }
    }

    private void print() {
        List<JsonObject> all = new ArrayList<>(GuardRights.of(target().namespace(), Webhook.NAME));
        all.add(webhook().json());
        for (JsonObject object : all) {
            out.print("---\n" + new String(Yaml.write(object), StandardCharsets.UTF_8));
        }
        out.flush();
    }

    private String apply(KubeClient client) {
        Optional<JsonObject> stored = client.get(Webhook.TYPE, "", Webhook.NAME)
                .thenApply(Optional::of)
                .exceptionally(error -> {
                    if (Failures.isCode(error, 404)) {
                        return Optional.empty();
                    }
                    throw new CompletionException(Failures.cause(error));
                })
                .join();
        Webhook wanted = webhook();
        if (stored.isEmpty()) {
            client.create(Webhook.TYPE, "", wanted.json()).join();
            return "created " + Webhook.TYPE.qualifiedName() + " " + Webhook.NAME;
        }
        client.update(
                        Webhook.TYPE,
                        "",
                        Webhook.NAME,
                        wanted.over(new Webhook(stored.get())).json())
                .join();
        return "updated " + Webhook.TYPE.qualifiedName() + " " + Webhook.NAME;
    }

    private String remove(KubeClient client) {
        return client.delete(Webhook.TYPE, "", Webhook.NAME, JsonObject.EMPTY)
                .thenApply(done -> "deleted " + Webhook.TYPE.qualifiedName() + " " + Webhook.NAME)
                .exceptionally(error -> {
                    if (Failures.isCode(error, 404)) {
                        return "there is no " + Webhook.TYPE.qualifiedName() + " " + Webhook.NAME;
                    }
                    throw new CompletionException(Failures.cause(error));
                })
                .join();
    }
}
