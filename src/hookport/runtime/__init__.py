"""From an agent's event to the answer it obeys: select, execute, interpret, merge, answer."""
