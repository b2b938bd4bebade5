package dev.space.service.rest;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.space.model.OperationState;
import dev.space.model.SessionState;
import dev.space.store.ForkStore;
import dev.space.store.OperationRow;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** A fork as the API shows it: every child with what became of it. */
@Schema(name = "Fork")
public record ForkView(String operation, String session, String snapshot, List<Child> children) {

    /**
     * One session that was made.
     *
     * @param creation how its creation ended, or how far it is
     * @param operation id of its creation
     */
    @Schema(name = "ForkChild")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Child(
            String id,
            SessionState state,
            OperationState creation,
            String operation,
            OperationView.@Nullable Failure error) {

        static Child of(ForkStore.Made made) {
            OperationRow create = made.create();
            return new Child(
                    made.session().id().value(),
                    made.session().state(),
                    create.state(),
                    create.id().value(),
                    OperationView.failure(create.error(), create.detail()));
        }
    }

    static ForkView of(OperationRow fork, List<ForkStore.Made> children) {
        return new ForkView(
                fork.id().value(),
                fork.session().value(),
                String.valueOf(fork.snapshot()),
                children.stream().map(Child::of).toList());
    }

    /** Nothing of it will change any more by itself. */
    boolean isOver() {
        return children.stream().allMatch(child -> child.creation().ended());
    }
}
