package io.nodekeeper.apiserver.printers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The cells of persistent volumes, their claims and classes. */
class StorageTablesTest {
    @Test
    void volume() {
        assertThat(Cells.of(
                                StorageTables.PERSISTENT_VOLUMES,
                                "{'metadata':{'name':'v','creationTimestamp':'2026-11-21T06:00:00Z'},"
                                        + "'spec':{'capacity':{'storage':'1024Mi'},'persistentVolumeReclaimPolicy':'Retain',"
                                        + "'accessModes':['ReadWriteMany','ReadOnlyMany','ReadWriteOnce','ReadOnlyMany'],"
                                        + "'claimRef':{'namespace':'default','name':'c'},'storageClassName':'fast',"
                                        + "'volumeMode':'Block'},'status':{'phase':'Bound'}}")
                        .values())
                .containsExactly(
                        "'v'",
                        "'1Gi'",
                        "'RWO,ROX,RWX'",
                        "'Retain'",
                        "'Bound'",
                        "'default/c'",
                        "'fast'",
                        "'<unset>'",
                        "''",
                        "'60m'",
                        "'Block'");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '~',
            value = {
                // A claim shows what it has got, not what it asks for.
                "{} | {'phase':'Pending','capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce']} | '' | ''",
                "{'volumeName':'v'} | {'phase':'Pending'} | '0' | ''",
                "{'volumeName':'v'} | {'phase':'Bound','capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOncePod']} | '1Gi' | 'RWOP'"
            })
    void claimHasCapacityAndAccessModesOnceItHasAVolume(String spec, String status, String capacity, String modes) {
        assertThat(Cells.of(StorageTables.PERSISTENT_VOLUME_CLAIMS, "{'spec':" + spec + ",'status':" + status + "}"))
                .containsEntry("Capacity", capacity)
                .containsEntry("Access Modes", modes)
                .containsEntry("VolumeMode", "'<unset>'");
    }

    @Test
    void classesOfAClaim() {
        assertThat(Cells.of(
                        StorageTables.PERSISTENT_VOLUME_CLAIMS,
                        "{'metadata':{'annotations':{'volume.beta.kubernetes.io/storage-class':'old'}},"
                                + "'spec':{'storageClassName':'new','volumeAttributesClassName':'gold'}}"))
                .containsEntry("StorageClass", "'old'")
                .containsEntry("VolumeAttributesClass", "'gold'");
    }

    @ParameterizedTest
    @CsvSource({
        "storageclass.kubernetes.io/is-default-class, true, fast (default)",
        "storageclass.beta.kubernetes.io/is-default-class, true, fast (default)",
        "storageclass.kubernetes.io/is-default-class, false, fast"
    })
    void defaultClassIsMarked(String annotation, String value, String shown) {
        assertThat(Cells.of(
                        StorageTables.STORAGE_CLASSES,
                        "{'metadata':{'name':'fast','annotations':{'" + annotation + "':'" + value
                                + "'}},'allowVolumeExpansion':true}"))
                .containsEntry("Name", "'" + shown + "'")
                .containsEntry("AllowVolumeExpansion", "true");
    }
}
