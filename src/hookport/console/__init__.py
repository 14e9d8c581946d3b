"""What people read in a terminal, installed and vendored: plain text, the journal, pauses."""
