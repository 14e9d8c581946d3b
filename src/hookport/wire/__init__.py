"""How a running hook is talked to: events read and written, answers read and written, all by tables."""
