package io.nodekeeper.client.certificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.client.config.Pem;
import java.math.BigInteger;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.spec.RSAKeyGenParameterSpec;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CertificateRequestTest {
    @TempDir
    private Path directory;

    @Test
    void readsWhatItWrites() throws Exception {
        KeyPair pair = EcKeys.newKey();
        List<InetAddress> addresses = List.of(InetAddress.ofLiteral("10.0.0.1"), InetAddress.ofLiteral("fd00::1"));

        String pem = CertificateRequest.sign(pair, "system:node:n1", "system:nodes", List.of("n1", "n1.x"), addresses);

        assertThat(CertificateRequest.parse(pem))
                .isEqualTo(new CertificateRequest(
                        "system:node:n1",
                        List.of("system:nodes"),
                        List.of("n1", "n1.x"),
                        addresses,
                        false,
                        pair.getPublic()));
        String plain = CertificateRequest.sign(pair, "a,b=c", "o+p", List.of(), List.of());
        assertThat(CertificateRequest.parse(plain))
                .isEqualTo(
                        new CertificateRequest("a,b=c", List.of("o+p"), List.of(), List.of(), false, pair.getPublic()));
    }

    @Test
    void opensslAcceptsARequest() throws Exception {
        Path file = Files.writeString(
                directory.resolve("r.pem"),
                CertificateRequest.sign(
                        EcKeys.newKey(),
                        "system:node:n1",
                        "system:nodes",
                        List.of("n1"),
                        List.of(InetAddress.ofLiteral("10.0.0.1"))));

        String text = openssl("req", "-in", file.toString(), "-noout", "-verify", "-text");

        assertThat(text)
                .contains("O = system:nodes, CN = system:node:n1")
                .contains("DNS:n1, IP Address:10.0.0.1")
                .containsIgnoringCase("verify OK");
    }

    @Test
    void readsRequestsOfOpenssl() throws Exception {
        for (List<String> key : List.of(List.of("rsa:2048"), List.of("ec", "-pkeyopt", "ec_paramgen_curve:P-384"))) {
            Path out = directory.resolve("o.pem");
            String[] arguments = Stream.of(
                            List.of("req", "-new", "-nodes", "-keyout", "/dev/null", "-out", out.toString()),
                            List.of("-subj", "/O=system:nodes/O=more/CN=system:node:a", "-newkey"),
                            key,
                            List.of("-addext", "subjectAltName=DNS:a,IP:fd00::2,email:x@y.z"))
                    .flatMap(List::stream)
                    .toArray(String[]::new);
            openssl(arguments);

            CertificateRequest request = CertificateRequest.parse(Files.readString(out));

            assertThat(request.commonName()).isEqualTo("system:node:a");
            assertThat(request.organizations()).containsExactlyInAnyOrder("system:nodes", "more");
            assertThat(request.dnsNames()).containsExactly("a");
            assertThat(request.addresses()).containsExactly(InetAddress.ofLiteral("fd00::2"));
            assertThat(request.others()).isTrue();
        }
    }

    @Test
    void everyTruncatedRequestIsRefusedAndNoChangeOfAByteChangesItsMeaning() throws Exception {
        byte[] good = Pem.block(
                "CERTIFICATE REQUEST",
                CertificateRequest.sign(
                        EcKeys.newKey(),
                        "system:node:n1",
                        "system:nodes",
                        List.of("n1"),
                        List.of(InetAddress.ofLiteral("::1"))));

        CertificateRequest request = CertificateRequest.parse(Pem.encode("CERTIFICATE REQUEST", good));
        Optional<CertificateRequest> none = Optional.empty();

        for (int length = 0; length < good.length; length++) {
            String cut = Pem.encode("CERTIFICATE REQUEST", Arrays.copyOf(good, length));
            assertThatThrownBy(() -> CertificateRequest.parse(cut)).isInstanceOf(IllegalArgumentException.class);
        }
        for (int at = 0; at < good.length; at++) {
            for (int value : new int[] {0, 0x7f, 0x80, 0x84, 0xff, good[at] ^ 1}) {
                byte[] changed = good.clone();
                changed[at] = (byte) value;
                if (changed[at] != good[at]) {
                    assertThat(parsed(changed)).as("byte %s is %s", at, value).isIn(none, Optional.of(request));
                }
            }
        }
    }

    /** The parameters of the signature's algorithm have no meaning, so that a few changes do no harm. */
    private static Optional<CertificateRequest> parsed(byte[] der) {
        try {
            return Optional.of(CertificateRequest.parse(Pem.encode("CERTIFICATE REQUEST", der)));
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    @Test
    void eachValueOfAPartOfTheSubjectCounts() {
        X500Principal eve = new X500Principal("CN=eve+O=system:masters,O=a+O=b");

        CertificateRequest request =
                CertificateRequest.parse(CertificateRequest.sign(EcKeys.newKey(), eve, List.of(), List.of()));

        assertThat(request.commonName()).isEqualTo("eve");
        assertThat(request.organizations()).containsExactly("a", "b", "system:masters");
    }

    /** What checks them is done already, or has more time. */
    @Test
    void signatureIsNotCheckedIfNotAskedFor() {
        byte[] der = Pem.block(
                "CERTIFICATE REQUEST", CertificateRequest.sign(EcKeys.newKey(), "n", "o", List.of(), List.of()));
        der[der.length - 1] ^= 1;
        String wrong = Pem.encode("CERTIFICATE REQUEST", der);

        assertThat(CertificateRequest.parseUnchecked(wrong).commonName()).isEqualTo("n");
        assertThatThrownBy(() -> CertificateRequest.parse(wrong)).hasMessage("the signature of the request is wrong");
    }

    /** The smallest primes of 31 and of 33 bits. */
    @ParameterizedTest
    @CsvSource({"1073741827, true", "4294967311, false"})
    void exponentOfAnRsaKeyHasALimit(long exponent, boolean accepted) throws Exception {
        String pem = rsa(BigInteger.valueOf(exponent));

        if (accepted) {
            assertThat(CertificateRequest.parse(pem).commonName()).isEqualTo("n");
        } else {
            assertThatThrownBy(() -> CertificateRequest.parse(pem))
                    .hasMessage("the public exponent of the RSA key has more than 31 bits");
        }
    }

    /** A request for CN=n of an RSA key with that exponent. */
    private static String rsa(BigInteger exponent) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(new RSAKeyGenParameterSpec(2048, exponent));
        KeyPair pair = generator.generateKeyPair();
        byte[] info = Der.of(
                Der.SEQUENCE,
                new byte[] {Der.INTEGER, 1, 0},
                new X500Principal("CN=n").getEncoded(),
                pair.getPublic().getEncoded());
        Signature signature = Signature.getInstance("SHA256withRSA");
        signature.initSign(pair.getPrivate());
        signature.update(info);
        byte[] algorithm = HexFormat.of().parseHex("06092a864886f70d01010b0500");
        return Pem.encode(
                "CERTIFICATE REQUEST",
                Der.of(
                        Der.SEQUENCE,
                        info,
                        Der.of(Der.SEQUENCE, algorithm),
                        Der.of(Der.BITS, new byte[1], signature.sign())));
    }

    @Test
    void saysWhatItExpected() {
        assertThatThrownBy(() -> CertificateRequest.parse("hello"))
                .hasMessage("expected a PEM block \"CERTIFICATE REQUEST\", found no PEM block");
        assertThatThrownBy(() -> CertificateRequest.parse("x".repeat(70_000)))
                .hasMessage("the request has more than 65536 characters");
    }

    private String openssl(String... arguments) throws Exception {
        Path output = directory.resolve("output");
        Process process = new ProcessBuilder(Stream.concat(Stream.of("openssl"), Stream.of(arguments))
                        .toList())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(output)).isZero();
        return Files.readString(output);
    }
}
