"""Tournament: for each workload the best design of a space, and schemes, as published and tuned."""
