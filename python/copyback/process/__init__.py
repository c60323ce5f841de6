"""The process itself: its streams, signals, cores, extras, and the commit that it runs."""
