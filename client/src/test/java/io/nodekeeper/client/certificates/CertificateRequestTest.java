package io.nodekeeper.client.certificates;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.nodekeeper.client.config.Pem;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.security.auth.x500.X500Principal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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
