package io.nodekeeper.apiserver.authentication;

import static org.assertj.core.api.Assertions.assertThat;

import io.nodekeeper.api.json.Json;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.request.User;
import io.nodekeeper.apiserver.testing.TestServer;
import io.nodekeeper.apiserver.testing.TestServer.Answer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Service account tokens: creation, bound objects, use and expiry. */
class ServiceAccountTest {
    private static final String ISSUER = "https://kubernetes.default.svc.cluster.local";
    private static final String ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
    private static final String PODS = "/api/v1/namespaces/default/pods";
    private static final String REVIEWS = "/apis/authentication.k8s.io/v1/tokenreviews";
    private static final String WHOAMI = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

    private static final KeyPair EC = keys("EC", 256);
    private static final KeyPair OTHER = keys("EC", 256);

    private final TestServer server = new TestServer(authenticator(EC));

    private static KeyPair keys(String algorithm, int bits) {
        try {
            KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
            generator.initialize(bits);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Authenticator authenticator(KeyPair keys) {
        return new Authenticator(
                TestServer.TOKENS,
                new ServiceAccountTokens(keys.getPrivate(), List.of(keys.getPublic()), ISSUER, List.of(ISSUER)));
    }

    private String account(String name) {
        Answer answer = server.post(ACCOUNTS, "{\"metadata\":{\"name\":\"" + name + "\"}}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().object("metadata").text("uid");
    }

    private Answer request(String account, String spec) {
        return server.post(
                ACCOUNTS + "/" + account + "/token",
                "{\"kind\":\"TokenRequest\",\"apiVersion\":\"authentication.k8s.io/v1\",\"spec\":{" + spec + "}}");
    }

    private String token(String account, String spec) {
        Answer answer = request(account, spec);
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json().object("status").text("token");
    }

    private Answer with(String token, String method, String uri, String body) {
        return server.ask(User.ANONYMOUS, method, uri, Map.of("authorization", "Bearer " + token), body);
    }

    private int status(String token) {
        return with(token, "GET", "/version", "").status();
    }

    private static JsonObject part(String token, int index) {
        return Json.parseObject(Base64.getUrlDecoder().decode(token.split("\\.")[index]));
    }

    @Test
    void tokenHasTheAccountAndTheExpiry() {
        String uid = account("a");
        Answer answer = request("a", "\"expirationSeconds\":600");
        JsonObject status = answer.json().object("status");
        assertThat(status.text("expirationTimestamp")).isEqualTo("2026-11-21T07:10:00Z");
        assertThat(answer.json().object("spec"))
                .hasToString("{\"expirationSeconds\":600,\"audiences\":[\"" + ISSUER + "\"]}");
        JsonObject claims = part(status.text("token"), 1);
        assertThat(claims.text("sub")).isEqualTo("system:serviceaccount:default:a");
        assertThat(claims.text("iss")).isEqualTo(ISSUER);
        assertThat(claims.array("aud")).hasToString("[\"" + ISSUER + "\"]");
        assertThat(claims.number("exp").orElseThrow() - claims.number("iat").orElseThrow())
                .isEqualTo(600);
        assertThat(claims.object("kubernetes.io"))
                .hasToString("{\"namespace\":\"default\",\"serviceaccount\":{\"name\":\"a\",\"uid\":\"" + uid + "\"}}");
        JsonObject header = part(status.text("token"), 0);
        JsonObject key = Json.parseObject(server.get("/openid/v1/jwks").text())
                .array("keys")
                .objects()
                .findFirst()
                .orElseThrow();
        assertThat(header.text("alg")).isEqualTo("ES256");
        assertThat(key.text("kid")).isEqualTo(header.text("kid")).isNotEmpty();
        assertThat(key.text("crv")).isEqualTo("P-256");
        assertThat(server.get("/.well-known/openid-configuration").json())
                .hasToString(
                        "{\"issuer\":\"" + ISSUER
                                + "\",\"jwks_uri\":\"https://127.0.0.1:6443/openid/v1/jwks\",\"response_types_supported\":[\"id_token\"],\"subject_types_supported\":[\"public\"],\"id_token_signing_alg_values_supported\":[\"ES256\"]}");
    }

    @Test
    void holderOfTheTokenIsTheAccount() {
        String uid = account("a");
        Answer answer = with(token("a", ""), "POST", WHOAMI, "{}");
        JsonObject user = answer.json().object("status").object("userInfo");
        assertThat(user.text("username")).isEqualTo("system:serviceaccount:default:a");
        assertThat(user.text("uid")).isEqualTo(uid);
        assertThat(user.array("groups"))
                .hasToString(
                        "[\"system:serviceaccounts\",\"system:serviceaccounts:default\",\"system:authenticated\"]");
        assertThat(user.object("extra")
                        .array("authentication.kubernetes.io/credential-id")
                        .toString())
                .startsWith("[\"JTI=");
        // and it has the granted rights
        assertThat(with(token("a", ""), "GET", PODS, "").message())
                .startsWith("pods is forbidden: User \"system:serviceaccount:default:a\" cannot list");
    }

    @Test
    void tokenExpires() {
        account("a");
        String token = token("a", "\"expirationSeconds\":600");
        server.time.advance(Duration.ofSeconds(599));
        assertThat(status(token)).isEqualTo(200);
        server.time.advance(Duration.ofSeconds(1));
        assertThat(status(token)).isEqualTo(401);
    }

    @Test
    void tokenIsInvalidAfterTheDeletionOfItsAccount() {
        account("a");
        String token = token("a", "");
        assertThat(status(token)).isEqualTo(200);
        server.delete(ACCOUNTS + "/a", "");
        assertThat(status(token)).isEqualTo(401);
        account("a");
        assertThat(status(token)).isEqualTo(401);
    }

    @Test
    void boundTokenIsInvalidAfterTheDeletionOfItsPod() {
        account("a");
        String body =
                TestServer.pod("p", "n1").replace("\"containers\"", "\"serviceAccountName\":\"a\",\"containers\"");
        String uid = server.post(PODS, body).json().object("metadata").text("uid");
        String bound =
                "\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"p\",\"uid\":\"" + uid + "\"}";
        String token = token("a", bound);
        assertThat(with(token, "POST", WHOAMI, "{}").text())
                .contains("\"authentication.kubernetes.io/pod-name\":[\"p\"]")
                .contains("\"authentication.kubernetes.io/pod-uid\":[\"" + uid + "\"]");
        server.delete(PODS + "/p", "{\"gracePeriodSeconds\":0}");
        assertThat(status(token)).isEqualTo(401);
        assertThat(request("a", bound).message()).isEqualTo("pods \"p\" not found");
    }

    @Test
    void tokenOfAPodNamesTheNode() {
        account("a");
        server.node("n1");
        String uid = server.get("/api/v1/nodes/n1").json().object("metadata").text("uid");
        server.post(
                PODS,
                TestServer.pod("p", "n1").replace("\"containers\"", "\"serviceAccountName\":\"a\",\"containers\""));

        String token = token("a", "\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"p\"}");

        assertThat(part(token, 1).object("kubernetes.io").object("node"))
                .hasToString("{\"name\":\"n1\",\"uid\":\"" + uid + "\"}");
        assertThat(with(token, "POST", WHOAMI, "{}").text())
                .contains("\"authentication.kubernetes.io/node-name\":[\"n1\"]")
                .contains("\"authentication.kubernetes.io/node-uid\":[\"" + uid + "\"]");
    }

    /** Its node could otherwise keep a token of the account after the pods that use it have left the node. */
    @Test
    void tokenIsNotBoundToAMirrorPodWhichHasNoAccount() {
        account("default");
        Answer mirror = server.post(
                PODS,
                "{\"metadata\":{\"name\":\"m\",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}},\"spec\":{"
                        + "\"nodeName\":\"n1\",\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}");
        assertThat(mirror.status()).as(mirror.text()).isEqualTo(201);

        Answer refused =
                request("default", "\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"m\"}");

        assertThat(refused.status()).isEqualTo(400);
        assertThat(refused.message())
                .isEqualTo("cannot bind token for serviceaccount \"default\" to pod running with different"
                        + " serviceaccount name.");
    }

    @Test
    void impossibleTokenRequestIsRefused() {
        account("a");
        assertThat(request("nope", "").message()).isEqualTo("serviceaccounts \"nope\" not found");
        assertThat(request("a", "\"expirationSeconds\":599").message())
                .isEqualTo(
                        "TokenRequest.authentication.k8s.io \"a\" is invalid: spec.expirationSeconds: Invalid value: 599: may not specify a duration less than 10 minutes");
        assertThat(request("a", "\"expirationSeconds\":4294967297").message())
                .endsWith("may not specify a duration larger than 2^32 seconds");
        assertThat(request("a", "\"boundObjectRef\":{\"kind\":\"Node\",\"apiVersion\":\"v1\",\"name\":\"n\"}")
                        .status())
                .isEqualTo(400);
        server.post(PODS, TestServer.pod("p", "n1"));
        assertThat(request("a", "\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"p\"}")
                        .message())
                .isEqualTo(
                        "cannot bind token for serviceaccount \"a\" to pod running with different serviceaccount name.");
        assertThat(request(
                                "a",
                                "\"boundObjectRef\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"name\":\"p\",\"uid\":\"x\"}")
                        .status())
                .isEqualTo(409);
    }

    @Test
    void tokenForAnotherAudienceIsOnlyValidInItsReview() {
        account("a");
        String token = token("a", "\"audiences\":[\"vault\"]");
        assertThat(status(token)).isEqualTo(401);
        assertThat(review("\"token\":\"" + token + "\"").object("status"))
                .hasToString("{\"user\":{},\"error\":\"invalid bearer token\"}");
        JsonObject status = review("\"token\":\"" + token + "\",\"audiences\":[\"other\",\"vault\"]")
                .object("status");
        assertThat(status.bool("authenticated")).isTrue();
        assertThat(status.array("audiences")).hasToString("[\"vault\"]");
    }

    @Test
    void tokensAndReviewsHaveAtMostAHundredAudiences() {
        account("a");
        String hundred = "\"audiences\":[" + "\"x\",".repeat(99) + "\"vault\"]";
        String more = "\"audiences\":[" + "\"x\",".repeat(100) + "\"vault\"]";
        String token = token("a", hundred);

        assertThat(review("\"token\":\"" + token + "\"," + hundred)
                        .object("status")
                        .bool("authenticated"))
                .isTrue();
        assertThat(request("a", more).status()).isEqualTo(422);
        assertThat(request("a", more).message())
                .isEqualTo(
                        "TokenRequest.authentication.k8s.io \"a\" is invalid: spec.audiences: Too many: 101: must have at most 100 items");
        assertThat(server.post(REVIEWS, "{\"spec\":{\"token\":\"" + token + "\"," + more + "}}")
                        .message())
                .endsWith("spec.audiences: Too many: 101: must have at most 100 items");
    }

    @Test
    void onlySmallTokensAreRemembered() {
        account("a");
        ServiceAccountTokens tokens =
                new ServiceAccountTokens(EC.getPrivate(), List.of(EC.getPublic()), ISSUER, List.of(ISSUER));
        ServiceAccounts accounts = new ServiceAccounts(server.store, server.loop.clock(), tokens);
        String usual = token("a", "");
        String wordy = token("a", "\"audiences\":[\"" + ISSUER + "\",\"" + "x".repeat(4_000) + "\"]");

        for (String token : List.of(usual, wordy)) {
            assertThat(accounts.authenticate(TokenHash.of(token), token, List.of()))
                    .isPresent();
        }

        assertThat(accounts.remembered()).isEqualTo(1);
    }

    private JsonObject review(String spec) {
        Answer answer = server.post(REVIEWS, "{\"spec\":{" + spec + "}}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(201);
        return answer.json();
    }

    @Test
    @Tag("W82")
    void tokenReviewAcceptsOnlyValidTokens() {
        String uid = account("a");
        JsonObject good = review("\"token\":\"" + token("a", "") + "\"").object("status");
        assertThat(good.bool("authenticated")).isTrue();
        assertThat(good.object("user").text("username")).isEqualTo("system:serviceaccount:default:a");
        assertThat(good.object("user").text("uid")).isEqualTo(uid);
        assertThat(good.array("audiences")).hasToString("[\"" + ISSUER + "\"]");
        assertThat(review("\"token\":\"good-token\"")
                        .object("status")
                        .object("user")
                        .text("username"))
                .isEqualTo("token-user");
        assertThat(review("\"token\":\"nonsense\"").object("status"))
                .hasToString("{\"user\":{},\"error\":\"invalid bearer token\"}");
    }

    /** The token file names no audiences, so its tokens are for this server only. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "[] | true | []",
                "['https://kubernetes.default.svc.cluster.local'] | true | ['https://kubernetes.default.svc.cluster.local']",
                "['vault'] | false | []",
                "['vault','https://kubernetes.default.svc.cluster.local'] | true | ['https://kubernetes.default.svc.cluster.local']"
            })
    void tokenOfTheFileIsValidForTheServersAudiencesOnly(String asked, boolean authenticated, String answered) {
        JsonObject status = review("\"token\":\"good-token\",\"audiences\":" + asked.replace('\'', '"'))
                .object("status");

        assertThat(status.bool("authenticated")).isEqualTo(authenticated);
        assertThat(status.array("audiences")).hasToString(answered.replace('\'', '"'));
    }

    @Test
    void serverWithoutAKeyHasNoAudiencesThatATokenOfTheFileIsValidFor() {
        TestServer keyless = new TestServer();

        Answer any = keyless.post(REVIEWS, "{\"spec\":{\"token\":\"good-token\"}}");
        Answer vault = keyless.post(REVIEWS, "{\"spec\":{\"token\":\"good-token\",\"audiences\":[\"vault\"]}}");

        assertThat(any.json().object("status").bool("authenticated")).isTrue();
        assertThat(vault.json().object("status")).hasToString("{\"user\":{},\"error\":\"invalid bearer token\"}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"alg", "signature", "claims", "key", "issuer"})
    void forgedTokenIsRefused(String what) {
        account("a");
        String[] parts = token("a", "").split("\\.");
        Base64.Encoder base64 = Base64.getUrlEncoder().withoutPadding();
        String forged = switch (what) {
            case "alg" ->
                base64.encodeToString("{\"alg\":\"none\"}".getBytes(StandardCharsets.UTF_8)) + "." + parts[1] + ".";
            case "signature" -> parts[0] + "." + parts[1] + "." + base64.encodeToString(new byte[64]);
            case "claims" ->
                parts[0] + "."
                        + base64.encodeToString(Json.write(
                                        part(String.join(".", parts), 1).with("sub", "system:serviceaccount:default:b"))
                                .getBytes(StandardCharsets.UTF_8))
                        + "." + parts[2];
            case "key" -> madeBy(OTHER, ISSUER);
            case "issuer" -> madeBy(EC, "https://elsewhere.example");
            default -> throw new IllegalArgumentException(what);
        };
        assertThat(status(forged)).isEqualTo(401);
    }

    /** A token of the same account with another key or another issuer. */
    private String madeBy(KeyPair keys, String issuer) {
        TestServer elsewhere = new TestServer(new Authenticator(
                Map.of(),
                new ServiceAccountTokens(keys.getPrivate(), List.of(keys.getPublic()), issuer, List.of(ISSUER))));
        elsewhere.post(ACCOUNTS, "{\"metadata\":{\"name\":\"a\"}}");
        String token = elsewhere
                .post(ACCOUNTS + "/a/token", "{}")
                .json()
                .object("status")
                .text("token");
        assertThat(elsewhere
                        .ask(User.ANONYMOUS, "GET", "/version", Map.of("authorization", "Bearer " + token), "")
                        .status())
                .isEqualTo(200);
        // the seeded random numbers give both accounts the same UID, so that nothing else differs
        return token;
    }

    @Test
    void rsaKeysCanSign() {
        KeyPair rsa = keys("RSA", 2048);
        ServiceAccountTokens tokens = new ServiceAccountTokens(
                rsa.getPrivate(), List.of(rsa.getPublic(), EC.getPublic()), ISSUER, List.of(ISSUER));
        TestServer other = new TestServer(new Authenticator(Map.of(), tokens));
        other.post(ACCOUNTS, "{\"metadata\":{\"name\":\"a\"}}");
        String token =
                other.post(ACCOUNTS + "/a/token", "{}").json().object("status").text("token");
        assertThat(part(token, 0).text("alg")).isEqualTo("RS256");
        assertThat(other.ask(User.ANONYMOUS, "GET", "/version", Map.of("authorization", "Bearer " + token), "")
                        .status())
                .isEqualTo(200);
        // and tokens of the previous key stay valid
        account("a");
        String before = token("a", "");
        assertThat(other.ask(User.ANONYMOUS, "GET", "/version", Map.of("authorization", "Bearer " + before), "")
                        .status())
                .isEqualTo(200);
    }

    @Test
    @Tag("W83")
    void controllerManagerUsesATokenOfItsNodeController() {
        TestServer cluster = new TestServer(authenticator(EC));
        String accounts = "/api/v1/namespaces/kube-system/serviceaccounts";
        User kcm = TestServer.CONTROLLER;
        assertThat(cluster.ask(kcm, "GET", accounts + "/node-controller", "").status())
                .isEqualTo(404);
        assertThat(cluster.ask(kcm, "POST", accounts, "{\"metadata\":{\"name\":\"node-controller\"}}")
                        .status())
                .isEqualTo(201);
        Answer answer = cluster.ask(
                kcm, "POST", accounts + "/node-controller/token", "{\"spec\":{\"expirationSeconds\":3600}}");
        assertThat(answer.status()).isEqualTo(201);
        String token = answer.json().object("status").text("token");
        cluster.node("n1");
        Map<String, String> headers = Map.of("authorization", "Bearer " + token, "content-type", TestServer.STRATEGIC);
        assertThat(cluster.ask(
                                User.ANONYMOUS,
                                "PATCH",
                                "/api/v1/nodes/n1",
                                headers,
                                "{\"spec\":{\"taints\":[{\"key\":\"k\",\"effect\":\"NoExecute\"}]}}")
                        .status())
                .isEqualTo(200);
        assertThat(cluster.ask(User.ANONYMOUS, "GET", "/api/v1/namespaces/default/secrets", headers, "")
                        .status())
                .isEqualTo(403);
    }

    @Test
    void serverWithoutAKeyIssuesNoTokens() {
        TestServer keyless = new TestServer();
        keyless.post(ACCOUNTS, "{\"metadata\":{\"name\":\"a\"}}");
        assertThat(keyless.post(ACCOUNTS + "/a/token", "{}").message())
                .isEqualTo("the server could not find the requested resource");
        assertThat(keyless.get("/openid/v1/jwks").status()).isEqualTo(404);
    }
}
