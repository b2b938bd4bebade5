package dev.space.bench.floor;

import io.temporal.activity.ActivityInterface;

/** Does nothing, so that only its way there and back is measured. */
@ActivityInterface
public interface FloorActivity {

    String echo(String request);
}
