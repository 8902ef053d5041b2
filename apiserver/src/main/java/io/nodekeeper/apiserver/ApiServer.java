package io.nodekeeper.apiserver;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.Failures;
import io.nodekeeper.apiserver.actions.Action;
import io.nodekeeper.apiserver.actions.PodBinding;
import io.nodekeeper.apiserver.actions.PodEviction;
import io.nodekeeper.apiserver.actions.Reviews;
import io.nodekeeper.apiserver.actions.TokenRequests;
import io.nodekeeper.apiserver.admission.CertificateAdmission;
import io.nodekeeper.apiserver.admission.DefaultTolerations;
import io.nodekeeper.apiserver.admission.EventAdmission;
import io.nodekeeper.apiserver.admission.ServiceAccountAdmission;
import io.nodekeeper.apiserver.audit.AuditIds;
import io.nodekeeper.apiserver.audit.AuditLog;
import io.nodekeeper.apiserver.audit.AuditTrail;
import io.nodekeeper.apiserver.authentication.Authenticator;
import io.nodekeeper.apiserver.authentication.ServiceAccounts;
import io.nodekeeper.apiserver.authorization.AccessSpace;
import io.nodekeeper.apiserver.authorization.AccessState;
import io.nodekeeper.apiserver.authorization.Authorizer;
import io.nodekeeper.apiserver.authorization.Escalation;
import io.nodekeeper.apiserver.authorization.Impersonation;
import io.nodekeeper.apiserver.authorization.rbac.Attributes;
import io.nodekeeper.apiserver.authorization.rbac.AuthorizationDecision;
import io.nodekeeper.apiserver.catalogue.AccessResources;
import io.nodekeeper.apiserver.catalogue.ClusterResources;
import io.nodekeeper.apiserver.catalogue.RequestInfo;
import io.nodekeeper.apiserver.catalogue.Resources;
import io.nodekeeper.apiserver.catalogue.UsageResources;
import io.nodekeeper.apiserver.controllers.BuiltInRolesBootstrap;
import io.nodekeeper.apiserver.controllers.CertificateAuthority;
import io.nodekeeper.apiserver.controllers.CertificateController;
import io.nodekeeper.apiserver.controllers.EventExpiry;
import io.nodekeeper.apiserver.controllers.FixedNamespaces;
import io.nodekeeper.apiserver.controllers.NamespaceController;
import io.nodekeeper.apiserver.controllers.NamespaceDefaults;
import io.nodekeeper.apiserver.controllers.RoleAggregator;
import io.nodekeeper.apiserver.discovery.OpenApi;
import io.nodekeeper.apiserver.eventratelimit.EventRateLimit;
import io.nodekeeper.apiserver.flowcontrol.FlowControlOptions;
import io.nodekeeper.apiserver.flowcontrol.FlowController;
import io.nodekeeper.apiserver.metrics.ServerMetrics;
import io.nodekeeper.apiserver.negotiation.ProtobufResponses;
import io.nodekeeper.apiserver.nodecalls.NodeProxy;
import io.nodekeeper.apiserver.nodecalls.PodLog;
import io.nodekeeper.apiserver.nodecalls.PodStream;
import io.nodekeeper.apiserver.reads.ReadHandler;
import io.nodekeeper.apiserver.request.ApiRequest;
import io.nodekeeper.apiserver.request.ApiResponse;
import io.nodekeeper.apiserver.request.NodeCall;
import io.nodekeeper.apiserver.request.NodeReader;
import io.nodekeeper.apiserver.request.RequestOrigin;
import io.nodekeeper.apiserver.request.RequestTarget;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.routing.DocumentHandler;
import io.nodekeeper.apiserver.routing.Health;
import io.nodekeeper.apiserver.routing.Router;
import io.nodekeeper.apiserver.usage.NodeUsage;
import io.nodekeeper.apiserver.usage.UsageLists;
import io.nodekeeper.apiserver.watches.WatchHandler;
import io.nodekeeper.apiserver.wire.Protobuf;
import io.nodekeeper.apiserver.writes.OptimisticRetry;
import io.nodekeeper.apiserver.writes.WriteHandler;
import io.nodekeeper.store.Store;
import io.nodekeeper.store.StoreException;
import io.nodekeeper.time.Clock;
import io.nodekeeper.time.Deadlines;
import io.nodekeeper.time.Futures;
import io.nodekeeper.time.Loop;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Kubernetes API as a function from requests to answers: authenticates, authorizes, parses the target, applies the
 * kind's rules, and uses the store. It has no network code. Thread-safe.
 */
public final class ApiServer {
    private static final Logger log = LoggerFactory.getLogger(ApiServer.class);

    /**
     * How long after the start the server loads classes in advance: by then it is ready and its clients have connected,
     * and the first protobuf bodies come later.
     */
    private static final Duration WARM_UP = Duration.ofSeconds(3);
    /** How long a request waits for the owner of its token: a disk that answers takes milliseconds. */
    private static final Duration OWNER = Duration.ofSeconds(10);

    private final Store store;
    private final Loop loop;
    private final Clock clock;
    private final Authenticator authenticator;
    private final AuditIds auditIds;
    private final Optional<AuditLog> audit;
    private final Optional<ServiceAccounts> accounts;
    private final AccessState access;
    private final Authorizer authorizer;
    private final Impersonation impersonation;
    private final Executor workers;
    private final WriteHandler writes;
    private final Health health;
    private final ServerMetrics metrics;

    private final NodeUsage usage;
    private final FlowController flowControl;
    private final Router router;
    private final DocumentHandler documents;

    /** A server for {@code store} with Kubernetes' defaults, which runs all work on the calling thread. */
    public ApiServer(
            Store store, Loop loop, RandomGenerator random, Authenticator authenticator, String serverAddress) {
        this(
                store,
                loop,
                random,
                authenticator,
                serverAddress,
                DefaultTolerations.DEFAULT,
                FlowControlOptions.DEFAULT,
                Runnable::run,
                Optional.empty());
    }

    /**
     * A server for {@code storage} with limits.
     * @param loop the store's loop, which serves watches
     * @param random for UIDs and generated names; thread-safe unless everything runs on one thread
     * @param serverAddress host and port for clients, as in discovery
     * @param defaultTolerations the tolerations of pods that do not say how long they stay on a failed node
     * @param limits the limits of concurrent requests
     * @param workers runs lists, large bodies, OpenAPI documents and delayed requests
     * @param audit the audit log of requests; its creator closes it
     */
    public ApiServer(
            Store storage,
            Loop loop,
            RandomGenerator random,
            Authenticator authenticator,
            String serverAddress,
            DefaultTolerations defaultTolerations,
            FlowControlOptions limits,
            Executor workers,
            Optional<AuditLog> audit) {
        this.audit = audit;
        this.loop = loop;
        this.clock = loop.clock();
        this.authenticator = authenticator;
        auditIds = new AuditIds(random);
        this.workers = workers;
        metrics = new ServerMetrics(storage, audit);
        store = metrics.timed(storage, clock);
        flowControl = new FlowController(limits, workers, loop, metrics, this::storedBytes, storage.alone());
        ReadHandler reads = new ReadHandler(store, loop, flowControl::turnOf);
        access = new AccessState(store, loop);
        authorizer = new Authorizer(access);
        impersonation = new Impersonation(authorizer);
        writes = new WriteHandler(
                store,
                clock,
                random,
                defaultTolerations,
                new ServiceAccountAdmission(
                        store, random, authenticator.serviceAccountTokens().isPresent()),
                new Escalation(access, authorizer),
                new AccessSpace(
                        access,
                        Runtime.getRuntime().maxMemory() / 32,
                        Runtime.getRuntime().maxMemory() / 16),
                new CertificateAdmission(authorizer),
                new EventAdmission(new EventRateLimit(limits.events()), clock),
                workers,
                flowControl::turnOf);
        WatchHandler watches = new WatchHandler(store, loop, reads, random);
        health = new Health(store);
        accounts = authenticator.serviceAccountTokens().map(tokens -> new ServiceAccounts(store, clock, tokens));
        Map<String, Action> actions =
                new HashMap<>(new Reviews(authenticator, accounts, authorizer, access::policy).actions());
        actions.computeIfPresent(AccessResources.TOKEN_REVIEWS.type().path() + "/", (path, review) -> byWorker(review));
        actions.computeIfPresent(
                AccessResources.SELF_SUBJECT_RULES_REVIEWS.type().path() + "/",
                (path, review) -> on(review, flowControl::turnOf));
        actions.put(
                ClusterResources.SERVICE_ACCOUNTS.type().path() + "/token",
                byWorker(new TokenRequests(store, clock, random, authenticator.serviceAccountTokens(), workers)));
        OptimisticRetry retry = new OptimisticRetry(store);
        PodBinding bindings = new PodBinding(retry, clock, writes);
        actions.put(Resources.PODS.type().path() + "/eviction", new PodEviction(store, retry, clock, writes));
        actions.put(Resources.PODS.type().path() + "/binding", bindings);
        actions.put(Resources.PODS.type().path() + "/log", new PodLog(store, flowControl::turnOf));
        actions.put(Resources.NODES.type().path() + "/proxy", new NodeProxy(store, flowControl::turnOf));
        usage = new NodeUsage(loop, workers);
        UsageLists lists = new UsageLists(store, usage, clock, workers, flowControl::turnOf);
        actions.put(UsageResources.NODE_USAGE.type().path() + "/", lists::nodes);
        actions.put(UsageResources.POD_USAGE.type().path() + "/", lists::pods);
        for (String stream : List.of("exec", "attach", "portforward")) {
            actions.put(Resources.PODS.type().path() + "/" + stream, new PodStream(store, flowControl::turnOf));
        }
        actions.put(ClusterResources.BINDINGS.type().path() + "/", bindings);
        router = new Router(reads, watches, writes, metrics, actions);
        documents = new DocumentHandler(health, metrics, authenticator.serviceAccountTokens(), serverAddress);
    }

    /** Reads the built-in roles, which the first server of a process needs. A process does this while its store opens. */
    public static void prepare() {
        AccessState.builtIn();
    }

    /** As {@link #start(Duration, String)}, without a root certificate for pods. */
    public CompletableFuture<Void> start(Duration eventTtl) {
        return start(eventTtl, "");
    }

    /**
     * Creates the objects that must always exist, and starts the server's background tasks.
     * @param eventTtl how long Events are kept
     * @param rootCertificates PEM of the authorities with which pods verify this server; published in each namespace as
     *     the ConfigMap {@code kube-root-ca.crt} unless it is empty
     */
    public CompletableFuture<Void> start(Duration eventTtl, String rootCertificates) {
        return startWithoutRoles(eventTtl)
                .thenCompose(done -> new BuiltInRolesBootstrap(store, writes).ensure())
                .thenRun(() -> new NamespaceDefaults(store, loop, writes, rootCertificates).start());
    }

    /** As {@link #start}, but does not write the built-in roles, which apply while no role is stored. */
    public CompletableFuture<Void> startWithoutRoles(Duration eventTtl) {
        CompletableFuture<Void> created = new FixedNamespaces(store, loop, writes).start();
        new EventExpiry(store, loop, eventTtl).start();
        new NamespaceController(store, loop, writes).start();
        access.start();
        new RoleAggregator(store, loop, writes, workers).start();
        return created;
    }

    /**
     * Loads the protobuf classes in the background. Otherwise the first protobuf body, and all requests on its thread,
     * would wait many hundred milliseconds. It starts with a delay, because a starting server has more urgent work.
     */
    public void warmUp() {
        loop.schedule(WARM_UP, () -> workers.execute(Protobuf::load));
    }

    /** Enables or disables feature gates; call it before {@link #start}. */
    public void switchGates(Map<String, Boolean> switches) {
        ApiServerFeature gate = ApiServerFeature.AUTHORIZE_NODE_WITH_SELECTORS;
        authorizer.nodesReadTheirOwn(switches.getOrDefault(gate.text(), gate.byDefault()));
    }

    /** Signs approved requests of nodes with {@code authority}, as kube-controller-manager would; otherwise none is. */
    public void signCertificates(CertificateAuthority authority) {
        new CertificateController(store, loop, workers, authorizer, authority).start();
    }

    /** Lets the server read what nodes use; before that it knows nothing of it. */
    public void readNodes(NodeReader reader) {
        usage.readWith(reader);
    }

    /** The server's metrics, as {@code /metrics} shows them. */
    public ServerMetrics metrics() {
        return metrics;
    }

    /** Makes {@code /readyz} fail, because the server is about to stop. */
    public void stopping() {
        health.stop();
    }

    /** Counts a request of that HTTP method that was refused before it reached this class. */
    public void dropped(String method) {
        metrics.dropped(RequestInfo.of(method, "/", false));
    }

    /** Counts a connection that failed before its first request. */
    public void handshakeFailed() {
        metrics.handshakeFailed();
    }

    /**
     * Counts a connection with a client certificate that expires at {@code end}. Counted per connection, not per
     * request as in kube-apiserver, to keep requests fast.
     */
    public void certificateShown(Instant end) {
        metrics.certificateShown(Duration.between(clock.wallTime(), end).toMillis() / 1e3);
    }

    /** Answers {@code request}; the result never fails. */
    public CompletableFuture<ApiResponse> handle(ApiRequest request) {
        return handle(request, RequestOrigin.ANY);
    }

    /** As {@link #handle(ApiRequest)}, for a request from {@code origin}. */
    public CompletableFuture<ApiResponse> handle(ApiRequest request, RequestOrigin origin) {
        boolean watch = isWatch(request);
        RequestInfo info = RequestInfo.of(request.method(), request.path(), watch);
        long began = clock.nanoTime();
        metrics.started(info);
        String auditId = request.header("audit-id").isEmpty() ? auditIds.next() : request.header("audit-id");
        Optional<AuditTrail> trail = audit.map(log -> new AuditTrail(log, clock, request, info, auditId));
        CompletableFuture<ApiResponse> answer;
        try {
            answer = route(request, info, trail, origin);
        } catch (RuntimeException | StackOverflowError e) {
            answer = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<ApiResponse> answered = answer.handle((response, error) -> {
            ApiResponse given = error == null ? response : refusal(request, error);
            ApiResponse counted = counted(request, info, given, began);
            return withHeaders(trail.map(known -> known.logged(counted)).orElse(counted), auditId);
        });
        // Refusals are converted last, because the audit log quotes them.
        return answered.thenCompose(response -> response.isRefusal()
                ? ProtobufResponses.of(request, response, workers)
                : CompletableFuture.completedFuture(response));
    }

    /** Counts the request when it has been answered. */
    private ApiResponse counted(ApiRequest request, RequestInfo info, ApiResponse response, long began) {
        if (response instanceof ApiResponse.Relayed relayed) {
            return relayed.and(
                    answer -> metrics.finished(request, info, answer.status(), (clock.nanoTime() - began) / 1e9),
                    () -> {});
        }
        metrics.finished(request, info, response.status(), (clock.nanoTime() - began) / 1e9);
        return metrics.answered(info, response);
    }

    /** Authenticates the user, applies impersonation, and refuses what the user may not do. */
    private User authorized(ApiRequest request, RequestInfo info, Optional<AuditTrail> trail) {
        User caller;
        try {
            caller = authenticator.authenticate(request, accounts, clock.wallTime());
        } catch (ApiException e) {
            metrics.authenticated(false);
            throw e;
        }
        metrics.authenticated(true);
        trail.ifPresent(audited -> audited.authenticated(caller));
        User user = impersonation.apply(caller, request);
        if (user != caller) {
            trail.ifPresent(audited -> audited.impersonates(user));
        }
        Attributes asked = Authorizer.attributes(user, info, request);
        AuthorizationDecision decision = authorizer.decide(asked);
        trail.ifPresent(audited -> audited.decided(decision));
        if (!decision.allowed()) {
            throw Authorizer.refusal(asked, decision.reason());
        }
        return user;
    }

    /** The bytes of the object that the request names, as far as this server knows; 0 if there is none. */
    private long storedBytes(RequestInfo info) {
        RequestTarget target = info.resource().orElseThrow();
        if (info.known().isEmpty() || target.name().isEmpty()) {
            return 0;
        }
        return store.get(Resources.stored(info.known().get()).key(target.namespace(), target.name()))
                .map(entry -> (long) entry.length())
                .orElse(0L);
    }

    /**
     * The {@linkplain User#flow flow} of the user who sends {@code request}, if the request is authorized as far as its headers show; empty
     * otherwise. The server collects bodies that arrive in several parts only from authorized users; {@link #handle}
     * sends the refusal to others.
     */
    public Optional<String> permitted(ApiRequest request) {
        RequestInfo info = RequestInfo.of(request.method(), request.path(), isWatch(request));
        try {
            // An owner that must be read from disk first is believed here; handle waits for it.
            CompletableFuture<Void> owner = authenticator.load(request, accounts);
            User caller = owner.state() == Future.State.SUCCESS
                    ? authenticator.authenticate(request, accounts, clock.wallTime())
                    : authenticator.claimed(request, accounts).orElse(User.ANONYMOUS);
            User user = impersonation.apply(caller, request);
            return authorizer.decide(Authorizer.attributes(user, info, request)).allowed()
                    ? Optional.of(user.flow())
                    : Optional.empty();
        } catch (ApiException | StoreException e) {
            return Optional.empty();
        }
    }

    private static boolean isWatch(ApiRequest request) {
        return request.method().equals("GET") && request.flag("watch");
    }

    private CompletableFuture<ApiResponse> route(
            ApiRequest request, RequestInfo info, Optional<AuditTrail> trail, RequestOrigin origin) {
        if (!request.header(NodeCall.RELAYED).isEmpty()) {
            throw new ApiException(
                    403,
                    "Forbidden",
                    "this request comes from an API server that takes this server for a node; check the addresses in the"
                            + " status of its nodes");
        }
        CompletableFuture<Void> owner = authenticator.load(request, accounts);
        if (owner.state() == Future.State.SUCCESS) {
            return admit(request, info, trail, origin);
        }
        return Deadlines.within(loop, OWNER, "reading the owner of the token", owner)
                .thenComposeAsync(read -> admit(request, info, trail, origin), workers);
    }

    private CompletableFuture<ApiResponse> admit(
            ApiRequest request, RequestInfo info, Optional<AuditTrail> trail, RequestOrigin origin) {
        User user = authorized(request, info, trail);
        origin.authorized(user.flow());
        return flowControl.dispatch(
                user,
                info,
                request,
                origin,
                () -> serve(user, request, info).thenCompose(response -> converted(user, request, response)));
    }

    /** An answer in the form that the client accepts. Its request holds its place until then, so what waits for that is bounded. */
    private CompletableFuture<ApiResponse> converted(User user, ApiRequest request, ApiResponse response) {
        return response.isRefusal()
                ? CompletableFuture.completedFuture(response)
                : ProtobufResponses.of(request, response, flowControl.turnOf(user));
    }

    /** The same action on a worker: one that may read the disk, or computes signatures. */
    private Action byWorker(Action action) {
        return on(action, user -> workers);
    }

    private static Action on(Action action, Function<User, Executor> executor) {
        return (user, resource, target, request) ->
                Futures.startOn(executor.apply(user), () -> action.on(user, resource, target, request));
    }

    private CompletableFuture<ApiResponse> serve(User user, ApiRequest request, RequestInfo info) {
        if (info.resource().isPresent()) {
            return router.answer(user, request, info, info.resource().get());
        }
        // The OpenAPI documents are created at the first request, which takes a while.
        return OpenApi.covers(request.path())
                ? CompletableFuture.supplyAsync(() -> documents.answer(request), workers)
                : CompletableFuture.completedFuture(documents.answer(request));
    }

    private static ApiResponse refusal(ApiRequest request, Throwable error) {
        if (Failures.cause(error) instanceof ApiException refused) {
            ApiResponse.Full response = ApiResponse.refusal(refused);
            Optional<Long> retry = refused.details().number("retryAfterSeconds");
            if (retry.isPresent()) {
                Map<String, String> headers = new HashMap<>(response.headers());
                headers.put("retry-after", Long.toString(retry.get()));
                return new ApiResponse.Full(response.status(), headers, response.body());
            }
            return response;
        }
        log.error("{} {} failed", request.method(), request.path(), Failures.cause(error));
        return ApiResponse.refusal(
                new ApiException(500, "InternalError", "Internal error occurred: " + Failures.cause(error)));
    }

    private static ApiResponse withHeaders(ApiResponse response, String auditId) {
        Map<String, String> headers = new HashMap<>(response.headers());
        headers.put("audit-id", auditId);
        headers.putIfAbsent("cache-control", "no-cache, private");
        if (response.status() == 403) {
            headers.put("x-content-type-options", "nosniff");
        }
        return switch (response) {
            case ApiResponse.Full full -> new ApiResponse.Full(full.status(), headers, full.body());
            case ApiResponse.Chunked large -> new ApiResponse.Chunked(large.status(), headers, large.chunks());
            case ApiResponse.Streamed streamed ->
                new ApiResponse.Streamed(streamed.status(), headers, streamed.start());
            case ApiResponse.Relayed relayed ->
                new ApiResponse.Relayed(relayed.status(), headers, relayed.call(), relayed.answered(), relayed.ended());
        };
    }
}
