package dev.space.service.health;

import dev.space.store.Db;
import io.temporal.api.workflowservice.v1.GetSystemInfoRequest;
import io.temporal.serviceclient.WorkflowServiceStubs;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.util.concurrent.TimeUnit;
import org.eclipse.microprofile.health.HealthCheck;
import org.eclipse.microprofile.health.HealthCheckResponse;
import org.eclipse.microprofile.health.HealthCheckResponseBuilder;
import org.eclipse.microprofile.health.Readiness;

/** Green when database and workflow server answer and a first round went through a worker. */
@Readiness
@ApplicationScoped
public class Ready implements HealthCheck {
    private static final int CALL_SECONDS_MAX = 2;

    private final Db db;
    private final WorkflowServiceStubs temporal;
    private final Warmth warmth;

    @Inject
    public Ready(Db db, WorkflowServiceStubs temporal, Warmth warmth) {
        this.db = db;
        this.temporal = temporal;
        this.warmth = warmth;
    }

    @Override
    public HealthCheckResponse call() {
        HealthCheckResponseBuilder answer = HealthCheckResponse.named("control-plane");
        boolean database = holds(() -> db.inOneStatement(tx -> tx.first("SELECT 1", row -> 1)));
        boolean workflows =
                holds(() ->
                        temporal.blockingStub()
                                .withDeadlineAfter(CALL_SECONDS_MAX, TimeUnit.SECONDS)
                                .getSystemInfo(GetSystemInfoRequest.getDefaultInstance()));
        return answer.withData("database", database)
                .withData("temporal", workflows)
                .withData("warm", warmth.isWarm())
                .status(database && workflows && warmth.isWarm())
                .build();
    }

    private interface Probe {
        Object run();
    }

    private static boolean holds(Probe probe) {
        try {
            var _ = probe.run();
            return true;
        } catch (RuntimeException down) {
            return false;
        }
    }
}
