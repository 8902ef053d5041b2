package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cells of a Service in {@code kubectl get services}. */
class ServiceColumnsTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{} | <none>",
                "{'clusterIP':'10.96.0.1','clusterIPs':['10.96.0.1','fd00::1']} | 10.96.0.1",
                "{'clusterIPs':['fd00::1','10.96.0.1']} | fd00::1",
                "{'clusterIP':'None'} | None"
            })
    void clusterIpIsTheFirstAddress(String spec, String shown) {
        assertThat(ServiceColumns.clusterIp(Cells.json("{'spec':" + spec + "}")))
                .isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "{'type':'ClusterIP'} | [] | <none>",
                "{'type':'ClusterIP','externalIPs':['1.2.3.4','1.2.3.5']} | [] | 1.2.3.4,1.2.3.5",
                "{'type':'NodePort','externalIPs':['1.2.3.4']} | [] | 1.2.3.4",
                "{'type':'LoadBalancer'} | [] | <pending>",
                "{'type':'LoadBalancer'} | [{}] | <pending>",
                "{'type':'LoadBalancer'} | [{'ip':'5.6.7.9'},{'ip':'5.6.7.8','hostname':'lb'},{'hostname':'lb.example.com'}] | 5.6.7.8,5.6.7.9,lb.example.com",
                "{'type':'LoadBalancer','externalIPs':['1.2.3.4']} | [{'ip':'5.6.7.8'}] | 5.6.7.8,1.2.3.4",
                "{'type':'LoadBalancer','externalIPs':['1.2.3.4']} | [] | 1.2.3.4",
                "{'type':'ExternalName','externalName':'db.example.com'} | [] | db.example.com",
                "{'type':'Other'} | [] | <unknown>"
            })
    void externalIpIsWhatReachesTheServiceFromOutside(String spec, String ingress, String shown) {
        String service = "{'spec':" + spec + ",'status':{'loadBalancer':{'ingress':" + ingress + "}}}";

        assertThat(ServiceColumns.externalIp(Cells.json(service))).isEqualTo(shown);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                "[] | <none>",
                "[{'port':80,'protocol':'TCP'}] | 80/TCP",
                "[{'port':80,'nodePort':30080,'protocol':'TCP'},{'port':53,'protocol':'UDP'}] | 80:30080/TCP,53/UDP"
            })
    void portsAreShownWithTheNodesPorts(String ports, String shown) {
        assertThat(ServiceColumns.ports(Cells.json("{'spec':{'ports':" + ports + "}}")))
                .isEqualTo(shown);
    }
}
