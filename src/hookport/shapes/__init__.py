"""The few file layouts that agents share, and the values that describe a dialect."""
