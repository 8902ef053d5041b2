package io.nodekeeper.apiserver.actions;

import io.nodekeeper.api.ApiException;
import io.nodekeeper.api.FieldError;
import io.nodekeeper.api.ResourceType;
import io.nodekeeper.api.json.JsonObject;
import io.nodekeeper.apiserver.authentication.TokenClaims;
import java.util.List;

/** Reads the audiences of tokens that a request names. */
final class Audiences {
    private Audiences() {}

    /** The audiences in {@code spec} of the object {@code name}, which is refused if they are more than a token may have. */
    static List<String> of(ResourceType type, String name, JsonObject spec) {
        List<String> audiences = spec.array("audiences").strings().toList();
        if (audiences.size() > TokenClaims.MOST_AUDIENCES) {
            throw ApiException.invalid(
                    type,
                    name,
                    List.of(FieldError.tooMany("spec.audiences", audiences.size(), TokenClaims.MOST_AUDIENCES)));
        }
        return audiences;
    }
}
