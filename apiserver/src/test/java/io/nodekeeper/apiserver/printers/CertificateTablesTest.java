package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cells of a request in {@code kubectl get csr}. */
class CertificateTablesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{} | Pending",
                "{'conditions':[{'type':'Approved'}]} | Approved",
                "{'conditions':[{'type':'Approved'}],'certificate':'YQ=='} | Approved,Issued",
                "{'conditions':[{'type':'Approved'},{'type':'Failed'}]} | Approved,Failed",
                "{'conditions':[{'type':'Approved'},{'type':'Denied'}]} | Denied",
                "{'conditions':[{'type':'Failed'}]} | Pending,Failed",
                "{'conditions':[{'type':'example.com/Seen'}]} | Pending"
            })
    void conditionIsTheDecisionAndWhatTheSignerDid(String status, String shown) {
        assertThat(Cells.of(CertificateTables.REQUESTS, "{'status':" + status + "}"))
                .containsEntry("Condition", "'" + shown + "'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{} | <none> | <none>",
                "{'signerName':'example.com/a','expirationSeconds':3600} | example.com/a | 60m",
                "{'signerName':'example.com/a','expirationSeconds':31536000} | example.com/a | 365d"
            })
    void signerAndDurationOfTheRequest(String spec, String signer, String duration) {
        assertThat(Cells.of(CertificateTables.REQUESTS, "{'spec':" + spec + "}"))
                .containsEntry("SignerName", "'" + signer + "'")
                .containsEntry("RequestedDuration", "'" + duration + "'");
    }
}
