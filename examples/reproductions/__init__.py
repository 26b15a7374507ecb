"""Published results, run again: each script says what was found, and what textodds finds."""
