package io.nodekeeper.apiserver.authentication;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSObject;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.Payload;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.util.Base64URL;
import io.nodekeeper.api.json.JsonArray;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.api.json.JsonValue;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.interfaces.ECPrivateKey;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Signs and verifies service account tokens: JSON web tokens (RFC 7519) with ES256 or RS256. It does not check whether
 * the account still exists. Immutable.
 */
public final class ServiceAccountTokens {
    /**
     * How long before its start a token is already accepted, for servers whose clock is ahead: NTP keeps servers within
     * a second, and a minute also allows for one that has just started to synchronize.
     */
    private static final Duration CLOCK_SKEW = Duration.ofMinutes(1);

    private static final int P256_BITS = 256;

    private record Key(PublicKey key, JWSAlgorithm algorithm, JWSVerifier verifier) {}

    private final JWSSigner signer;
    private final JWSHeader header;
    private final Map<String, Key> keys = new LinkedHashMap<>();
    private final String issuer;
    private final List<String> audiences;

    /**
     * Tokens of one issuer.
     *
     * @param signing signs new tokens: RSA, or EC on P-256
     * @param verifying the public keys: that of {@code signing} first, then keys of older tokens
     * @param issuer the issuer of the tokens, a URL
     * @param audiences the audiences of which an accepted token must have one, at least one; the default of new tokens
     * @throws IllegalArgumentException if a key is of another kind
     */
    public ServiceAccountTokens(PrivateKey signing, List<PublicKey> verifying, String issuer, List<String> audiences) {
        this.issuer = issuer;
        this.audiences = List.copyOf(audiences);
        verifying.forEach(key -> keys.put(id(key), verifier(key)));
        Map.Entry<String, Key> first = keys.entrySet().iterator().next();
        header = new JWSHeader.Builder(first.getValue().algorithm())
                .keyID(first.getKey())
                .build();
        signer = signer(signing);
    }

    private static JWSSigner signer(PrivateKey key) {
        try {
            return key instanceof ECPrivateKey ec ? new ECDSASigner(ec) : new RSASSASigner(key);
        } catch (JOSEException | IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "cannot sign with this " + key.getAlgorithm() + " key: " + e.getMessage(), e);
        }
    }

    private static Key verifier(PublicKey key) {
        try {
            return switch (key) {
                case ECPublicKey ec -> new Key(key, JWSAlgorithm.ES256, new ECDSAVerifier(ec));
                case RSAPublicKey rsa -> new Key(key, JWSAlgorithm.RS256, new RSASSAVerifier(rsa));
                default ->
                    throw new IllegalArgumentException(
                            "expected an RSA key or an EC key on P-256, got one of " + key.getAlgorithm());
            };
        } catch (JOSEException e) {
            throw new IllegalArgumentException("expected an EC key on P-256: " + e.getMessage(), e);
        }
    }

    /** A key's ID: the hash of its public key, as in Kubernetes. */
    private static String id(PublicKey key) {
        try {
            return Base64URL.encode(MessageDigest.getInstance("SHA-256").digest(key.getEncoded()))
                    .toString();
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("this Java lacks SHA-256", e);
        }
    }

    /** The audiences of which an accepted token must have one. */
    public List<String> audiences() {
        return audiences;
    }

    /** A signed token with {@code claims}. */
    public String sign(TokenClaims claims) {
        JWSObject token = new JWSObject(header, new Payload(claims.body(issuer)));
        try {
            token.sign(signer);
        } catch (JOSEException e) {
            throw new IllegalStateException("a token cannot be signed: " + e.getMessage(), e);
        }
        return token.serialize();
    }

    /** The claims of {@code token} if one of the keys signed it; does not check whether it is still valid. */
    public Optional<TokenClaims> read(String token) {
        try {
            JWSObject parsed = JWSObject.parse(token);
            Key key =
                    keys.get(Optional.ofNullable(parsed.getHeader().getKeyID()).orElse(""));
            if (key == null
                    || !key.algorithm.equals(parsed.getHeader().getAlgorithm())
                    || !parsed.verify(key.verifier)) {
                return Optional.empty();
            }
            return TokenClaims.read(parsed.getPayload().toBytes(), issuer);
        } catch (ParseException | JOSEException | IllegalArgumentException e) {
            // Not a token of this server.
            return Optional.empty();
        }
    }

    /** Whether a token is valid at this time, by the wall clock. */
    public static boolean isValid(TokenClaims claims, Instant now) {
        return now.isBefore(claims.expires()) && !now.plus(CLOCK_SKEW).isBefore(claims.issued());
    }

    /** The public keys, as a JSON web key set (RFC 7517). */
    public JsonObject keySet() {
        return JsonObject.builder()
                .put(
                        "keys",
                        new JsonArray(keys.entrySet().stream()
                                .<JsonValue>map(key -> webKey(key.getKey(), key.getValue()))
                                .toList()))
                .build();
    }

    private static JsonObject webKey(String id, Key key) {
        JsonObject.Builder json =
                JsonObject.builder().put("use", "sig").put("kid", id).put("alg", key.algorithm.getName());
        return switch (key.key) {
            case ECPublicKey ec ->
                json.put("kty", "EC")
                        .put("crv", "P-256")
                        .put("x", coordinate(ec.getW().getAffineX()))
                        .put("y", coordinate(ec.getW().getAffineY()))
                        .build();
            case RSAPublicKey rsa ->
                json.put("kty", "RSA")
                        .put("n", Base64URL.encode(rsa.getModulus()).toString())
                        .put("e", Base64URL.encode(rsa.getPublicExponent()).toString())
                        .build();
            default -> throw new IllegalStateException("a key of " + key.key.getAlgorithm());
        };
    }

    private static String coordinate(BigInteger number) {
        return ECKey.encodeCoordinate(P256_BITS, number).toString();
    }

    /** The OpenID Connect Discovery document; {@code keysUrl} is the URL of {@link #keySet}. */
    public JsonObject configuration(String keysUrl) {
        return JsonObject.builder()
                .put("issuer", issuer)
                .put("jwks_uri", keysUrl)
                .put("response_types_supported", JsonArray.ofStrings(List.of("id_token")))
                .put("subject_types_supported", JsonArray.ofStrings(List.of("public")))
                .put(
                        "id_token_signing_alg_values_supported",
                        JsonArray.ofStrings(keys.values().stream()
                                .map(key -> key.algorithm.getName())
                                .distinct()
                                .toList()))
                .build();
    }
}
