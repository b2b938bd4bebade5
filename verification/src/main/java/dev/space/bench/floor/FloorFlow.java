package dev.space.bench.floor;

import io.temporal.activity.LocalActivityOptions;
import io.temporal.common.RetryOptions;
import io.temporal.workflow.Workflow;
import java.time.Duration;

/** Ends as soon as its one Update has been answered. */
public final class FloorFlow implements FloorWorkflow {

    private final FloorActivity activity =
            Workflow.newLocalActivityStub(
                    FloorActivity.class,
                    LocalActivityOptions.newBuilder()
                            .setScheduleToCloseTimeout(Duration.ofSeconds(10))
                            .setRetryOptions(
                                    RetryOptions.newBuilder().setMaximumAttempts(1).build())
                            .build());
    private boolean done;

    @Override
    public void run() {
        Workflow.await(() -> done && Workflow.isEveryHandlerFinished());
    }

    @Override
    public String create(String request) {
        String answer = activity.echo(request);
        done = true;
        return answer;
    }
}
